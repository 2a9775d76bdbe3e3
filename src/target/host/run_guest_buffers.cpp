// SPDX-License-Identifier: Apache-2.0
#include "target/host/run_guest_buffers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace ako::host {
namespace {

constexpr std::int64_t kPage = 4096;
constexpr std::byte kPoison{0xFF};

std::int64_t round_up(std::int64_t n, std::int64_t unit) { return (n + unit - 1) / unit * unit; }

/// Linux would rather kill somebody later than refuse now, so we look first.
Result<void> check_memory(Bytes wanted) {
  AKO_TRY(std::string text, read_file("/proc/meminfo"));
  long long available = 0;
  auto at = text.find("MemAvailable:");
  if (at == std::string::npos || std::sscanf(text.c_str() + at, "MemAvailable: %lld", &available) != 1)
    return {};
  Bytes free = kibibytes(available);
  if (wanted.count <= free.count / 10 * 8) return {};
  return fail(ErrorKind::limit,
              fmt::format("the buffers need {}, and {} of memory are free", to_text(wanted), to_text(free)),
              "use smaller shapes, or a machine with more memory");
}

void fill(std::span<std::byte> bytes) { std::memset(bytes.data(), 0xFF, bytes.size()); }

}  // namespace

Segment segment_for(const BufferSpec& spec, int slot) {
  Segment segment;
  segment.size = spec.size.count;
  segment.access = spec.access;
  segment.bytes = std::max(round_up(spec.size.count, kPage), kPage);
  bool at_end = slot % 2 == 0;
  if (at_end) segment.payload = (segment.bytes - segment.size) / kBufferAlignment * kBufferAlignment;
  return segment;
}

Result<SharedBuffers> SharedBuffers::create(std::vector<BufferSpec> buffers, int slots) {
  if (slots < 1) return fail(ErrorKind::invalid_input, "shared buffers need at least one slot");
  auto state = std::make_unique<State>();
  state->specs = std::move(buffers);
  state->slots = slots;
  Bytes read_only, read_write;
  for (int slot = 0; slot < slots; ++slot)
    for (const BufferSpec& spec : state->specs) {
      if (spec.size.count < 0)
        return fail(ErrorKind::invalid_input, fmt::format("buffer {} has a negative size", spec.name));
      Segment segment = segment_for(spec, slot);
      Bytes& file = spec.access == Access::read_only ? read_only : read_write;
      segment.offset = file.count;
      file += Bytes{segment.bytes};
      state->segments.push_back(segment);
    }
  AKO_CHECK(check_memory(read_only + read_write));
  AKO_TRY(state->read_only, MemoryFile::create("ako inputs", read_only));
  AKO_TRY(state->read_write, MemoryFile::create("ako outputs", read_write));
  AKO_CHECK(state->read_only.seal_against_writing());
  for (const Segment& segment : state->segments) {
    auto pages = state->pages(segment);
    fill(pages.first(static_cast<std::size_t>(segment.payload)));
    fill(pages.subspan(static_cast<std::size_t>(segment.payload + segment.size)));
  }
  return SharedBuffers(std::move(state));
}

SharedBuffers::SharedBuffers(std::unique_ptr<State> state) : state_(std::move(state)) {}
SharedBuffers::SharedBuffers(SharedBuffers&&) noexcept = default;
SharedBuffers& SharedBuffers::operator=(SharedBuffers&&) noexcept = default;
SharedBuffers::~SharedBuffers() = default;

int SharedBuffers::slots() const { return state_->slots; }
std::span<const BufferSpec> SharedBuffers::buffers() const { return state_->specs; }

std::span<std::byte> SharedBuffers::bytes(int slot, std::size_t buffer) {
  const Segment& segment = state_->segment(slot, buffer);
  return state_->pages(segment).subspan(static_cast<std::size_t>(segment.payload),
                                        static_cast<std::size_t>(segment.size));
}

Bytes SharedBuffers::total() const {
  return {static_cast<std::int64_t>(state_->read_only.bytes().size() + state_->read_write.bytes().size())};
}

void SharedBuffers::poison(int slot, std::size_t buffer) {
  fill(state_->pages(state_->segment(slot, buffer)));
}

/// Read-only buffers cannot be damaged from the other side.
std::optional<SharedBuffers::Damage> SharedBuffers::red_zone_damage(int slot) const {
  for (std::size_t buffer = 0; buffer < state_->specs.size(); ++buffer) {
    const Segment& segment = state_->segment(slot, buffer);
    if (segment.access == Access::read_only) continue;
    auto pages = state_->pages(segment);
    auto damaged = [](std::byte b) { return b != kPoison; };
    auto payload = pages.begin() + segment.payload, end = payload + segment.size;
    // The damage nearest to the buffer says most about the mistake.
    auto after = std::find_if(end, pages.end(), damaged);
    if (after != pages.end()) return Damage{buffer, after - payload};
    auto before = std::find_if(std::make_reverse_iterator(payload), pages.rend(), damaged);
    if (before != pages.rend()) return Damage{buffer, before.base() - 1 - payload};
  }
  return std::nullopt;
}

}  // namespace ako::host
