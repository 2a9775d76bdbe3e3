// SPDX-License-Identifier: Apache-2.0
// What `ako doctor` finds out, before it is printed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/units.h"

namespace ako {

enum class Health : std::uint8_t {
  works,
  limited,  // ako runs, with less: slower, or with results of a lower grade
  missing,  // ako cannot optimize anything without it
  absent,   // an alternative that nothing needs
};
std::string_view name_of(Health);

struct Check {
  std::string group, name;
  Health health = Health::works;
  std::string found;   // what is there
  std::string advice;  // what to do, when it is not fine
};
/// Compilers, a kernel with OpenMP compiled in a guest, confinement, an empty kernel run in a guest, targets.
std::vector<Check> run_checks();

struct Setting {
  std::string name, value;
  std::string origin;  // "environment", "default", or the variable that it follows from
  std::string meaning;
};
std::vector<Setting> all_settings();

struct Folder {
  std::string name;
  std::filesystem::path path;
  bool writable = false;
  Bytes available, used;
};
std::vector<Folder> all_folders();

}  // namespace ako
