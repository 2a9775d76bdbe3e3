// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/files.h"
#include "base/text.h"
#include "store/database.h"

namespace ako {
namespace {

std::string own_command() {
  auto text = read_file("/proc/self/cmdline");
  if (!text) return "ako";
  while (!text->empty() && text->back() == '\0') text->pop_back();
  for (char& c : *text)
    if (c == '\0') c = ' ';
  return *text;
}

}  // namespace

Result<OwnerLock> OwnerLock::take(const std::filesystem::path& path) {
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!file)
    return fail(ErrorKind::io, fmt::format("cannot open {}: {}", path.string(), std::strerror(errno)),
                "check that the folder exists and may be written");
  while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK)
      return fail(ErrorKind::io, fmt::format("cannot lock {}: {}", path.string(), std::strerror(errno)));
    auto owner = read_file(path);
    std::string who =
        owner && !owner->empty() ? printable(owner->substr(0, owner->find('\n'))) : "another process";
    return fail(ErrorKind::conflict, fmt::format("{} is in use by {}", path.parent_path().string(), who),
                "wait until it has ended, or stop it with Ctrl-C (its work is kept)");
  }
  // Only information for people: a failure to write it does not weaken the lock.
  std::string owner = fmt::format("process {}: {}\n", ::getpid(), printable(own_command()));
  if (::ftruncate(file.get(), 0) != 0 || ::pwrite(file.get(), owner.data(), owner.size(), 0) < 0) errno = 0;
  return OwnerLock(file.release());
}

OwnerLock::OwnerLock(OwnerLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
OwnerLock& OwnerLock::operator=(OwnerLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}
OwnerLock::~OwnerLock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace ako
