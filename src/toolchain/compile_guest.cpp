// SPDX-License-Identifier: Apache-2.0
#include "toolchain/compile_guest.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>

#include "base/files.h"

namespace ako {
namespace fs = std::filesystem;

Hash hash_folder(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code code;
  for (const auto& entry : fs::recursive_directory_iterator(folder, code))
    if (entry.is_regular_file(code)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  Hasher hasher("guest-headers/1");
  for (const fs::path& file : files)
    hasher.add(file.lexically_relative(folder).string()).add(read_file(file).value_or(""));
  return hasher.finish();
}

Result<std::string> read_from_guest(const fs::path& path, Bytes limit) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status{};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return fail(ErrorKind::not_found, "the compiler ended well but left no code");
  if (status.st_size > limit.count)
    return fail(ErrorKind::limit,
                fmt::format("the compiled code has {}, and at most {} are accepted",
                            to_text(Bytes{status.st_size}), to_text(limit)),
                "large constant tables belong into inputs or into code that computes them");
  std::string content(static_cast<std::size_t>(status.st_size), '\0');
  ssize_t got = ::pread(file.get(), content.data(), content.size(), 0);
  content.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return content;
}

bool disk_is_full(const fs::path& folder) {
  struct statvfs status{};
  if (::statvfs(folder.c_str(), &status) != 0) return false;
  return static_cast<std::int64_t>(status.f_bavail * status.f_frsize) < mebibytes(16).count;
}

std::vector<fs::path> system_folders() {
  std::vector<fs::path> folders;
  std::error_code code;
  for (const char* path : {"/usr", "/lib", "/lib64", "/bin", "/etc/alternatives", "/etc/ld.so.cache"})
    if (fs::exists(path, code)) folders.emplace_back(path);
  return folders;
}

CompileFailure refusal(const Error& error) { return {to_text(error) + "\n"}; }
CompileFailure refusal(const std::vector<Error>& errors) { return {to_text(errors) + "\n"}; }

Result<BuildResult> failed_compilation(const Exit& exit, std::string log, Seconds wall_limit,
                                       const fs::path& scratch) {
  if (exit.timed_out)
    return CompileFailure{
        fmt::format("{}error: compiling took longer than {}\n", log, to_text(Microseconds(wall_limit))),
        true};
  if (disk_is_full(scratch) || disk_is_full("/tmp"))
    return fail(ErrorKind::io, "the compiler failed on a full disk",
                "free some space in the temporary folder");
  if (exit.signal != 0 && log.empty())
    return fail(ErrorKind::unavailable, fmt::format("the compiler was killed by signal {}", exit.signal),
                "the machine may be short of memory; 'ako doctor' shows what it has");
  return CompileFailure{log.empty() ? fmt::format("error: the compiler ended with status {}\n", exit.code)
                                    : std::move(log)};
}

}  // namespace ako
