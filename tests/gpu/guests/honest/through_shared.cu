// SPDX-License-Identifier: Apache-2.0
// expect: correct
// Shared memory, written before it is read.
static __device__ float wide(unsigned short bits) { return __uint_as_float((unsigned)bits << 16); }
extern "C" __global__ void scaled_sum(const float* x, const unsigned short* y, float* z, float a, long n) {
  __shared__ float tile[256];
  for (long base = (long)blockIdx.x * 256; base < n; base += (long)gridDim.x * 256) {
    long i = base + threadIdx.x;
    if (i < n) tile[threadIdx.x] = x[i];
    __syncthreads();
    if (i < n) z[i] = a * tile[threadIdx.x] + wide(y[i]);
    __syncthreads();
  }
}
