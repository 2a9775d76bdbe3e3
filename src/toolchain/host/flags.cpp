// SPDX-License-Identifier: Apache-2.0
#include "toolchain/host/flags.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace ako {
namespace {

constexpr std::string_view allowed[] = {
    "-O1",
    "-O2",
    "-O3",
    "-Os",
    "-Ofast",
    "-ffast-math",
    "-fno-fast-math",
    "-fassociative-math",
    "-ffinite-math-only",
    "-fno-finite-math-only",
    "-fno-signed-zeros",
    "-freciprocal-math",
    "-funsafe-math-optimizations",
    "-fno-math-errno",
    "-fmath-errno",
    "-fno-trapping-math",
    "-ftrapping-math",
    "-ffp-contract=off",
    "-ffp-contract=on",
    "-ffp-contract=fast",
    "-funroll-loops",
    "-fno-unroll-loops",
    "-funroll-all-loops",
    "-fpeel-loops",
    "-fprefetch-loop-arrays",
    "-fomit-frame-pointer",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-strict-aliasing",
    "-fstrict-aliasing",
    "-fno-inline",
    "-fno-stack-protector",
    "-fno-plt",
    "-fvect-cost-model=unlimited",
    "-fvect-cost-model=dynamic",
    "-fvect-cost-model=cheap",
    "-fvect-cost-model=very-cheap",
    "-fsimd-cost-model=unlimited",
    "-fschedule-insns",
    "-fno-schedule-insns",
    "-fno-schedule-insns2",
    "-mprefer-vector-width=128",
    "-mprefer-vector-width=256",
    "-mprefer-vector-width=512",
    "-std=c++17",
    "-std=c++20",
    "-std=c++23",
};
// Single optimization passes on and off: letters and '-' only, so nothing after '=' gets in.
constexpr std::string_view families[] = {"-ftree-", "-fno-tree-", "-fipa-", "-fno-ipa-"};

}  // namespace

bool is_allowed_flag(std::string_view flag) {
  if (std::find(std::begin(allowed), std::end(allowed), flag) != std::end(allowed)) return true;
  return std::any_of(std::begin(families), std::end(families), [&](std::string_view family) {
    if (!flag.starts_with(family) || flag.size() == family.size() || flag.size() > 64) return false;
    std::string_view rest = flag.substr(family.size());
    return std::all_of(rest.begin(), rest.end(), [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; });
  });
}

Result<void> check_flags(std::span<const std::string> flags) {
  constexpr std::size_t most = 64;
  if (flags.size() > most)
    return fail(ErrorKind::limit, fmt::format("{} compiler flags are too many", flags.size()));
  for (const std::string& flag : flags)
    if (!is_allowed_flag(flag))
      return fail(ErrorKind::invalid_input,
                  fmt::format("the compiler flag '{}' is not allowed", printable(flag).substr(0, 100)),
                  fmt::format("allowed are {}, and {}…", fmt::join(allowed, " "), fmt::join(families, "… ")));
  return {};
}

std::vector<std::string> base_flags(bool for_clang) {
  std::vector<std::string> flags{"-std=c++20", "-O3", "-march=native", "-fopenmp", "-shared", "-fPIC",
                                 "-fvisibility=hidden",
                                 // No kernel reads errno or the exception flags, and both keep loops over
                                 // elementary functions from vectorizing.
                                 "-fno-math-errno", "-fno-trapping-math", "-Wall", "-Wno-unknown-pragmas",
                                 "-Wno-psabi", "-fdiagnostics-color=never",
                                 // Undefined symbols are the linker's errors, not the loader's; no symbol is
                                 // looked up while a clock runs.
                                 "-Wl,-z,defs", "-Wl,-z,now", "-Wl,--build-id=none"};
  if (for_clang)
    flags.insert(flags.end(), {"-ferror-limit=20", "-Qunused-arguments"});
  else
    flags.emplace_back("-fmax-errors=20");
  return flags;
}

}  // namespace ako
