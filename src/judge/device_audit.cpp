// SPDX-License-Identifier: Apache-2.0
#include "judge/device_audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ako {
namespace {

struct Forbidden {
  std::string_view rule, reason;
  std::vector<std::string_view> names;  // identifiers
  std::vector<std::string_view> text;   // inside of string literals: inline assembly
};

const std::vector<Forbidden>& table() {
  static const std::vector<Forbidden> all = {
      {"device-clock",
       "reads a clock: what a kernel computes must not depend on when it runs",
       {"clock", "clock64", "wall_clock64", "__clock", "__clock64", "globaltimer", "__globaltimer",
        "__nanosleep", "__builtin_readcyclecounter", "__builtin_amdgcn_s_memtime",
        "__builtin_amdgcn_s_memrealtime", "__builtin_amdgcn_s_sleep", "__nvvm_read_ptx_sreg_clock",
        "__nvvm_read_ptx_sreg_clock64", "__nvvm_read_ptx_sreg_globaltimer", "__builtin_readsteadycounter"},
       {"%clock", "%globaltimer", "nanosleep", "s_memtime", "s_memrealtime", "s_sleep", "s_getreg"}},
      {"device-memory",
       "allocates memory: a launch plan declares what a kernel needs as workspace",
       {"malloc", "free", "new", "delete", "alloca", "__builtin_alloca", "cudaMalloc", "hipMalloc"},
       {}},
      {"device-launch",
       "launches work of its own: a launch plan declares all launches",
       {"cudaLaunchDevice", "cudaLaunchDeviceV2", "cudaGetParameterBuffer", "cudaGetParameterBufferV2",
        "cudaGraphLaunch", "cudaStreamCreateWithFlags"},
       {}},
      {"device-print", "prints: nobody reads it", {"printf", "vprintf", "puts"}, {}},
  };
  return all;
}

std::optional<Rejected> look_at(const CppToken& token, const std::string& file) {
  for (const auto& one : table()) {
    bool found = token.kind == CppToken::Kind::identifier
                     ? std::find(one.names.begin(), one.names.end(), token.text) != one.names.end()
                     : token.kind == CppToken::Kind::text &&
                           std::any_of(one.text.begin(), one.text.end(),
                                       [&](auto part) { return token.text.find(part) != std::string::npos; });
    if (found)
      return Rejected{std::string(one.rule), std::string(one.reason), fmt::format("{}:{}", file, token.line)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Rejected> audit_device_sources(const std::vector<SourceFile>& sources) {
  for (const auto& source : sources)
    for (const auto& token : cpp_tokens(source.text))
      if (auto rejected = look_at(token, source.path)) return rejected;
  return std::nullopt;
}

}  // namespace ako
