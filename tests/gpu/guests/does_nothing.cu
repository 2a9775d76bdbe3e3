// SPDX-License-Identifier: Apache-2.0
// expect: wrong
// Hopes that an answer is there already.
static __device__ float wide(unsigned short bits) { return __uint_as_float((unsigned)bits << 16); }
extern "C" __global__ void scaled_sum(const float* x, const unsigned short* y, float* z, float a, long n) {
}
