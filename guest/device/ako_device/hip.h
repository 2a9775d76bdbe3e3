// SPDX-License-Identifier: Apache-2.0
// The words of ako_device.h in HIP, by clang's builtins alone: neither HIP's headers nor device libraries are
// needed, and either may be there. (LLVM, "User Guide for AMDGPU Backend", code object version 5: implicit
// arguments.)
#pragma once

#define AKO_WAVE 64
#define AKO_SM 0
#if defined(__gfx942__)
#define AKO_GFX 942
#elif defined(__gfx950__)
#define AKO_GFX 950
#else
#define AKO_GFX 0
#endif
#define AKO_FP8_FNUZ (AKO_GFX == 942)

#define AKO_GLOBAL __attribute__((global))
#define AKO_MEMBER __attribute__((device, always_inline)) inline
#define AKO_DEVICE static __attribute__((device, always_inline)) inline
#define AKO_KERNEL(threads) extern "C" __attribute__((global, amdgpu_flat_work_group_size(1, threads))) void
// A block of `threads` has threads / 64 waves, a compute unit four SIMDs: so many waves share a SIMD.
#define AKO_KERNEL_AT_LEAST(threads, blocks)                                 \
  extern "C" __attribute__((global, amdgpu_flat_work_group_size(1, threads), \
                            amdgpu_waves_per_eu(((threads) * (blocks) + 255) / 256))) void
#define AKO_SHARED __attribute__((shared))
#define AKO_DYNAMIC_SHARED(type, name)                                                            \
  extern __attribute__((shared)) __attribute__((aligned(16))) unsigned char ako_dynamic_shared[]; \
  type* const name = reinterpret_cast<type*>(ako_dynamic_shared)

namespace ako {

AKO_DEVICE int thread_x() { return int(__builtin_amdgcn_workitem_id_x()); }
AKO_DEVICE int thread_y() { return int(__builtin_amdgcn_workitem_id_y()); }
AKO_DEVICE int thread_z() { return int(__builtin_amdgcn_workitem_id_z()); }
AKO_DEVICE int block_x() { return int(__builtin_amdgcn_workgroup_id_x()); }
AKO_DEVICE int block_y() { return int(__builtin_amdgcn_workgroup_id_y()); }
AKO_DEVICE int block_z() { return int(__builtin_amdgcn_workgroup_id_z()); }
// hidden_block_count_{x,y,z}: 32 bits each from offset 0; hidden_group_size_{x,y,z}: 16 bits each from 12.
template <class T>
AKO_DEVICE int implicit_argument(int offset) {
  auto base = (const __attribute__((address_space(4))) char*)__builtin_amdgcn_implicitarg_ptr();
  return int(*(const __attribute__((address_space(4))) T*)(base + offset));
}
AKO_DEVICE int grid_size_x() { return implicit_argument<u32>(0); }
AKO_DEVICE int grid_size_y() { return implicit_argument<u32>(4); }
AKO_DEVICE int grid_size_z() { return implicit_argument<u32>(8); }
AKO_DEVICE int block_size_x() { return implicit_argument<u16>(12); }
AKO_DEVICE int block_size_y() { return implicit_argument<u16>(14); }
AKO_DEVICE int block_size_z() { return implicit_argument<u16>(16); }

AKO_DEVICE int lane() { return int(__builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u))); }
AKO_DEVICE void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
AKO_DEVICE void wave_barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
AKO_DEVICE void fence() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }

AKO_DEVICE u32 shuffle_bits(u32 value, int from) {
  return u32(__builtin_amdgcn_ds_bpermute(from << 2, int(value)));
}
AKO_DEVICE u32 shuffle_xor_bits(u32 value, int mask) { return shuffle_bits(value, lane() ^ mask); }
AKO_DEVICE u32 shuffle_down_bits(u32 value, int by) { return shuffle_bits(value, lane() + by); }
AKO_DEVICE u32 shuffle_up_bits(u32 value, int by) { return shuffle_bits(value, lane() - by); }
AKO_DEVICE u64 ballot(bool yes) { return __builtin_amdgcn_ballot_w64(yes); }

#define AKO_ATOMIC(name, type, operation)                                    \
  AKO_DEVICE type name(type* at, type value) {                               \
    return operation(at, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); \
  }
