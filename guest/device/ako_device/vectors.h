// SPDX-License-Identifier: Apache-2.0
// Vectors: N elements moved together. Instructions move 4, 8 or 16 bytes; longer vectors are moved by 16.
#pragma once

namespace ako {

template <class T, int N>
struct alignas(sizeof(T) * N <= 16 ? sizeof(T) * N : 16) vec {
  T element[N];
  AKO_MEMBER T& operator[](int i) { return element[i]; }
  AKO_MEMBER const T& operator[](int i) const { return element[i]; }
};
typedef vec<f32, 2> f32x2;
typedef vec<f32, 4> f32x4;
typedef vec<f32, 8> f32x8;
typedef vec<f64, 2> f64x2;
typedef vec<bf16, 2> bf16x2;
typedef vec<bf16, 4> bf16x4;
typedef vec<bf16, 8> bf16x8;
typedef vec<f16, 2> f16x2;
typedef vec<f16, 4> f16x4;
typedef vec<f16, 8> f16x8;

/// What moves `bytes` of them at a time.
template <int bytes>
struct word_of_bytes {
  static constexpr int size = 1;
  typedef u8 type;
};
template <>
struct word_of_bytes<2> {
  typedef u16 type;
};
template <>
struct word_of_bytes<4> {
  typedef u32 type;
};
template <>
struct word_of_bytes<8> {
  typedef pair_of_words type;
};
template <>
struct word_of_bytes<16> {
  typedef quad_of_words type;
};

AKO_DEVICE u16 load_word(const u16* p) { return *p; }
AKO_DEVICE u8 load_word(const u8* p) { return *p; }
AKO_DEVICE u16 stream_in(const u16* p) { return *p; }
AKO_DEVICE u8 stream_in(const u8* p) { return *p; }
AKO_DEVICE void store_word(u16* p, u16 v) { *p = v; }
AKO_DEVICE void store_word(u8* p, u8 v) { *p = v; }
AKO_DEVICE void stream_out(u16* p, u16 v) { *p = v; }
AKO_DEVICE void stream_out(u8* p, u8 v) { *p = v; }

template <class T, int N>
struct words_of {
  static constexpr int bytes = int(sizeof(vec<T, N>));
  static constexpr int step = bytes >= 16 ? 16 : bytes;
  typedef typename word_of_bytes<step>::type word;
  struct alignas(step) image {
    word w[bytes / step];
  };
};

template <int N, class T>
AKO_DEVICE vec<T, N> load(const T* p) {
  typedef words_of<T, N> W;
  typename W::image image;
  AKO_UNROLL
  for (int i = 0; i < W::bytes / W::step; ++i)
    image.w[i] = load_word(reinterpret_cast<const typename W::word*>(p) + i);
  return bits_as<vec<T, N>>(image);
}
template <int N, class T>
AKO_DEVICE vec<T, N> load_streaming(const T* p) {
  typedef words_of<T, N> W;
  typename W::image image;
  AKO_UNROLL
  for (int i = 0; i < W::bytes / W::step; ++i)
    image.w[i] = stream_in(reinterpret_cast<const typename W::word*>(p) + i);
  return bits_as<vec<T, N>>(image);
}
template <class T, int N>
AKO_DEVICE void store(T* p, const vec<T, N>& value) {
  typedef words_of<T, N> W;
  auto image = bits_as<typename W::image>(value);
  AKO_UNROLL
  for (int i = 0; i < W::bytes / W::step; ++i)
    store_word(reinterpret_cast<typename W::word*>(p) + i, image.w[i]);
}
template <class T, int N>
AKO_DEVICE void store_streaming(T* p, const vec<T, N>& value) {
  typedef words_of<T, N> W;
  auto image = bits_as<typename W::image>(value);
  AKO_UNROLL
  for (int i = 0; i < W::bytes / W::step; ++i)
    stream_out(reinterpret_cast<typename W::word*>(p) + i, image.w[i]);
}

}  // namespace ako
