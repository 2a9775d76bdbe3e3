// SPDX-License-Identifier: Apache-2.0
// What every toolchain that compiles in a sandboxed guest needs around the compiler.
#pragma once

#include <filesystem>

#include "sandbox/sandbox.h"
#include "toolchain/toolchain.h"

namespace ako {

/// Of every file below a folder, with its name: headers that a guest includes are part of what a cached
/// result depends on.
Hash hash_folder(const std::filesystem::path&);
/// What the compile guest left at `path`, if it is a plain file of at most `limit`: the guest might have put
/// a link or a pipe there.
Result<std::string> read_from_guest(const std::filesystem::path&, Bytes limit);
bool disk_is_full(const std::filesystem::path& folder);
/// The system's folders that compilers and their libraries are in, as far as they are there.
std::vector<std::filesystem::path> system_folders();

/// A mistake of the candidate's that ako found, in a compiler's words.
CompileFailure refusal(const Error&);
CompileFailure refusal(const std::vector<Error>&);
/// What to tell of a compiler that did not end well. Error: that was the machine's fault.
Result<BuildResult> failed_compilation(const Exit&, std::string log, Seconds wall_limit,
                                       const std::filesystem::path& scratch);

}  // namespace ako
