// SPDX-License-Identifier: Apache-2.0
// The words of ako_device.h in plain C++ on a CPU, so that kernels run where there is no GPU. Blocks run one
// after the other. The threads of a block are fibers, each with a stack of its own, that run until they meet
// at a barrier or a shuffle; shared memory is static memory. What is exact about it: values, orders of
// additions, who waits for whom. What it cannot show: races between blocks, bank conflicts, speed. A kernel
// that forgets a barrier is found by running the fibers in both orders (order: 1 and -1), since in one of
// them readers run first. A barrier that some threads of the block never reach ends the program with a
// message.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

#ifndef AKO_WAVE
#define AKO_WAVE 32
#endif
#define AKO_SM 0
#define AKO_GFX 0
#define AKO_FP8_FNUZ 0

#ifndef AKO_LINKAGE  // of kernels; several sources in one translation unit want another
#define AKO_LINKAGE extern "C"
#endif
#define AKO_KERNEL(threads) AKO_LINKAGE void
#define AKO_KERNEL_AT_LEAST(threads, blocks) AKO_LINKAGE void
#define AKO_DEVICE static inline __attribute__((unused))
#define AKO_MEMBER inline
#define AKO_SHARED static
#define AKO_DYNAMIC_SHARED(type, name) \
  type* const name = reinterpret_cast<type*>(ako::emulation::block.dynamic)

namespace ako {
namespace emulation {

struct Wave {
  int alive = 0, arrived = 0;
  unsigned generation = 0;
  std::uint64_t slots[AKO_WAVE] = {};
};

/// The machine word where a fiber's registers lie, and what it waits for.
struct Fiber {
  void* stack_pointer = nullptr;
#if !defined(__x86_64__)
  ucontext_t context;
#endif
  const unsigned* waits_for = nullptr;  // a generation that must move on from `seen`
  unsigned seen = 0;
  bool done = false;
  int x = 0, y = 0, z = 0, index = 0;
};

/// The block that runs.
struct Block {
  int grid[3] = {1, 1, 1}, size[3] = {1, 1, 1}, at[3] = {0, 0, 0};
  int alive = 0, arrived = 0;
  unsigned generation = 0;
  std::vector<Fiber> fibers;
  std::vector<Wave> waves;
  std::vector<char> stacks;
  unsigned char* dynamic = nullptr;
  Fiber* running = nullptr;
  Fiber scheduler;
  void (*body)(void*) = nullptr;
  void* context = nullptr;
};
static Block block;

constexpr std::size_t stack_bytes = 64 << 10;

#if defined(__x86_64__)
// Saves the registers that a call keeps on the running stack, changes stacks, and takes them from the other.
extern "C" __attribute__((visibility("hidden"))) void ako_switch_stacks(void** from, void* to);
asm(R"(
.text
.local ako_switch_stacks
.type ako_switch_stacks, @function
ako_switch_stacks:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size ako_switch_stacks, .-ako_switch_stacks
)");
static inline void change(Fiber& from, Fiber& to) {
  ako_switch_stacks(&from.stack_pointer, to.stack_pointer);
}
#else
static inline void change(Fiber& from, Fiber& to) { swapcontext(&from.context, &to.context); }
#endif

static inline void leave() { change(*block.running, block.scheduler); }

static inline void meet(int& arrived, int alive, unsigned& generation) {
  if (++arrived == alive) {
    arrived = 0;
    ++generation;
    return;
  }
  Fiber& self = *block.running;
  self.waits_for = &generation;
  self.seen = generation;
  leave();
}
static inline Wave& wave() { return block.waves[std::size_t(block.running->index / AKO_WAVE)]; }
static inline void meet_wave() {
  Wave& w = wave();
  meet(w.arrived, w.alive, w.generation);
}

/// Threads that have returned are no longer waited for.
static inline void retire(int& arrived, int& alive, unsigned& generation) {
  --alive;
  if (alive > 0 && arrived == alive) {
    arrived = 0;
    ++generation;
  }
}

static inline void fiber_main() {
  block.body(block.context);
  Wave& w = wave();
  retire(w.arrived, w.alive, w.generation);
  retire(block.arrived, block.alive, block.generation);
  block.running->done = true;
  leave();
  std::abort();
}

static inline void prepare(Fiber& fiber, char* stack) {
#if defined(__x86_64__)
  auto* top =
      reinterpret_cast<void**>(reinterpret_cast<std::uintptr_t>(stack + stack_bytes) & ~std::uintptr_t{63});
  *--top = nullptr;  // where fiber_main would return to; also what keeps the stack aligned as after a call
  *--top = reinterpret_cast<void*>(&fiber_main);
  for (int i = 0; i < 6; ++i) *--top = nullptr;
  fiber.stack_pointer = top;
#else
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = stack;
  fiber.context.uc_stack.ss_size = stack_bytes;
  fiber.context.uc_link = nullptr;
  makecontext(&fiber.context, &fiber_main, 0);
#endif
}

static inline void begin_block() {
  const int threads = block.size[0] * block.size[1] * block.size[2];
  block.alive = threads;
  block.arrived = 0;
  block.fibers.assign(std::size_t(threads), Fiber{});
  block.waves.assign(std::size_t((threads + AKO_WAVE - 1) / AKO_WAVE), Wave{});
  block.stacks.resize(stack_bytes * std::size_t(threads));
  for (int i = 0; i < threads; ++i) {
    Fiber& fiber = block.fibers[std::size_t(i)];
    fiber.index = i;
    fiber.x = i % block.size[0];
    fiber.y = i / block.size[0] % block.size[1];
    fiber.z = i / block.size[0] / block.size[1];
    ++block.waves[std::size_t(i / AKO_WAVE)].alive;
    prepare(fiber, block.stacks.data() + stack_bytes * std::size_t(i));
  }
}

static inline void run_block(int order) {
  begin_block();
  const int threads = int(block.fibers.size());
  for (int left = threads; left > 0;) {
    bool moved = false;
    for (int i = 0; i < threads; ++i) {
      Fiber& fiber = block.fibers[std::size_t(order > 0 ? i : threads - 1 - i)];
      if (fiber.done || (fiber.waits_for != nullptr && *fiber.waits_for == fiber.seen)) continue;
      fiber.waits_for = nullptr;
      block.running = &fiber;
      change(block.scheduler, fiber);
      moved = true;
      left -= fiber.done;
    }
    if (moved) continue;
    std::fprintf(stderr, "emulation: threads of a block wait for others that wait elsewhere\n");
    std::abort();
  }
}

/// Runs `body(context)` as a kernel's thread in every thread of the grid.
static inline void launch(const int grid[3], const int size[3], std::size_t shared, int order,
                          void (*body)(void*), void* context) {
  std::memcpy(block.grid, grid, sizeof block.grid);
  std::memcpy(block.size, size, sizeof block.size);
  block.body = body;
  block.context = context;
  std::vector<unsigned char> memory(shared + 64);
  block.dynamic = memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64);
  for (block.at[2] = 0; block.at[2] < grid[2]; ++block.at[2])
    for (block.at[1] = 0; block.at[1] < grid[1]; ++block.at[1])
      for (block.at[0] = 0; block.at[0] < grid[0]; ++block.at[0]) {
        std::memset(memory.data(), 0xff, memory.size());  // what was never written reads as NaN
        run_block(order);
      }
}

}  // namespace emulation

