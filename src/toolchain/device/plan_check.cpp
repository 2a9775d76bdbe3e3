// SPDX-License-Identifier: Apache-2.0
#include "toolchain/device/plan_check.h"

#include <fmt/format.h>

#include <algorithm>

namespace ako {
namespace {

std::int64_t size_of_type(std::string_view type) {
  if (type.ends_with('*') || type == "int64_t" || type == "double") return 8;
  if (type == "int32_t" || type == "float") return 4;
  if (type == "int16_t" || type == "uint16_t") return 2;
  return 1;
}

std::string missing_device_kernel(const CodeObject& object, const KernelSignature& kernel) {
  std::string mangled = fmt::format("_Z{}{}", kernel.symbol.size(), kernel.symbol);
  bool without_c_linkage =
      std::any_of(object.kernels.begin(), object.kernels.end(),
                  [&](const KernelFacts& each) { return each.name.starts_with(mangled); });
  return fmt::format("error: the plan launches '{}', but {}\n  help: define it as {}\n", kernel.symbol,
                     without_c_linkage ? "the kernel of this name has no C linkage"
                                       : "no source defines a kernel of this name",
                     device_declaration(kernel));
}

std::string parameter_mismatch(const KernelFacts& facts, const KernelSignature& kernel) {
  std::vector<KernelParameter> taken;
  for (const KernelParameter& parameter : facts.parameters)
    if (!parameter.hidden()) taken.push_back(parameter);
  if (taken.size() != kernel.types.size())
    return fmt::format(
        "error: the plan passes {} arguments to '{}', which takes {}\n  help: define it as {}\n",
        kernel.types.size(), kernel.symbol, taken.size(), device_declaration(kernel));
  for (std::size_t i = 0; i < taken.size(); ++i)
    if (taken[i].size != size_of_type(kernel.types[i]))
      return fmt::format(
          "error: the plan passes '{}' to '{}' as {} ({} bytes), the kernel takes {} bytes there\n"
          "  help: define it as {}\n",
          kernel.names[i], kernel.symbol, kernel.types[i], size_of_type(kernel.types[i]), taken[i].size,
          device_declaration(kernel));
  return {};
}

/// "name.cu(12): error: …" as "name.cu:12: error: …".
std::string with_colons(std::string line) {
  std::size_t close = line.find("): ");
  std::size_t open = close == std::string::npos ? close : line.rfind('(', close);
  if (open == std::string::npos || open == 0 || open + 1 == close) return line;
  bool number = std::all_of(line.begin() + static_cast<std::ptrdiff_t>(open) + 1,
                            line.begin() + static_cast<std::ptrdiff_t>(close),
                            [](char c) { return c >= '0' && c <= '9'; });
  if (!number || line.find(' ') < open) return line;
  line[open] = ':';
  line.erase(close, 1);
  return line;
}

bool is_count(std::string_view line) {
  return line.find(" generated when compiling for ") != line.npos || line.ends_with(" generated.") ||
         line.find(" detected in the compilation of ") != line.npos ||
         line.starts_with("Remark: The warnings can be suppressed");
}

}  // namespace

std::string device_declaration(const KernelSignature& kernel) {
  std::string text = declaration(kernel);
  constexpr std::string_view before = "extern \"C\" ";
  return text.insert(before.size(), "__global__ ");
}

std::string plan_mismatch(const CodeObject& object, const std::vector<KernelSignature>& kernels) {
  for (const KernelSignature& kernel : kernels) {
    const KernelFacts* facts = object.find(kernel.symbol);
    if (!facts) return missing_device_kernel(object, kernel);
    if (!facts->describes_parameters) continue;
    if (std::string wrong = parameter_mismatch(*facts, kernel); !wrong.empty()) return wrong;
  }
  return {};
}

std::string uniform_messages(std::string_view raw) {
  std::string out;
  while (!raw.empty()) {
    std::size_t end = std::min(raw.find('\n'), raw.size());
    std::string_view line = raw.substr(0, end);
    if (!is_count(line) && !(line.empty() && (out.empty() || out.ends_with("\n\n"))))
      out += with_colons(std::string(line)) + "\n";
    raw.remove_prefix(std::min(raw.size(), end + 1));
  }
  while (out.ends_with("\n\n")) out.pop_back();
  return out == "\n" ? "" : out;
}

}  // namespace ako
