// SPDX-License-Identifier: Apache-2.0
// expect: wrong
// Right while it is checked, idle when it has been launched often enough.
static __device__ float wide(unsigned short bits) { return __uint_as_float((unsigned)bits << 16); }
__device__ volatile int launches;
__device__ int blocks;
extern "C" __global__ void scaled_sum(const float* x, const unsigned short* y, float* z, float a, long n) {
  if (launches < 12) {
  for (long i = (long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long)gridDim.x * blockDim.x)
    z[i] = a * x[i] + wide(y[i]);
  }
  __syncthreads();
  if (threadIdx.x == 0 && atomicAdd(&blocks, 1) == (int)gridDim.x - 1) blocks = 0, ++launches;
}
