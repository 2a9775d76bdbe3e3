// SPDX-License-Identifier: Apache-2.0
#include "toolchain/toolchain.h"

#include <fmt/format.h>

#include "toolchain/cuda/cuda_toolchain.h"
#include "toolchain/hip/hip_toolchain.h"
#include "toolchain/host/host_toolchain.h"

namespace ako {
namespace {

// ---- the table: one line per toolchain, in the order of preference ----
struct Entry {
  Result<std::unique_ptr<Toolchain>> (*find)();
  Language language;
  std::string_view targets;  // how the names of its targets begin
};
constexpr Entry table[] = {
    {HostToolchain::find, Language::cpp, "host"},
    {CudaToolchain::find, Language::cuda, "sm_"},
    {HipToolchain::find, Language::hip, "gfx"},
};

}  // namespace

std::vector<std::unique_ptr<Toolchain>> find_toolchains(const TargetId& target) {
  std::vector<std::unique_ptr<Toolchain>> found;
  for (const Entry& entry : table) {
    if (!target.starts_with(entry.targets) && !target.empty()) continue;
    if (auto toolchain = entry.find()) found.push_back(std::move(*toolchain));
  }
  return found;
}

Result<Toolchain*> choose_toolchain(std::span<const std::unique_ptr<Toolchain>> toolchains, Language language,
                                    const TargetId& target) {
  for (const auto& toolchain : toolchains)
    if (toolchain->builds(language, target)) return toolchain.get();
  // Why one that could be here is not: a compiler or a file of ako's own is missing.
  for (const Entry& entry : table) {
    if (entry.language != language) continue;
    if (auto toolchain = entry.find(); !toolchain)
      return fail(toolchain.error().kind,
                  fmt::format("nothing here builds {} for the target {}: {}", name_of(language), target,
                              toolchain.error().what),
                  toolchain.error().advice);
  }
  return fail(ErrorKind::unsupported,
              fmt::format("nothing here builds {} for the target {}", name_of(language), target),
              "'ako doctor' shows which languages and targets this machine can build");
}

}  // namespace ako
