// SPDX-License-Identifier: Apache-2.0
// The C++ compilers of this machine.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/hash.h"

namespace ako {

struct Compiler {
  std::filesystem::path path;  // as found: /usr/bin/g++
  std::string version;         // first line of --version: "g++ (Debian 12.2.0-14+deb12u1) 12.2.0"
  bool is_clang = false;
  Hash identity;  // of the real path and everything --version says
};

/// $AKO_CXX if set (then nothing else), else those of g++, clang++-19, clang++ that are there, in this order.
std::vector<std::string> compiler_names();
/// Asks one of them who it is.
Result<Compiler> identify_compiler(const std::string& name);
/// The first that answers. The error says what to install.
Result<Compiler> find_compiler();

}  // namespace ako
