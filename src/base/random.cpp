// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"

#include <sodium.h>

namespace ako {

std::uint64_t secret_seed() {
  std::uint64_t seed = 0;
  randombytes_buf(&seed, sizeof seed);
  return seed;
}

}  // namespace ako
