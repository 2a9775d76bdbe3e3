// SPDX-License-Identifier: Apache-2.0
#include "target/gpu/lease.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/clock.h"
#include "base/text.h"

namespace ako::gpu {
namespace {

std::filesystem::path lease_file(const DeviceInfo& info, const std::filesystem::path& folder) {
  std::string name = fmt::format("{}-{}.lock", name_of(info.api), info.bus);
  std::replace_if(name.begin(), name.end(), [](char c) { return c == ':' || c == '/'; }, '-');
  return folder / name;
}

/// Open for everybody: another user's judge must see, and may take, a lock that is free. Never through a
/// link.
Descriptor open_lease(const std::filesystem::path& file) {
  ::mode_t before = ::umask(0);
  ::mkdir(file.parent_path().c_str(), 01777);
  Descriptor opened(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  ::umask(before);
  return opened;
}

std::string content(const Descriptor& file) {
  char text[256] = {};
  auto size = ::pread(file.get(), text, sizeof text - 1, 0);
  return size > 0 ? printable(std::string(text, static_cast<std::size_t>(size))) : "";
}

}  // namespace

std::filesystem::path Lease::lease_folder() {
  const char* chosen = std::getenv("AKO_LEASE_DIR");
  return chosen && *chosen ? chosen : "/tmp/ako-devices";
}

Result<Lease> Lease::take(const DeviceInfo& info, const std::filesystem::path& folder) {
  auto path = lease_file(info, folder);
  Descriptor file = open_lease(path);
  if (!file)
    return fail(ErrorKind::io, "cannot open the lock of a device: " + path.string(),
                "set AKO_LEASE_DIR to a folder that all users of this device's judges can write");
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0)
    return fail(ErrorKind::conflict,
                fmt::format("{} ({}) is in use by {}", info.name, info.bus, content(file)),
                "wait for it, or judge on another device: --device N");
  const char* user = std::getenv("USER");
  std::string owner = fmt::format("process {} of {} since {} UTC", ::getpid(),
                                  user && *user ? user : fmt::format("user {}", ::getuid()), utc_now());
  if (::ftruncate(file.get(), 0) != 0 || ::pwrite(file.get(), owner.data(), owner.size(), 0) < 0)
    return fail(ErrorKind::io, "cannot write the lock of a device: " + path.string(),
                "free space on its disk");
  return Lease(std::move(file));
}

std::string Lease::holder(const DeviceInfo& info, const std::filesystem::path& folder) {
  Descriptor file(::open(lease_file(info, folder).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file || ::flock(file.get(), LOCK_SH | LOCK_NB) == 0) return {};
  return content(file);
}

}  // namespace ako::gpu
