// SPDX-License-Identifier: Apache-2.0
#include "toolchain/host/compiler.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/subprocess.h"
#include "base/text.h"

namespace ako {

std::vector<std::string> compiler_names() {
  if (const char* chosen = std::getenv("AKO_CXX"); chosen && *chosen) return {chosen};
  return {"g++", "clang++-19", "clang++"};
}

Result<Compiler> identify_compiler(const std::string& name) {
  auto path = find_program(name);
  if (!path)
    return fail(ErrorKind::not_found, fmt::format("there is no compiler {}", printable(name)),
                "install g++ (on Debian: apt-get install g++), or set AKO_CXX to a g++ or clang++");
  Command command;
  command.argv = {path->string(), "--version"};
  command.wall_limit = Seconds(20);
  AKO_TRY(Exit exit, run(command));
  if (!exit.ok() || exit.output.empty())
    return fail(ErrorKind::unavailable, fmt::format("{} --version does not answer", path->string()),
                "install the compiler again, or set AKO_CXX to another one");
  Compiler compiler;
  compiler.path = *path;
  compiler.version = printable(exit.output.substr(0, exit.output.find('\n')));
  compiler.is_clang = exit.output.find("clang") != std::string::npos;
  std::error_code code;
  compiler.identity = Hasher("compiler/1")
                          .add(std::filesystem::weakly_canonical(*path, code).string())
                          .add(exit.output)
                          .finish();
  return compiler;
}

Result<Compiler> find_compiler() {
  Result<Compiler> found = fail(ErrorKind::not_found, "there is no C++ compiler", "apt-get install g++");
  for (const std::string& name : compiler_names())
    if (found = identify_compiler(name); found) break;
  return found;
}

}  // namespace ako
