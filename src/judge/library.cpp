// SPDX-License-Identifier: Apache-2.0
#include "judge/library.h"

#include <fmt/format.h>

#include "base/text.h"
#include "judge/library_openblas.h"

namespace ako {

std::vector<std::unique_ptr<BaselineLibrary>> baseline_libraries() {
  std::vector<std::unique_ptr<BaselineLibrary>> all;
  all.push_back(std::make_unique<OpenBlas>());
  return all;
}

Result<std::unique_ptr<BaselineLibrary>> choose_library(std::string_view name) {
  std::string names;
  for (auto& library : baseline_libraries()) {
    if (library->name() == name) return std::move(library);
    names += fmt::format("{}{}", names.empty() ? "" : ", ", library->name());
  }
  return fail(ErrorKind::invalid_input, fmt::format("there is no baseline library '{}'", printable(name)),
              fmt::format("known: {}", names));
}

Result<std::unique_ptr<BaselineLibrary>> library_for(const Problem& problem) {
  Error why{ErrorKind::unsupported, "no library for this pattern", {}};
  for (auto& library : baseline_libraries()) {
    if (!library->kernel(problem)) continue;
    auto found = library->find(0);
    if (found) return std::move(library);
    why = found.error();
  }
  return std::unexpected(why);
}

}  // namespace ako
