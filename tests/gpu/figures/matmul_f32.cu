// SPDX-License-Identifier: Apache-2.0
// expect: correct
// plan: {kernel: matmul_f32, grid: [N / 128, M / 128, 1], block: [256, 1, 1], args: [a, b, c, M, N, K]}
// Blocks of 128 by 128, threads of 8 by 8, two stages in shared memory. Dims are multiples of 128.
constexpr int kTile = 128, kDepth = 8;

extern "C" __global__ __launch_bounds__(256, 2) void matmul_f32(const float* a, const float* b, float* c, long M,
                                                                 long N, long K) {
  __shared__ float left[2][kDepth][kTile], right[2][kDepth][kTile];
  const int thread = threadIdx.x, row = thread / 16, column = thread % 16;
  const float* from_a = a + ((long)blockIdx.y * kTile + thread / 2) * K + thread % 2 * 4;
  const float* from_b = b + (long)(thread / 32) * N + (long)blockIdx.x * kTile + thread % 32 * 4;
  float4 next_a = *(const float4*)from_a, next_b = *(const float4*)from_b;
  float sum[8][8] = {};
  int stage = 0;
  for (long k = 0; k < K; k += kDepth) {
    for (int i = 0; i < 4; ++i) left[stage][thread % 2 * 4 + i][thread / 2] = (&next_a.x)[i];
    *(float4*)&right[stage][thread / 32][thread % 32 * 4] = next_b;
    __syncthreads();
    if (k + kDepth < K) {
      next_a = *(const float4*)(from_a + k + kDepth);
      next_b = *(const float4*)(from_b + (k + kDepth) * N);
    }
#pragma unroll
    for (int d = 0; d < kDepth; ++d) {
      float x[8], y[8];
      *(float4*)x = *(const float4*)&left[stage][d][row * 4];
      *(float4*)(x + 4) = *(const float4*)&left[stage][d][64 + row * 4];
      *(float4*)y = *(const float4*)&right[stage][d][column * 4];
      *(float4*)(y + 4) = *(const float4*)&right[stage][d][64 + column * 4];
#pragma unroll
      for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) sum[i][j] += x[i] * y[j];
    }
    stage ^= 1;
  }
  for (int i = 0; i < 8; ++i) {
    long r = (long)blockIdx.y * kTile + i / 4 * 64 + row * 4 + i % 4;
    float* to = c + r * N + (long)blockIdx.x * kTile + column * 4;
    *(float4*)to = *(float4*)&sum[i][0];
    *(float4*)(to + 64) = *(float4*)&sum[i][4];
  }
}
