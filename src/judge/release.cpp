// SPDX-License-Identifier: Apache-2.0
#include "judge/release.h"

#include <algorithm>
#include <numeric>

#include "judge/decision.h"

namespace ako {
namespace {

constexpr std::size_t kKept = 15;  // latest samples per number of launches
constexpr int kSlots = 1024;

}  // namespace

Result<void> ReleaseMeter::start(int launches) {
  AKO_TRY(auto guest, host::RunGuest::start_empty(options_));
  AKO_TRY(auto buffers, host::SharedBuffers::create({{"nothing", Bytes{64}, host::Access::read_write}},
                                                    std::max(launches, 1)));
  guest_.emplace(std::move(guest));
  buffers_.emplace(std::move(buffers));
  host::SharedBuffers* group = &*buffers_;
  AKO_TRY(auto attached, guest_->attach(std::span(&group, 1), {}));
  if (auto* fault = std::get_if<host::GuestFault>(&attached))
    return fail(ErrorKind::unavailable, "the empty guest failed: " + fault->reason);
  return {};
}

Result<void> ReleaseMeter::sample(int launches) {
  if (!guest_ || !guest_->alive()) AKO_CHECK(start(kSlots));
  std::vector<int> slots(static_cast<std::size_t>(std::clamp(launches, 1, kSlots)));
  std::iota(slots.begin(), slots.end(), 0);
  AKO_TRY(auto ran, guest_->run(slots));
  if (auto* fault = std::get_if<host::GuestFault>(&ran))
    return fail(ErrorKind::unavailable, "the empty guest failed: " + fault->reason);
  auto found = std::find_if(series_.begin(), series_.end(),
                            [&](const Series& one) { return one.launches == launches; });
  if (found == series_.end()) found = series_.insert(series_.end(), Series{launches, {}});
  if (found->us.size() == kKept) found->us.erase(found->us.begin());
  found->us.push_back(Microseconds(std::get<host::BatchTime>(ran).wall).count());
  return {};
}

Microseconds ReleaseMeter::overhead(int launches) const {
  for (const auto& one : series_)
    if (one.launches == launches) return Microseconds(median(one.us));
  return Microseconds(0);
}

}  // namespace ako
