// SPDX-License-Identifier: Apache-2.0
// Counter-based random numbers: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// SC'11). The same numbers on every machine and device; any element can be made without those before it.
#pragma once

#include <array>
#include <cstdint>

namespace ako {

/// Four 32-bit words from a 128-bit counter and a 64-bit key.
constexpr std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                              std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    std::uint64_t a = std::uint64_t{0xD2511F53u} * counter[0];
    std::uint64_t b = std::uint64_t{0xCD9E8D57u} * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return counter;
}

/// A stream of numbers for search, shuffles and tests; not for secrets.
class Random {
 public:
  using result_type = std::uint64_t;
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) : seed_(seed), stream_(stream) {}
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return ~result_type{0}; }
  result_type operator()() {
    if (have_) return have_ = false, spare_;
    auto w = philox({static_cast<std::uint32_t>(n_), static_cast<std::uint32_t>(n_ >> 32),
                     static_cast<std::uint32_t>(stream_), static_cast<std::uint32_t>(stream_ >> 32)},
                    {static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32)});
    ++n_;
    spare_ = std::uint64_t{w[2]} << 32 | w[3];
    have_ = true;
    return std::uint64_t{w[0]} << 32 | w[1];
  }
  /// Uniform in [0, n), without bias; n > 0.
  std::uint64_t below(std::uint64_t n) {
    std::uint64_t limit = max() - max() % n;
    std::uint64_t x;
    do x = (*this)();
    while (x >= limit);
    return x % n;
  }
  /// Uniform in [0, 1).
  double unit() { return static_cast<double>((*this)() >> 11) * 0x1p-53; }

 private:
  std::uint64_t seed_, stream_, n_ = 0, spare_ = 0;
  bool have_ = false;
};

/// A seed from the operating system: secret, never logged before the verdict that used it is out.
std::uint64_t secret_seed();

}  // namespace ako
