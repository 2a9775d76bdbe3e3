// SPDX-License-Identifier: Apache-2.0
// What a shared object defines and what it wants from others. The object comes out of a compile guest:
// nothing in it is believed before it is checked against the file's size.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace ako {

struct ElfSymbols {
  std::set<std::string> exported;   // defined, visible to a loader
  std::set<std::string> defined;    // defined, visible or not
  std::set<std::string> imported;   // undefined: to be found elsewhere when it is loaded; without "@VERSION"
  std::vector<std::string> needed;  // libraries, as DT_NEEDED names them: "libgomp.so.1"
  std::int64_t code_bytes = 0;      // of executable sections
};

/// For little-endian 64-bit ELF, ELF-64 Object File Format 1.5. Errors: not such a file, or a damaged one.
Result<ElfSymbols> elf_symbols(std::string_view file);

/// The imported symbols of the shared object at `path`.
Result<std::set<std::string>> imported_symbols(const std::filesystem::path& path);

}  // namespace ako
