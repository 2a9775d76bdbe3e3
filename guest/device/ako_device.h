// SPDX-License-Identifier: Apache-2.0
// One dialect for GPU kernels: the same source compiles as CUDA (NVRTC or nvcc), as HIP (any clang, with ROCm
// or without) and as plain C++ that runs on a CPU. It is found by its name alone; no other header is needed.
//
//   #include "ako_device.h"
//   using namespace ako;
//   AKO_KERNEL(256) scale(const bf16* x, bf16* y, i64 n) {
//     for (i64 i = global_x(); i < n; i += stride_x()) y[i] = bf16(2 * float(x[i]));
//   }
//
// ---- kernels and memory ----
//   AKO_KERNEL(threads) name(…)       an extern "C" kernel for blocks of at most `threads` threads
//   AKO_KERNEL_AT_LEAST(threads, n)   the same, registers limited so that n such blocks fit a compute unit
//   AKO_DEVICE                        a function of kernels, inlined
//   AKO_SHARED float tile[64];        memory of the block, inside a kernel; not initialized
//   AKO_DYNAMIC_SHARED(float, tile)   the launch's own amount of it, aligned to 16 bytes
//   AKO_UNROLL                        before a loop
// ---- where a thread is: int; the grid's x also as i64 ----
//   thread_x() y z   block_x() y z   block_size_x() y z   grid_size_x() y z (in blocks)
//   global_x() = block_x * block_size_x + thread_x, stride_x() = all threads along x: i64
//   thread_index() in the block, x fastest; wave_index() = thread_index() / AKO_WAVE; lane()
// ---- together ----
//   barrier()  wave_barrier()  fence()                 every thread of the block, of the wave; memory order
//   on the device shuffle(v, lane) shuffle_xor(v, mask) shuffle_down(v, n) shuffle_up(v, n)   4- and 8-byte
//   values, within the wave;
//     beyond the wave's end a lane gets what is undefined. Every lane must be there.
//   ballot(bool) → u64   any(bool)   all(bool)
//   wave_sum(v) wave_max(v) wave_min(v)                over AKO_WAVE lanes, the same in all of them
//   group_sum<W>(v) …                                  over aligned groups of W lanes, W a power of two
//   block_sum<threads>(v) block_max block_min          over the block, the same in every thread; a barrier
//   inside atomic_add(p, v) → old (i32 u32 u64 f32 f64)  atomic_max atomic_min (i32 u32)  atomic_cas(p,
//   expected, v) (u32 u64)
// ---- values ----
//   i8 … i64 u8 … u64 f32 f64; bf16 f16 f8e4m3 f8e5m2 f8e4m3fnuz f8e5m2fnuz: storage, explicit from float, to
//   float f8 and its twin bf8: the flavour that the target's matrix units read (AKO_FP8_FNUZ: 1 on gfx942)
//   vec<T, N>: N elements aligned to their whole size: v[i]; load<N>(p) → vec<T, N>, store(p, v): p aligned
//   likewise, one memory instruction up to 16 bytes; load_streaming, store_streaming: for what is used once
// ---- arithmetic: always with its namespace, ako::exp(x), for f32 and f64 ----
//   to a few ulp (f64 on AMD: erf 12, pow 20): exp exp2 expm1 log log2 log1p sqrt rsqrt sin cos tan tanh sinh cosh asin acos
//   atan atan2 erf
//     pow sigmoid fma floor ceil trunc round (ties to even) abs min max (a NaN wins, as in the problem
//     language) sign is_nan is_inf floor_div floor_mod
//   as fast as the hardware, f32 only, about 2^-21 relative: fast_exp fast_exp2 fast_log fast_log2 fast_rcp
//   fast_rsqrt
//     fast_sigmoid fast_tanh fast_sin fast_cos
// ---- the target ----
//   AKO_CUDA, AKO_HIP, AKO_HOST: one is 1, the others 0. AKO_WAVE: 32, 64 or what the host says.
//   AKO_SM: 900 …; AKO_GFX: 942, 950; 0 elsewhere.
// Matrix units and asynchronous copies: ako_device/matrix.h, to be included after this.
#ifndef AKO_DEVICE_H
#define AKO_DEVICE_H

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define AKO_CUDA 1
#define AKO_HIP 0
#define AKO_HOST 0
#elif defined(__HIP__) || defined(__AMDGCN__)
#define AKO_CUDA 0
#define AKO_HIP 1
#define AKO_HOST 0
#else
#define AKO_CUDA 0
#define AKO_HIP 0
#define AKO_HOST 1
#endif

#define AKO_UNROLL _Pragma("unroll")
#define AKO_RESTRICT __restrict__

namespace ako {
typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned u32;
typedef long i64;
typedef unsigned long u64;
typedef float f32;
typedef double f64;
}  // namespace ako

#if AKO_CUDA
#include "ako_device/cuda.h"
#elif AKO_HIP
#include "ako_device/hip.h"
#else
#include "ako_device/host.h"
#endif

#include "ako_device/formats.h"
#include "ako_device/math.h"
#include "ako_device/vectors.h"
#include "ako_device/waves.h"

#endif
