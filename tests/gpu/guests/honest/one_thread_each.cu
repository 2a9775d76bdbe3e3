// SPDX-License-Identifier: Apache-2.0
// expect: correct
// plan: {kernel: scaled_sum, grid: [ceil_div(N, 256), 1, 1], block: [256, 1, 1], shared: 0, args: [x, y, z, a, N]}
// One thread for every element, the last block cut.
static __device__ float wide(unsigned short bits) { return __uint_as_float((unsigned)bits << 16); }
extern "C" __global__ void scaled_sum(const float* x, const unsigned short* y, float* z, float a, long n) {
  long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = a * x[i] + wide(y[i]);
}
