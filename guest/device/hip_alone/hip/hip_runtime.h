// SPDX-License-Identifier: Apache-2.0
// The words of HIP that kernels use most, for machines without ROCm's headers: what <hip/hip_runtime.h> gives
// device code. Kernels in ako's own dialect need only ako_device.h. Mathematical functions are those of
// ako_device/math.h.
#pragma once

#include "ako_device.h"

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define AKO_BOUNDS_1(threads) __attribute__((amdgpu_flat_work_group_size(1, threads)))
#define AKO_BOUNDS_2(threads, waves) AKO_BOUNDS_1(threads) __attribute__((amdgpu_waves_per_eu(waves)))
#define AKO_BOUNDS(threads, waves, choice, ...) choice
#define __launch_bounds__(...) AKO_BOUNDS(__VA_ARGS__, AKO_BOUNDS_2, AKO_BOUNDS_1)(__VA_ARGS__)

typedef ako::u8 uint8_t;
typedef ako::u16 uint16_t;
typedef ako::u32 uint32_t;
typedef ako::u64 uint64_t;
typedef ako::i8 int8_t;
typedef ako::i16 int16_t;
typedef ako::i32 int32_t;
typedef ako::i64 int64_t;
typedef unsigned long size_t;

namespace ako::hip {
// threadIdx.x and the like: members that ask when they are read.
#define AKO_COORDINATES(name, of)                                         \
  struct name {                                                           \
    struct X {                                                            \
      AKO_MEMBER operator unsigned() const { return unsigned(of##_x()); } \
    } x;                                                                  \
    struct Y {                                                            \
      AKO_MEMBER operator unsigned() const { return unsigned(of##_y()); } \
    } y;                                                                  \
    struct Z {                                                            \
      AKO_MEMBER operator unsigned() const { return unsigned(of##_z()); } \
    } z;                                                                  \
  };
AKO_COORDINATES(ThreadIndex, thread)
AKO_COORDINATES(BlockIndex, block)
AKO_COORDINATES(BlockSize, block_size)
AKO_COORDINATES(GridSize, grid_size)
#undef AKO_COORDINATES
}  // namespace ako::hip
#define threadIdx (ako::hip::ThreadIndex{})
#define blockIdx (ako::hip::BlockIndex{})
#define blockDim (ako::hip::BlockSize{})
#define gridDim (ako::hip::GridSize{})
#define warpSize 64

#define AKO_HIP_VECTOR(name, type, count) typedef type name##count __attribute__((ext_vector_type(count)));
#define AKO_HIP_VECTORS(name, type) \
  AKO_HIP_VECTOR(name, type, 2) AKO_HIP_VECTOR(name, type, 3) AKO_HIP_VECTOR(name, type, 4)
AKO_HIP_VECTORS(float, float)
AKO_HIP_VECTORS(double, double)
AKO_HIP_VECTORS(int, int)
AKO_HIP_VECTORS(uint, unsigned)
#undef AKO_HIP_VECTORS
#undef AKO_HIP_VECTOR

AKO_DEVICE void __syncthreads() { ako::barrier(); }
AKO_DEVICE void __threadfence() { ako::fence(); }
AKO_DEVICE unsigned long __ballot(int yes) { return ako::ballot(yes != 0); }

#define AKO_HIP_SHUFFLE(name, from)                                                   \
  template <class T>                                                                  \
  AKO_DEVICE T name(T value, int by, int width = 64) {                                \
    int here = ako::lane(), first = here & ~(width - 1), within = here & (width - 1); \
    int other = from;                                                                 \
    return ako::shuffle(value, other < 0 || other >= width ? here : first + other);   \
  }
AKO_HIP_SHUFFLE(__shfl, (by & (width - 1)) + 0 * within)
AKO_HIP_SHUFFLE(__shfl_xor, within ^ by)
AKO_HIP_SHUFFLE(__shfl_down, within + by)
AKO_HIP_SHUFFLE(__shfl_up, within - by)
#undef AKO_HIP_SHUFFLE

template <class T>
AKO_DEVICE T atomicAdd(T* at, T value) {
  return ako::atomic_add(at, value);
}
template <class T>
AKO_DEVICE T atomicMax(T* at, T value) {
  return ako::atomic_max(at, value);
}
template <class T>
AKO_DEVICE T atomicMin(T* at, T value) {
  return ako::atomic_min(at, value);
}

#define AKO_HIP_FUNCTION(name)                               \
  AKO_DEVICE float name##f(float x) { return ako::name(x); } \
  AKO_DEVICE float name(float x) { return ako::name(x); }    \
  AKO_DEVICE double name(double x) { return ako::name(x); }
AKO_HIP_FUNCTION(exp)
AKO_HIP_FUNCTION(exp2)
AKO_HIP_FUNCTION(expm1)
AKO_HIP_FUNCTION(log)
AKO_HIP_FUNCTION(log2)
AKO_HIP_FUNCTION(log1p)
AKO_HIP_FUNCTION(sqrt)
AKO_HIP_FUNCTION(rsqrt)
AKO_HIP_FUNCTION(sin)
AKO_HIP_FUNCTION(cos)
AKO_HIP_FUNCTION(tan)
AKO_HIP_FUNCTION(tanh)
AKO_HIP_FUNCTION(erf)
AKO_HIP_FUNCTION(floor)
AKO_HIP_FUNCTION(ceil)
AKO_HIP_FUNCTION(trunc)
#undef AKO_HIP_FUNCTION
AKO_DEVICE float fabsf(float x) { return ako::abs(x); }
AKO_DEVICE double fabs(double x) { return ako::abs(x); }
AKO_DEVICE float fmaf(float a, float b, float c) { return ako::fma(a, b, c); }
AKO_DEVICE double fma(double a, double b, double c) { return ako::fma(a, b, c); }
AKO_DEVICE float powf(float x, float y) { return ako::pow(x, y); }
AKO_DEVICE float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
AKO_DEVICE float fminf(float a, float b) { return __builtin_fminf(a, b); }
AKO_DEVICE float __expf(float x) { return ako::fast_exp(x); }
AKO_DEVICE float __logf(float x) { return ako::fast_log(x); }
AKO_DEVICE float __fdividef(float a, float b) { return a * ako::fast_rcp(b); }
template <class T>
AKO_DEVICE T max(T a, T b) {
  return a > b ? a : b;
}
template <class T>
AKO_DEVICE T min(T a, T b) {
  return a < b ? a : b;
}
