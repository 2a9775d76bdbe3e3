// SPDX-License-Identifier: Apache-2.0
// What a confined process sees of the file system: a list of steps that build its root, worked out
// beforehand, so that the child between clone and exec only makes system calls.
#pragma once

#include <string>
#include <vector>

#include "sandbox/sandbox.h"

namespace ako {

struct ViewStep {
  enum class Kind : std::uint8_t {
    folder,         // make it, if it is not there
    link,           // symbolic link `target` → `source`
    bind_file,      // `source` appears at `target`, read-only
    bind_folder,    // with everything mounted below it, read-only
    bind_writable,  // the scratch folder, the null device
    temporary,      // an empty writable file system in memory of `source` bytes
  } kind;
  std::string source;
  std::string target;  // below the new root, without a leading slash
};

/// Folders come before what is in them. Errors: a path that does not exist.
Result<std::vector<ViewStep>> view_of(const Policy&, const std::filesystem::path& program);

/// Whether a user with no rights of its own could read every file and folder of the view.
bool readable_by_anyone(const std::vector<ViewStep>&);

}  // namespace ako
