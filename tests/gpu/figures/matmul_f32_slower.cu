// SPDX-License-Identifier: Apache-2.0
// expect: correct
// plan: {kernel: matmul_f32, grid: [N / 32, M / 32, 1], block: [32, 32, 1], args: [a, b, c, M, N, K]}
// Tiles of 32 by 32, one element a thread.
extern "C" __global__ void matmul_f32(const float* a, const float* b, float* c, long M, long N, long K) {
  __shared__ float left[32][32], right[32][33];
  long row = (long)blockIdx.y * 32 + threadIdx.y, column = (long)blockIdx.x * 32 + threadIdx.x;
  float sum = 0;
  for (long k = 0; k < K; k += 32) {
    left[threadIdx.y][threadIdx.x] = a[row * K + k + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * N + column];
    __syncthreads();
    for (int d = 0; d < 32; ++d) sum += left[threadIdx.y][d] * right[d][threadIdx.x];
    __syncthreads();
  }
  c[row * N + column] = sum;
}
