// SPDX-License-Identifier: Apache-2.0
#include "target/host/run_guest_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "../../../guest/host_protocol.h"

namespace ako::host {
namespace {

constexpr std::uint64_t kHugePage = 2 << 20;
constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kGuard = 64 << 10;
// Between where Linux puts programs (0x55…) and the lowest addresses that anything else asks for.
constexpr std::uint64_t kLowest = 0x1000'0000'0000, kHighest = 0x4000'0000'0000;
// Each segment and each gap is a mapping of its own; Linux allows 65530 (vm.max_map_count) to a process.
constexpr std::size_t kMostSegments = 30'000;

template <class T>
void append(std::vector<std::byte>& bytes, const T& value) {
  const auto* at = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), at, at + sizeof value);
}

using Groups = std::span<const BufferMemory* const>;

struct Layout {
  std::vector<guest::Mapping> mappings;              // slot by slot, group by group
  std::vector<std::vector<std::uint64_t>> payloads;  // address of [group][slot * buffers + buffer]
  std::uint64_t begin = 0, end = 0;
};

/// From group by group to slot by slot: what belongs to a slot is taken away together.
std::vector<guest::Mapping> slot_by_slot(Groups groups, const std::vector<guest::Mapping>& mappings) {
  std::vector<guest::Mapping> ordered;
  for (int slot = 0; !groups.empty() && slot < groups.front()->slots; ++slot) {
    std::size_t first = 0;  // of the group
    for (const auto* group : groups) {
      std::size_t buffers = group->specs.size();
      auto begin =
          mappings.begin() + static_cast<std::ptrdiff_t>(first + static_cast<std::size_t>(slot) * buffers);
      ordered.insert(ordered.end(), begin, begin + static_cast<std::ptrdiff_t>(buffers));
      first += group->segments.size();
    }
  }
  return ordered;
}

/// Every segment alone between guards. Large ones keep their offset's place within a huge page, so that huge
/// pages of the file can be mapped as such.
Layout lay_out(Groups groups, Random& random, std::vector<int>& files) {
  Layout layout;
  layout.begin = kLowest + random.below((kHighest - kLowest) / kHugePage) * kHugePage;
  std::uint64_t next = layout.begin;
  for (const auto* group : groups) {
    int first_file = static_cast<int>(files.size()) + 1;
    files.push_back(group->read_only.descriptor());
    files.push_back(group->read_write.descriptor());
    auto& payloads = layout.payloads.emplace_back();
    for (const Segment& segment : group->segments) {
      auto bytes = static_cast<std::uint64_t>(segment.bytes),
           offset = static_cast<std::uint64_t>(segment.offset);
      next += kGuard + random.below(16) * kPage;
      if (bytes >= kHugePage) next += (offset - next) % kHugePage;
      bool writable = segment.access == Access::read_write;
      layout.mappings.push_back(
          {next, bytes, offset, static_cast<std::uint32_t>(first_file + writable), writable});
      payloads.push_back(next + static_cast<std::uint64_t>(segment.payload));
      next += bytes;
    }
  }
  layout.end = (next + kGuard + kHugePage - 1) / kHugePage * kHugePage;
  layout.mappings = slot_by_slot(groups, layout.mappings);
  return layout;
}

std::vector<Region> regions_of(Groups groups, const Layout& layout) {
  std::vector<Region> regions;
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (std::size_t i = 0; i < groups[g]->segments.size(); ++i) {
      const Segment& segment = groups[g]->segments[i];
      std::size_t buffers = groups[g]->specs.size();
      std::uint64_t begin = layout.payloads[g][i];
      regions.push_back({begin, begin + static_cast<std::uint64_t>(segment.size),
                         groups[g]->specs[i % buffers].name, static_cast<int>(i / buffers),
                         segment.access == Access::read_write});
    }
  std::ranges::sort(regions, {}, &Region::begin);
  return regions;
}

