// SPDX-License-Identifier: Apache-2.0
#include "judge/buffers.h"

#include <fmt/format.h>

#include <cstring>

#include "judge/parallel.h"

namespace ako {
namespace {

using host::SharedBuffers;

constexpr std::int64_t kPoisonGrain = 4 << 20;  // bytes a thread should have to itself

void set_all_bits(std::span<std::byte> bytes) {
  parallel_ranges(static_cast<std::int64_t>(bytes.size()), kPoisonGrain,
                  [&](int, std::int64_t begin, std::int64_t end) {
                    std::memset(bytes.data() + begin, 0xFF, static_cast<std::size_t>(end - begin));
                  });
}

std::optional<std::string> damage_of(const SharedBuffers& group, int slot) {
  auto damage = group.red_zone_damage(slot);
  if (!damage) return std::nullopt;
  const auto& buffer = group.buffers()[damage->buffer];
  return damage->offset < 0 ? fmt::format("wrote {} bytes before {}", -damage->offset, buffer.name)
                            : fmt::format("wrote {} bytes after the end of {}",
                                          damage->offset - buffer.size.count + 1, buffer.name);
}

}  // namespace

Result<SideBuffers> SideBuffers::create(const Problem& problem, const Shape& shape,
                                        const Candidate& candidate, const Layout& layout, int slots) {
  AKO_TRY(auto outputs, SharedBuffers::create(layout.outputs, slots));
  AKO_TRY(auto specs, workspace_specs(problem, shape, candidate));
  std::optional<SharedBuffers> workspace;
  if (!specs.empty()) {
    AKO_TRY(auto made, SharedBuffers::create(std::move(specs), slots));
    workspace.emplace(std::move(made));
  }
  AKO_TRY(auto launches, guest_launches(problem, shape, candidate, layout));
  return SideBuffers(std::move(outputs), std::move(workspace), std::move(launches));
}

Judged<void> SideBuffers::attach(host::RunGuest& guest, SharedBuffers* inputs, Side side,
                                 const std::string& stage, const std::string& shape,
                                 const host::GuestOptions& options) {
  std::vector<SharedBuffers*> groups;
  if (inputs) groups.push_back(inputs);
  groups.push_back(&outputs_);
  if (workspace_) groups.push_back(&*workspace_);
  AKO_JUDGED(auto attached, guest.attach(groups, launches_));
  if (auto* fault = std::get_if<host::GuestFault>(&attached))
    return std::unexpected(outcome_of(*fault, side, stage, shape, options));
  return {};
}

void SideBuffers::poison_group(SharedBuffers& group, std::span<const int> slots) {
  for (int slot : slots)
    for (std::size_t buffer = 0; buffer < group.buffers().size(); ++buffer)
      set_all_bits(group.bytes(slot, buffer));
}

void SideBuffers::poison(std::span<const int> slots) {
  // The surroundings are inspected after checks, and a damaged one ends the judgement: poisoning them once is
  // enough.
  if (!surroundings_poisoned_) {
    for (auto* group : {&outputs_, workspace_ ? &*workspace_ : nullptr})
      for (int slot = 0; group && slot < group->slots(); ++slot)
        for (std::size_t buffer = 0; buffer < group->buffers().size(); ++buffer) group->poison(slot, buffer);
    surroundings_poisoned_ = true;
    return;
  }
  poison_group(outputs_, slots);
  if (workspace_) poison_group(*workspace_, slots);
}

std::optional<std::string> SideBuffers::damage(int slot) const {
  if (auto words = damage_of(outputs_, slot)) return words;
  return workspace_ ? damage_of(*workspace_, slot) : std::nullopt;
}

Bytes SideBuffers::total() const {
  return workspace_ ? outputs_.total() + workspace_->total() : outputs_.total();
}

Result<std::optional<SharedBuffers>> create_inputs(const Layout& layout, int slots) {
  if (layout.inputs.empty()) return std::nullopt;
  AKO_TRY(auto inputs, SharedBuffers::create(layout.inputs, slots));
  return std::optional<SharedBuffers>(std::move(inputs));
}

}  // namespace ako