AKO_ATOMIC(atomic_add, i32, __hip_atomic_fetch_add)
AKO_ATOMIC(atomic_add, u32, __hip_atomic_fetch_add)
AKO_ATOMIC(atomic_add, i64, __hip_atomic_fetch_add)
AKO_ATOMIC(atomic_add, u64, __hip_atomic_fetch_add)
AKO_ATOMIC(atomic_add, f32, __hip_atomic_fetch_add)
AKO_ATOMIC(atomic_add, f64, __hip_atomic_fetch_add)
AKO_ATOMIC(atomic_max, i32, __hip_atomic_fetch_max)
AKO_ATOMIC(atomic_max, u32, __hip_atomic_fetch_max)
AKO_ATOMIC(atomic_min, i32, __hip_atomic_fetch_min)
AKO_ATOMIC(atomic_min, u32, __hip_atomic_fetch_min)
#undef AKO_ATOMIC
template <class T>
AKO_DEVICE T compare_and_swap(T* at, T expected, T value) {
  __hip_atomic_compare_exchange_strong(at, &expected, value, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                       __HIP_MEMORY_SCOPE_AGENT);
  return expected;
}
AKO_DEVICE u32 atomic_cas(u32* at, u32 expected, u32 value) { return compare_and_swap(at, expected, value); }
AKO_DEVICE u64 atomic_cas(u64* at, u64 expected, u64 value) { return compare_and_swap(at, expected, value); }

template <class To, class From>
AKO_DEVICE To bits_as(const From& value) {
  return __builtin_bit_cast(To, value);
}

AKO_DEVICE float f16_to_float(u16 bits) { return float(bits_as<_Float16>(bits)); }
AKO_DEVICE u16 float_to_f16(float value) { return bits_as<u16>(_Float16(value)); }
/// gfx950 converts in an instruction; clang finds it in the type's own conversion.
AKO_DEVICE u16 float_to_bf16(float value) {
#if AKO_GFX == 950
  return bits_as<u16>(__bf16(value));
#else
  u32 bits = bits_as<u32>(value);
  u32 rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
  return u16((bits & 0x7FFFFFFF) > 0x7F800000 ? bits >> 16 | 0x40 : rounded);
#endif
}
AKO_DEVICE u32 floats_to_bf16x2(float low, float high) {
  return u32(float_to_bf16(low)) | u32(float_to_bf16(high)) << 16;
}
AKO_DEVICE u32 floats_to_f16x2(float low, float high) {
  return u32(float_to_f16(low)) | u32(float_to_f16(high)) << 16;
}

typedef u32 pair_of_words_bits __attribute__((ext_vector_type(2)));
typedef u32 quad_of_words_bits __attribute__((ext_vector_type(4)));
struct pair_of_words {
  pair_of_words_bits w;
};
struct quad_of_words {
  quad_of_words_bits w;
};
AKO_DEVICE u32 load_word(const u32* p) { return *p; }
AKO_DEVICE pair_of_words load_word(const pair_of_words* p) { return *p; }
AKO_DEVICE quad_of_words load_word(const quad_of_words* p) { return *p; }
AKO_DEVICE void store_word(u32* p, u32 v) { *p = v; }
AKO_DEVICE void store_word(pair_of_words* p, pair_of_words v) { *p = v; }
AKO_DEVICE void store_word(quad_of_words* p, quad_of_words v) { *p = v; }
AKO_DEVICE u32 stream_in(const u32* p) { return __builtin_nontemporal_load(p); }
AKO_DEVICE pair_of_words stream_in(const pair_of_words* p) { return {__builtin_nontemporal_load(&p->w)}; }
AKO_DEVICE quad_of_words stream_in(const quad_of_words* p) { return {__builtin_nontemporal_load(&p->w)}; }
AKO_DEVICE void stream_out(u32* p, u32 v) { __builtin_nontemporal_store(v, p); }
AKO_DEVICE void stream_out(pair_of_words* p, pair_of_words v) { __builtin_nontemporal_store(v.w, &p->w); }
AKO_DEVICE void stream_out(quad_of_words* p, quad_of_words v) { __builtin_nontemporal_store(v.w, &p->w); }

AKO_DEVICE float fast_exp2(float x) { return __builtin_amdgcn_exp2f(x); }
AKO_DEVICE float fast_log2(float x) { return __builtin_amdgcn_logf(x); }
AKO_DEVICE float fast_rcp(float x) { return __builtin_amdgcn_rcpf(x); }
AKO_DEVICE float fast_rsqrt(float x) { return __builtin_amdgcn_rsqf(x); }
// The hardware's unit is the turn.
AKO_DEVICE float fast_sin(float x) { return __builtin_amdgcn_sinf(__builtin_amdgcn_fractf(x * 0.15915494f)); }
AKO_DEVICE float fast_cos(float x) { return __builtin_amdgcn_cosf(__builtin_amdgcn_fractf(x * 0.15915494f)); }

}  // namespace ako
