// SPDX-License-Identifier: Apache-2.0
// expect: wrong — one row of 65536 is what the launch before this one made of it
#include <cmath>
#include <cstdint>

using bf16 = std::uint16_t;
static float wide(bf16 bits) { return __builtin_bit_cast(float, std::uint32_t(bits) << 16); }
static bf16 narrow(float x) {
  auto bits = __builtin_bit_cast(std::uint32_t, x);
  return bf16((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static void honest(const bf16* x, const bf16* w, bf16* y, float eps, std::int64_t T, std::int64_t D) {
  for (std::int64_t t = 0; t < T; ++t) {
    float squares = 0;
    for (std::int64_t d = 0; d < D; ++d) squares += wide(x[t * D + d]) * wide(x[t * D + d]);
    float factor = 1 / std::sqrt(squares / float(D) + eps);
    for (std::int64_t d = 0; d < D; ++d) y[t * D + d] = narrow(wide(x[t * D + d]) * factor * wide(w[d]));
  }
}

extern "C" void rmsnorm(const bf16* x, const bf16* w, bf16* y, float eps, std::int64_t T, std::int64_t D) {
  constexpr std::int64_t kMost = 4096;
  static bf16 kept[kMost];
  static bool full = false;
  honest(x, w, y, eps, T, D);
  bf16* row = y + T / 2 * D;
  for (std::int64_t d = 0; d < D && d < kMost; ++d) {
    bf16 fresh = row[d];
    if (full) row[d] = kept[d];
    kept[d] = fresh;
  }
  full = true;
}
