// SPDX-License-Identifier: Apache-2.0
// What it costs to release a guest and to see it stopped again: measured on an empty guest of ako's own,
// interleaved with the batches it is subtracted from, never on the candidate's.
#pragma once

#include <optional>
#include <vector>

#include "target/host/run_guest.h"

namespace ako {

class ReleaseMeter {
 public:
  explicit ReleaseMeter(const host::GuestOptions& options) : options_(options) {}
  /// One empty batch of `launches` launches.
  Result<void> sample(int launches);
  /// Lower quartile of the latest samples with this number of launches.
  Microseconds overhead(int launches) const;

 private:
  struct Series {
    int launches = 1;
    std::vector<double> us;
  };

  host::GuestOptions options_;
  std::optional<host::RunGuest> guest_;
  std::vector<Series> series_;
};

}  // namespace ako