AKO_DEVICE int thread_x() { return emulation::block.running->x; }
AKO_DEVICE int thread_y() { return emulation::block.running->y; }
AKO_DEVICE int thread_z() { return emulation::block.running->z; }
AKO_DEVICE int block_x() { return emulation::block.at[0]; }
AKO_DEVICE int block_y() { return emulation::block.at[1]; }
AKO_DEVICE int block_z() { return emulation::block.at[2]; }
AKO_DEVICE int block_size_x() { return emulation::block.size[0]; }
AKO_DEVICE int block_size_y() { return emulation::block.size[1]; }
AKO_DEVICE int block_size_z() { return emulation::block.size[2]; }
AKO_DEVICE int grid_size_x() { return emulation::block.grid[0]; }
AKO_DEVICE int grid_size_y() { return emulation::block.grid[1]; }
AKO_DEVICE int grid_size_z() { return emulation::block.grid[2]; }

AKO_DEVICE int lane() { return emulation::block.running->index % AKO_WAVE; }
AKO_DEVICE void barrier() {
  emulation::meet(emulation::block.arrived, emulation::block.alive, emulation::block.generation);
}
AKO_DEVICE void wave_barrier() { emulation::meet_wave(); }
AKO_DEVICE void fence() {}

/// A word from another lane of the wave; its own beyond the wave's ends.
AKO_DEVICE u32 shuffle_bits(u32 value, int from) {
  emulation::Wave& wave = emulation::wave();
  wave.slots[lane()] = value;
  emulation::meet_wave();
  const u32 result = from >= 0 && from < AKO_WAVE ? u32(wave.slots[from]) : value;
  emulation::meet_wave();
  return result;
}
AKO_DEVICE u32 shuffle_xor_bits(u32 value, int mask) { return shuffle_bits(value, lane() ^ mask); }
AKO_DEVICE u32 shuffle_down_bits(u32 value, int by) { return shuffle_bits(value, lane() + by); }
AKO_DEVICE u32 shuffle_up_bits(u32 value, int by) { return shuffle_bits(value, lane() - by); }
AKO_DEVICE u64 ballot(bool yes) {
  emulation::Wave& wave = emulation::wave();
  wave.slots[lane()] = yes;
  emulation::meet_wave();
  u64 result = 0;
  for (int i = 0; i < AKO_WAVE; ++i) result |= u64(wave.slots[i] != 0) << i;
  emulation::meet_wave();
  return result;
}

