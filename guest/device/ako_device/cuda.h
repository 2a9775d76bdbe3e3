// SPDX-License-Identifier: Apache-2.0
// The words of ako_device.h in CUDA. Nothing of the toolkit's headers is used: what is here is built into the
// compiler.
#pragma once

#define AKO_WAVE 32
#define AKO_GFX 0
#ifdef __CUDA_ARCH__
#define AKO_SM __CUDA_ARCH__
#else
#define AKO_SM 0
#endif
#define AKO_FP8_FNUZ 0

#define AKO_KERNEL(threads) extern "C" __global__ void __launch_bounds__(threads)
#define AKO_KERNEL_AT_LEAST(threads, blocks) extern "C" __global__ void __launch_bounds__(threads, blocks)
#define AKO_DEVICE static __device__ __forceinline__
#define AKO_MEMBER __device__ __forceinline__
#define AKO_SHARED __shared__
#define AKO_DYNAMIC_SHARED(type, name)                                \
  extern __shared__ __align__(16) unsigned char ako_dynamic_shared[]; \
  type* const name = reinterpret_cast<type*>(ako_dynamic_shared)

namespace ako {

AKO_DEVICE int thread_x() { return int(threadIdx.x); }
AKO_DEVICE int thread_y() { return int(threadIdx.y); }
AKO_DEVICE int thread_z() { return int(threadIdx.z); }
AKO_DEVICE int block_x() { return int(blockIdx.x); }
AKO_DEVICE int block_y() { return int(blockIdx.y); }
AKO_DEVICE int block_z() { return int(blockIdx.z); }
AKO_DEVICE int block_size_x() { return int(blockDim.x); }
AKO_DEVICE int block_size_y() { return int(blockDim.y); }
AKO_DEVICE int block_size_z() { return int(blockDim.z); }
AKO_DEVICE int grid_size_x() { return int(gridDim.x); }
AKO_DEVICE int grid_size_y() { return int(gridDim.y); }
AKO_DEVICE int grid_size_z() { return int(gridDim.z); }

AKO_DEVICE int lane() {
  int lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}
AKO_DEVICE void barrier() { __syncthreads(); }
AKO_DEVICE void wave_barrier() { __syncwarp(); }
AKO_DEVICE void fence() { __threadfence(); }

AKO_DEVICE u32 shuffle_bits(u32 value, int lane) { return __shfl_sync(0xffffffffu, value, lane); }
AKO_DEVICE u32 shuffle_xor_bits(u32 value, int mask) { return __shfl_xor_sync(0xffffffffu, value, mask); }
AKO_DEVICE u32 shuffle_down_bits(u32 value, int by) { return __shfl_down_sync(0xffffffffu, value, by); }
AKO_DEVICE u32 shuffle_up_bits(u32 value, int by) { return __shfl_up_sync(0xffffffffu, value, by); }
AKO_DEVICE u64 ballot(bool yes) { return __ballot_sync(0xffffffffu, yes); }

AKO_DEVICE i32 atomic_add(i32* at, i32 value) { return atomicAdd(at, value); }
AKO_DEVICE u32 atomic_add(u32* at, u32 value) { return atomicAdd(at, value); }
AKO_DEVICE u64 atomic_add(u64* at, u64 value) {
  return atomicAdd(reinterpret_cast<unsigned long long*>(at), value);
}
AKO_DEVICE i64 atomic_add(i64* at, i64 value) {
  return i64(atomicAdd(reinterpret_cast<unsigned long long*>(at), (unsigned long long)(value)));
}
AKO_DEVICE f32 atomic_add(f32* at, f32 value) { return atomicAdd(at, value); }
AKO_DEVICE f64 atomic_add(f64* at, f64 value) { return atomicAdd(at, value); }
AKO_DEVICE i32 atomic_max(i32* at, i32 value) { return atomicMax(at, value); }
AKO_DEVICE u32 atomic_max(u32* at, u32 value) { return atomicMax(at, value); }
AKO_DEVICE i32 atomic_min(i32* at, i32 value) { return atomicMin(at, value); }
AKO_DEVICE u32 atomic_min(u32* at, u32 value) { return atomicMin(at, value); }
AKO_DEVICE u32 atomic_cas(u32* at, u32 expected, u32 value) { return atomicCAS(at, expected, value); }
AKO_DEVICE u64 atomic_cas(u64* at, u64 expected, u64 value) {
  return atomicCAS(reinterpret_cast<unsigned long long*>(at), (unsigned long long)(expected),
                   (unsigned long long)(value));
}

template <class To, class From>
AKO_DEVICE To bits_as(const From& value) {
  static_assert(sizeof(To) == sizeof(From), "");
  return __builtin_bit_cast(To, value);
}

AKO_DEVICE float f16_to_float(u16 bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}
AKO_DEVICE u16 float_to_f16(float value) {
  u16 bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
AKO_DEVICE u16 float_to_bf16(float value) {
  u16 bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
/// Two at once, `low` in the lower half: one instruction.
AKO_DEVICE u32 floats_to_bf16x2(float low, float high) {
  u32 bits;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  return bits;
}
AKO_DEVICE u32 floats_to_f16x2(float low, float high) {
  u32 bits;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  return bits;
}

// Memory, by 4, 8 and 16 bytes.
struct alignas(8) pair_of_words {
  u32 w[2];
};
struct alignas(16) quad_of_words {
  u32 w[4];
};
AKO_DEVICE u32 load_word(const u32* p) { return *p; }
AKO_DEVICE pair_of_words load_word(const pair_of_words* p) {
  uint2 v = *reinterpret_cast<const uint2*>(p);
  return {{v.x, v.y}};
}
AKO_DEVICE quad_of_words load_word(const quad_of_words* p) {
  uint4 v = *reinterpret_cast<const uint4*>(p);
  return {{v.x, v.y, v.z, v.w}};
}
AKO_DEVICE void store_word(u32* p, u32 v) { *p = v; }
AKO_DEVICE void store_word(pair_of_words* p, pair_of_words v) {
  *reinterpret_cast<uint2*>(p) = make_uint2(v.w[0], v.w[1]);
}
AKO_DEVICE void store_word(quad_of_words* p, quad_of_words v) {
  *reinterpret_cast<uint4*>(p) = make_uint4(v.w[0], v.w[1], v.w[2], v.w[3]);
}
AKO_DEVICE u32 stream_in(const u32* p) {
  u32 v;
  asm volatile("ld.global.cs.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
AKO_DEVICE pair_of_words stream_in(const pair_of_words* p) {
  pair_of_words v;
  asm volatile("ld.global.cs.v2.u32 {%0, %1}, [%2];" : "=r"(v.w[0]), "=r"(v.w[1]) : "l"(p) : "memory");
  return v;
}
AKO_DEVICE quad_of_words stream_in(const quad_of_words* p) {
  quad_of_words v;
  asm volatile("ld.global.cs.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.w[0]), "=r"(v.w[1]), "=r"(v.w[2]), "=r"(v.w[3])
               : "l"(p)
               : "memory");
  return v;
}
AKO_DEVICE void stream_out(u32* p, u32 v) {
  asm volatile("st.global.cs.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
AKO_DEVICE void stream_out(pair_of_words* p, pair_of_words v) {
  asm volatile("st.global.cs.v2.u32 [%0], {%1, %2};" ::"l"(p), "r"(v.w[0]), "r"(v.w[1]) : "memory");
}
AKO_DEVICE void stream_out(quad_of_words* p, quad_of_words v) {
  asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(v.w[0]), "r"(v.w[1]), "r"(v.w[2]),
               "r"(v.w[3])
               : "memory");
}

// What the hardware does in an instruction.
AKO_DEVICE float fast_exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
AKO_DEVICE float fast_log2(float x) {
  float y;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
AKO_DEVICE float fast_rcp(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
AKO_DEVICE float fast_rsqrt(float x) {
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
AKO_DEVICE float fast_sin(float x) { return __sinf(x); }
AKO_DEVICE float fast_cos(float x) { return __cosf(x); }

}  // namespace ako
