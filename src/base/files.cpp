// SPDX-License-Identifier: Apache-2.0
#include "base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace ako {
namespace fs = std::filesystem;
namespace {

std::unexpected<Error> system_error(std::string_view doing, const fs::path& path, int code) {
  ErrorKind kind = code == ENOENT ? ErrorKind::not_found : ErrorKind::io;
  std::string advice;
  if (code == ENOSPC)
    advice = "free some disk space and run the command again; nothing written before is lost";
  if (code == EACCES || code == EROFS) advice = "check the permissions of the folder, or choose another one";
  return fail(kind, fmt::format("cannot {} {}: {}", doing, path.string(), std::strerror(code)), advice);
}

Result<void> write_all(int fd, std::string_view content, const fs::path& path) {
  while (!content.empty()) {
    ssize_t wrote = ::write(fd, content.data(), content.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return system_error("write", path, errno);
    content.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return {};
}

fs::path user_folder(const char* own, const char* xdg, const char* fallback) {
  if (const char* value = std::getenv(own); value && *value) return value;
  if (const char* value = std::getenv(xdg); value && *value) return fs::path(value) / "ako";
  const char* home = std::getenv("HOME");
  return fs::path(home && *home ? home : "/tmp") / fallback / "ako";
}

}  // namespace

void Descriptor::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}
Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    close();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

Result<std::string> read_file(const fs::path& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return system_error("open", path, errno);
  struct stat status{};
  if (::fstat(file.get(), &status) == 0 && S_ISDIR(status.st_mode))
    return fail(ErrorKind::invalid_input, fmt::format("{} is a folder, not a file", path.string()));
  std::string content;
  char buffer[1 << 16];
  while (true) {
    ssize_t got = ::read(file.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("read", path, errno);
    if (got == 0) return content;
    content.append(buffer, static_cast<std::size_t>(got));
  }
}

Result<void> create_folders(const fs::path& path) {
  std::error_code code;
  fs::create_directories(path, code);
  if (code) return system_error("create folder", path, code.value());
  return {};
}

Result<void> write_file(const fs::path& path, std::string_view content) {
  static std::atomic<unsigned> serial{0};
  if (path.has_parent_path()) AKO_CHECK(create_folders(path.parent_path()));
  fs::path temporary = path;
  temporary += fmt::format(".{}.{}.tmp", ::getpid(), serial++);
  Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!file) return system_error("create", temporary, errno);
  Result<void> written = write_all(file.get(), content, path);
  if (written && ::fsync(file.get()) != 0) written = system_error("sync", path, errno);
  file.close();
  if (written && ::rename(temporary.c_str(), path.c_str()) != 0)
    written = system_error("rename onto", path, errno);
  if (!written) ::unlink(temporary.c_str());
  return written;
}

Result<void> append_file(const fs::path& path, std::string_view content) {
  if (path.has_parent_path()) AKO_CHECK(create_folders(path.parent_path()));
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!file) return system_error("open", path, errno);
  AKO_CHECK(write_all(file.get(), content, path));
  if (::fdatasync(file.get()) != 0) return system_error("sync", path, errno);
  return {};
}

Result<TemporaryFolder> TemporaryFolder::create(std::string_view prefix, const fs::path& parent) {
  std::error_code code;
  fs::path base = parent.empty() ? fs::temp_directory_path(code) : parent;
  if (code) base = "/tmp";
  AKO_CHECK(create_folders(base));
  std::string pattern = (base / fmt::format("{}.XXXXXX", prefix)).string();
  if (!::mkdtemp(pattern.data())) return system_error("create a temporary folder under", base, errno);
  return TemporaryFolder(pattern);
}
TemporaryFolder& TemporaryFolder::operator=(TemporaryFolder&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}
TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

fs::path cache_folder() { return user_folder("AKO_CACHE_DIR", "XDG_CACHE_HOME", ".cache"); }
fs::path data_folder() { return user_folder("AKO_DATA_DIR", "XDG_DATA_HOME", ".local/share"); }

fs::path program_folder() {
  std::error_code code;
  fs::path self = fs::read_symlink("/proc/self/exe", code);
  return code ? fs::current_path() : self.parent_path();
}

Result<fs::path> find_resource(const fs::path& relative) {
  fs::path here = program_folder();
  // Installed: PREFIX/bin/ako. Build tree: SOURCE/build/PRESET/bin/ako.
  for (const fs::path& folder : {here, here / "../libexec/ako", here / "../share/ako", here / "../../.."}) {
    std::error_code code;
    if (fs::exists(folder / relative, code)) return fs::weakly_canonical(folder / relative);
  }
  return fail(ErrorKind::not_found,
              fmt::format("{} is missing from this installation of ako", relative.string()),
              fmt::format("looked beside {}; build with 'make' or install again", here.string()));
}

}  // namespace ako
