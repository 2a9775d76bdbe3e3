// SPDX-License-Identifier: Apache-2.0
// expect: correct
// plan: {kernel: scaled_sum, grid: [528, 1, 1], block: [256, 1, 1], shared: 200000, args: [x, y, z, a, N]}
// As much dynamic shared memory as must be asked for.
static __device__ float wide(unsigned short bits) { return __uint_as_float((unsigned)bits << 16); }
extern "C" __global__ void scaled_sum(const float* x, const unsigned short* y, float* z, float a, long n) {
  extern __shared__ float tile[];
  tile[threadIdx.x + 40000] = 1;
  for (long i = (long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long)gridDim.x * blockDim.x)
    z[i] = a * x[i] * tile[threadIdx.x + 40000] + wide(y[i]);
}
