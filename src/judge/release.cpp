// SPDX-License-Identifier: Apache-2.0
#include "judge/release.h"

#include <algorithm>

namespace ako {
namespace {

/// A busy machine delays some releases by milliseconds; what every release costs shows in the lower half.
double lower_quartile(std::vector<double> values) {
  auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 4);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

constexpr std::size_t kKept = 15;  // latest samples per number of launches

}  // namespace

Result<void> ReleaseMeter::sample(int launches) {
  if (!guest_ || !guest_->alive()) {
    AKO_TRY(auto guest, host::RunGuest::start_empty(options_));
    guest_.emplace(std::move(guest));
  }
  std::vector<int> slots(static_cast<std::size_t>(std::max(launches, 1)),
                         0);  // it has one slot and no buffers
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
    if (one.launches == launches) return Microseconds(lower_quartile(one.us));
  return Microseconds(0);
}

}  // namespace ako
