// SPDX-License-Identifier: Apache-2.0
#include "target/host/memory_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace ako::host {
namespace {

std::unexpected<Error> refused(const char* what, Bytes size) {
  bool space = errno == ENOSPC || errno == ENOMEM || errno == EFAULT;
  return fail(space ? ErrorKind::limit : ErrorKind::unavailable,
              fmt::format("cannot {} {} of shared memory: {}", what, to_text(size), std::strerror(errno)),
              space ? "use smaller shapes, or free memory" : "");
}

}  // namespace

Result<MemoryFile> MemoryFile::create(const char* name, Bytes size) {
  MemoryFile file;
  file.descriptor_ = Descriptor(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.descriptor_) return refused("make", size);
  if (::ftruncate(file.descriptor(), size.count) != 0) return refused("size", size);
  if (size.count > 0 && ::fallocate(file.descriptor(), 0, 0, size.count) != 0) return refused("get", size);
  if (::fcntl(file.descriptor(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) return refused("seal", size);
  if (size.count == 0) return file;
  auto bytes = static_cast<std::size_t>(size.count);
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor(), 0);
  if (at == MAP_FAILED) return refused("map", size);
  file.data_ = static_cast<std::byte*>(at);
  file.size_ = bytes;
  ::madvise(at, bytes, MADV_HUGEPAGE);
  ::madvise(at, bytes, MADV_POPULATE_WRITE);
  return file;
}

MemoryFile::MemoryFile(MemoryFile&& other) noexcept
    : descriptor_(std::move(other.descriptor_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MemoryFile& MemoryFile::operator=(MemoryFile&& other) noexcept {
  if (this != &other) {
    if (data_) ::munmap(data_, size_);
    descriptor_ = std::move(other.descriptor_);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

MemoryFile::~MemoryFile() {
  if (data_) ::munmap(data_, size_);
}

Result<void> MemoryFile::seal_against_writing() {
  if (::fcntl(descriptor(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) != 0)
    return refused("seal", {static_cast<std::int64_t>(size_)});
  return {};
}

}  // namespace ako::host
