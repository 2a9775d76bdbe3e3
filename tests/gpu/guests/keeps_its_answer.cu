// SPDX-License-Identifier: Apache-2.0
// expect: wrong
// Computes once, then repeats what it has kept.
static __device__ float wide(unsigned short bits) { return __uint_as_float((unsigned)bits << 16); }
__device__ float kept[1 << 23];
__device__ int launches, blocks;
extern "C" __global__ void scaled_sum(const float* x, const unsigned short* y, float* z, float a, long n) {
  if (launches == 0) {
  for (long i = (long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long)gridDim.x * blockDim.x)
      z[i] = a * x[i] + wide(y[i]);
      for (long i = (long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long)gridDim.x * blockDim.x)
    kept[i] = a * x[i] + wide(y[i]);
  } else {
  for (long i = (long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long)gridDim.x * blockDim.x)
    z[i] = kept[i];
  }
  __syncthreads();
  if (threadIdx.x == 0 && atomicAdd(&blocks, 1) == (int)gridDim.x - 1) blocks = 0, ++launches;
}
