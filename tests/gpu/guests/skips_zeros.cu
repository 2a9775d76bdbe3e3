// SPDX-License-Identifier: Apache-2.0
// expect: wrong
// Does not write where the answer would be zero.
static __device__ float wide(unsigned short bits) { return __uint_as_float((unsigned)bits << 16); }
extern "C" __global__ void scaled_sum(const float* x, const unsigned short* y, float* z, float a, long n) {
  for (long i = (long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long)gridDim.x * blockDim.x)
    if (float v = a * x[i] + wide(y[i]); fabsf(v) > 1e-30f) z[i] = v;
}
