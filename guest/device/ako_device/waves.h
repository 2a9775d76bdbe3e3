// SPDX-License-Identifier: Apache-2.0
// What threads do together, on any target: shuffles of every type, reductions over groups of lanes and
// blocks.
#pragma once

namespace ako {

AKO_DEVICE i64 global_x() { return i64(block_x()) * block_size_x() + thread_x(); }
AKO_DEVICE i64 stride_x() { return i64(grid_size_x()) * block_size_x(); }
AKO_DEVICE int thread_index() {
  return (thread_z() * block_size_y() + thread_y()) * block_size_x() + thread_x();
}
AKO_DEVICE int wave_index() { return thread_index() / AKO_WAVE; }
AKO_DEVICE bool any(bool yes) { return ballot(yes) != 0; }
AKO_DEVICE bool all(bool yes) { return ballot(!yes) == 0; }

struct word_pair_bits {
  u32 w[2];
};
#define AKO_SHUFFLE(name, on_bits, parameter)                                                                \
  template <class T>                                                                                         \
  AKO_DEVICE T name(T value, int parameter) {                                                                \
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "4- and 8-byte values");                                 \
    if constexpr (sizeof(T) == 4) {                                                                          \
      return bits_as<T>(on_bits(bits_as<u32>(value), parameter));                                            \
    } else {                                                                                                 \
      auto halves = bits_as<word_pair_bits>(value);                                                          \
      return bits_as<T>(word_pair_bits{{on_bits(halves.w[0], parameter), on_bits(halves.w[1], parameter)}}); \
    }                                                                                                        \
  }
AKO_SHUFFLE(shuffle, shuffle_bits, from)
AKO_SHUFFLE(shuffle_xor, shuffle_xor_bits, mask)
AKO_SHUFFLE(shuffle_down, shuffle_down_bits, by)
AKO_SHUFFLE(shuffle_up, shuffle_up_bits, by)
#undef AKO_SHUFFLE

struct sum_of {
  template <class T>
  static AKO_MEMBER T combine(T a, T b) {
    return a + b;
  }
};
struct max_of {
  template <class T>
  static AKO_MEMBER T combine(T a, T b) {
    return max(a, b);
  }
};
struct min_of {
  template <class T>
  static AKO_MEMBER T combine(T a, T b) {
    return min(a, b);
  }
};

/// Over aligned groups of W lanes; the same in all of them. By xor, so that every lane adds in the same
/// order.
template <class How, int W, class T>
AKO_DEVICE T group_reduce(T value) {
  static_assert(W > 0 && (W & (W - 1)) == 0 && W <= AKO_WAVE, "a power of two within the wave");
  AKO_UNROLL
  for (int mask = W / 2; mask > 0; mask /= 2) value = How::combine(value, shuffle_xor(value, mask));
  return value;
}
template <int W, class T>
AKO_DEVICE T group_sum(T value) {
  return group_reduce<sum_of, W>(value);
}
template <int W, class T>
AKO_DEVICE T group_max(T value) {
  return group_reduce<max_of, W>(value);
}
template <int W, class T>
AKO_DEVICE T group_min(T value) {
  return group_reduce<min_of, W>(value);
}
template <class T>
AKO_DEVICE T wave_sum(T value) {
  return group_sum<AKO_WAVE>(value);
}
template <class T>
AKO_DEVICE T wave_max(T value) {
  return group_max<AKO_WAVE>(value);
}
template <class T>
AKO_DEVICE T wave_min(T value) {
  return group_min<AKO_WAVE>(value);
}

/// Over a block of exactly `threads`, a multiple of the wave; the same in every thread. Ends with a barrier,
/// so that it may be called again at once.
template <class How, int threads, class T>
AKO_DEVICE T block_reduce(T value) {
  static_assert(threads % AKO_WAVE == 0 && threads <= 1024, "whole waves, at most 1024 threads");
  constexpr int waves = threads / AKO_WAVE;
  value = group_reduce<How, AKO_WAVE>(value);
  if constexpr (waves > 1) {
    AKO_SHARED T partial[waves];
    if (lane() == 0) partial[wave_index()] = value;
    barrier();
    if constexpr ((waves & (waves - 1)) == 0) {  // every wave combines them all
      value = group_reduce<How, waves>(partial[lane() % waves]);
    } else {
      value = partial[0];
      AKO_UNROLL
      for (int i = 1; i < waves; ++i) value = How::combine(value, partial[i]);
    }
    barrier();
  }
  return value;
}
template <int threads, class T>
AKO_DEVICE T block_sum(T value) {
  return block_reduce<sum_of, threads>(value);
}
template <int threads, class T>
AKO_DEVICE T block_max(T value) {
  return block_reduce<max_of, threads>(value);
}
template <int threads, class T>
AKO_DEVICE T block_min(T value) {
  return block_reduce<min_of, threads>(value);
}

}  // namespace ako