#define AKO_ATOMIC(type)                             \
  AKO_DEVICE type atomic_add(type* at, type value) { \
    const type old = *at;                            \
    *at += value;                                    \
    return old;                                      \
  }
AKO_ATOMIC(i32)
AKO_ATOMIC(u32)
AKO_ATOMIC(i64)
AKO_ATOMIC(u64)
AKO_ATOMIC(f32)
AKO_ATOMIC(f64)
#undef AKO_ATOMIC
#define AKO_ATOMIC(type)                             \
  AKO_DEVICE type atomic_max(type* at, type value) { \
    const type old = *at;                            \
    if (value > old) *at = value;                    \
    return old;                                      \
  }                                                  \
  AKO_DEVICE type atomic_min(type* at, type value) { \
    const type old = *at;                            \
    if (value < old) *at = value;                    \
    return old;                                      \
  }
AKO_ATOMIC(i32)
AKO_ATOMIC(u32)
#undef AKO_ATOMIC
#define AKO_ATOMIC(type)                                            \
  AKO_DEVICE type atomic_cas(type* at, type expected, type value) { \
    const type old = *at;                                           \
    if (old == expected) *at = value;                               \
    return old;                                                     \
  }
AKO_ATOMIC(u32)
AKO_ATOMIC(u64)
#undef AKO_ATOMIC

template <class To, class From>
AKO_DEVICE To bits_as(const From& value) {
  static_assert(sizeof(To) == sizeof(From), "");
  return __builtin_bit_cast(To, value);
}

AKO_DEVICE float f16_to_float(u16 bits) { return float(bits_as<_Float16>(bits)); }
AKO_DEVICE u16 float_to_f16(float value) { return bits_as<u16>(_Float16(value)); }
AKO_DEVICE u16 float_to_bf16(float value) {
  const u32 bits = bits_as<u32>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return u16(bits >> 16 | 0x40);
  return u16((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}
AKO_DEVICE u32 floats_to_bf16x2(float low, float high) {
  return u32(float_to_bf16(low)) | u32(float_to_bf16(high)) << 16;
}
AKO_DEVICE u32 floats_to_f16x2(float low, float high) {
  return u32(float_to_f16(low)) | u32(float_to_f16(high)) << 16;
}

struct alignas(8) pair_of_words {
  u32 w[2];
};
struct alignas(16) quad_of_words {
  u32 w[4];
};
#define AKO_MEMORY(type)                                            \
  AKO_DEVICE type load_word(const type* p) {                        \
    type v;                                                         \
    emulation::check_alignment(p, sizeof v);                        \
    std::memcpy(&v, p, sizeof v);                                   \
    return v;                                                       \
  }                                                                 \
  AKO_DEVICE void store_word(type* p, type v) {                     \
    emulation::check_alignment(p, sizeof v);                        \
    std::memcpy(static_cast<void*>(p), &v, sizeof v);               \
  }                                                                 \
  AKO_DEVICE type stream_in(const type* p) { return load_word(p); } \
  AKO_DEVICE void stream_out(type* p, type v) { store_word(p, v); }
namespace emulation {
static inline void check_alignment(const void* p, std::size_t size) {
  if (reinterpret_cast<std::uintptr_t>(p) % size == 0) return;
  std::fprintf(stderr, "emulation: an access of %zu bytes is not aligned\n", size);
  std::abort();
}
}  // namespace emulation
AKO_MEMORY(u32)
AKO_MEMORY(pair_of_words)
AKO_MEMORY(quad_of_words)
#undef AKO_MEMORY

AKO_DEVICE float fast_exp2(float x) { return __builtin_exp2f(x); }
AKO_DEVICE float fast_log2(float x) { return __builtin_log2f(x); }
AKO_DEVICE float fast_rcp(float x) { return 1 / x; }
AKO_DEVICE float fast_rsqrt(float x) { return 1 / __builtin_sqrtf(x); }
AKO_DEVICE float fast_sin(float x) { return __builtin_sinf(x); }
AKO_DEVICE float fast_cos(float x) { return __builtin_cosf(x); }

}  // namespace ako
