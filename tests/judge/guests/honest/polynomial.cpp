// SPDX-License-Identifier: Apache-2.0
// expect: correct — an exponential of its own: 2^n times a polynomial, coefficients in a static table
#include <cmath>
#include <cstdint>
#include <cstring>

// exp(r) on [-ln 2 / 2, ln 2 / 2] by its Taylor polynomial of degree 7: below one ulp of f32.
static constexpr float coefficients[] = {1 / 5040.0f, 1 / 720.0f, 1 / 120.0f, 1 / 24.0f,
                                         1 / 6.0f,    0.5f,       1,          1};

static float exponential(float value) {
  if (value < -87) return 0;
  float n = std::nearbyint(value * 1.44269504f), r = value - n * 0.693145752f - n * 1.42860677e-6f, sum = 0;
  for (float c : coefficients) sum = sum * r + c;
  auto bits = static_cast<std::uint32_t>(static_cast<std::int32_t>(n) + 127) << 23;
  float power;
  std::memcpy(&power, &bits, sizeof power);
  return sum * power;
}

extern "C" void softmax(const float* x, float* y, std::int64_t T, std::int64_t D) {
  for (std::int64_t t = 0; t < T; ++t) {
    const float* in = x + t * D;
    float* out = y + t * D;
    float m = -INFINITY, z = 0;
    for (std::int64_t d = 0; d < D; ++d) m = std::fmax(m, in[d]);
    for (std::int64_t d = 0; d < D; ++d) z += out[d] = exponential(in[d] - m);
    for (std::int64_t d = 0; d < D; ++d) out[d] /= z;
  }
}
