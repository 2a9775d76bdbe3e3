// SPDX-License-Identifier: Apache-2.0
// Files. There is one way to write a file: whole, to a temporary name, synced, then renamed.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace ako {

Result<std::string> read_file(const std::filesystem::path&);
/// Creates missing folders. Readers see the old content or the new, never a part.
Result<void> write_file(const std::filesystem::path&, std::string_view content);
/// Appends and syncs; for logs that only grow. A crash can lose the tail of one append, never earlier ones.
Result<void> append_file(const std::filesystem::path&, std::string_view content);
Result<void> create_folders(const std::filesystem::path&);

/// A new folder under `parent` (the system's temporary folder if empty), removed with its content on
/// destruction.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> create(std::string_view prefix, const std::filesystem::path& parent = {});
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept;
  ~TemporaryFolder();
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

/// Owns a file descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { close(); }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  void close();
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// Where ako keeps things of this user: $AKO_CACHE_DIR, else $XDG_CACHE_HOME/ako, else ~/.cache/ako.
std::filesystem::path cache_folder();
/// $AKO_DATA_DIR, else $XDG_DATA_HOME/ako, else ~/.local/share/ako.
std::filesystem::path data_folder();
/// The folder of the running executable.
std::filesystem::path program_folder();
/// A file that belongs to ako ("problems/softmax.yaml", "ako-guest-host"): looked for beside the program
/// (installed layout: ../libexec/ako and ../share/ako) and in the source tree it was built from.
Result<std::filesystem::path> find_resource(const std::filesystem::path& relative);

}  // namespace ako
