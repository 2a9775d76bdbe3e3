// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/files.h"
#include "base/text.h"
#include "cli/cli.h"

namespace ako {
namespace fs = std::filesystem;
namespace {

std::vector<std::string> shipped_problems() {
  std::vector<std::string> names;
  auto folder = find_resource("problems");
  if (!folder) return names;
  std::error_code code;
  for (const fs::directory_entry& entry : fs::directory_iterator(*folder, code))
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  return names;
}

Result<fs::path> problem_path(const std::string& argument) {
  std::error_code code;
  if (fs::exists(argument, code)) return fs::path(argument);
  bool is_name = argument.find('/') == std::string::npos && !argument.empty();
  if (is_name)
    if (auto shipped = find_resource(fs::path("problems") / (argument + ".yaml"))) return *shipped;
  std::vector<std::string> names = shipped_problems();
  std::string_view near = is_name ? closest(argument, names) : std::string_view();
  return fail(ErrorKind::not_found, fmt::format("there is no problem file {}", argument),
              near.empty()
                  ? "give a path to a YAML file, or the name of a shipped problem (softmax, matmul …)"
                  : fmt::format("did you mean '{}'?", near));
}

}  // namespace

Parsed<Problem> problem_argument(std::string_view path_or_name, std::string_view shapes) {
  auto path = problem_path(std::string(path_or_name));
  if (!path) return std::unexpected(std::vector<Error>{path.error()});
  auto problem = load_problem(*path);
  if (!problem || shapes.empty()) return problem;
  return with_shapes(*problem, shapes);
}

}  // namespace ako