guest::Value cell(const GuestArgument& argument, int slot, Groups groups, const Layout& layout) {
  switch (argument.kind) {
    case GuestArgument::Kind::buffer: {
      auto g = static_cast<std::size_t>(argument.group);
      return layout.payloads[g][static_cast<std::size_t>(slot) * groups[g]->specs.size() + argument.buffer];
    }
    case GuestArgument::Kind::f64:
      return std::bit_cast<std::uint64_t>(argument.real);
    case GuestArgument::Kind::f32:
      return std::bit_cast<std::uint32_t>(static_cast<float>(argument.real));
    case GuestArgument::Kind::integer:
    case GuestArgument::Kind::i32:
    case GuestArgument::Kind::bits16:
    case GuestArgument::Kind::bits8:
      return static_cast<std::uint64_t>(argument.integer);
  }
  return 0;
}

Result<void> check(Groups groups, std::span<const GuestLaunch> launches) {
  std::size_t segments = 0;
  for (const auto* group : groups) {
    segments += group->segments.size();
    if (group->slots != groups.front()->slots)
      return fail(ErrorKind::internal,
                  "groups of buffers attached together must have the same number of slots");
  }
  if (segments > kMostSegments || 2 * groups.size() + 1 > guest::kMostFiles)
    return fail(ErrorKind::limit, fmt::format("{} buffers are too many for one guest", segments),
                "use fewer slots; each may hold a larger shape");
  for (const GuestLaunch& launch : launches)
    for (const GuestArgument& argument : launch.arguments)
      if (argument.kind == GuestArgument::Kind::buffer &&
          (argument.group < 0 || static_cast<std::size_t>(argument.group) >= groups.size() ||
           argument.buffer >= groups[static_cast<std::size_t>(argument.group)]->specs.size()))
        return fail(ErrorKind::internal,
                    fmt::format("a launch of {} names a buffer that is not attached", launch.symbol));
  return {};
}

}  // namespace

Result<AttachPlan> plan_attach(Groups groups, std::span<const GuestLaunch> launches,
                               std::span<const std::string> symbols, Random& random) {
  AKO_CHECK(check(groups, launches));
  AttachPlan plan;
  plan.slots = groups.empty() ? 1 : groups.front()->slots;
  Layout layout = lay_out(groups, random, plan.files);
  plan.regions = regions_of(groups, layout);
  plan.begin = layout.begin;
  plan.end = layout.end;

  std::vector<guest::PlannedLaunch> planned;
  std::uint32_t values = 0;
  for (const GuestLaunch& launch : launches) {
    auto symbol = std::ranges::find(symbols, launch.symbol);
    if (symbol == symbols.end())
      return fail(ErrorKind::invalid_input,
                  fmt::format("the plan launches {}, which was not compiled", launch.symbol),
                  "name an extern \"C\" function of the candidate");
    auto count = static_cast<std::uint32_t>(launch.arguments.size());
    planned.push_back({static_cast<std::uint32_t>(symbol - symbols.begin()), values, count});
    values += count;
  }
  append(plan.bytes, guest::Plan{layout.begin, layout.end - layout.begin,
                                 static_cast<std::uint32_t>(layout.mappings.size()),
                                 static_cast<std::uint32_t>(planned.size()),
                                 static_cast<std::uint32_t>(plan.slots), values});
  for (const guest::Mapping& mapping : layout.mappings) append(plan.bytes, mapping);
  for (const guest::PlannedLaunch& launch : planned) append(plan.bytes, launch);
  while (plan.bytes.size() % alignof(guest::Value) != 0) plan.bytes.push_back({});
  for (int slot = 0; slot < plan.slots; ++slot)
    for (const GuestLaunch& launch : launches)
      for (const GuestArgument& argument : launch.arguments)
        append(plan.bytes, cell(argument, slot, groups, layout));
  return plan;
}

}  // namespace ako::host
