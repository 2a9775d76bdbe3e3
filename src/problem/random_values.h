// SPDX-License-Identifier: Apache-2.0
// Random words and the values made of them, in bulk. Every element's word is a pure function of (seed,
// stream, tensor, purpose, element), so that any part of a tensor can be made anywhere, in any order: by
// threads here, by a device.
#pragma once

#include <cstdint>
#include <span>

namespace ako {

/// What a word decides; words of different purposes are independent.
enum class Purpose : std::uint32_t {
  value = 0,      // the element's value
  low_bits = 1,   // 32 more bits where one word is too coarse
  style = 2,      // an input style's choice for the element
  row = 3,        // a choice common to a row; the element is the row's number
  row_style = 4,  // an input style's choice for the row
  shuffle = 5,    // permutations of a row, a sequence per row
};

/// Names one sequence of 32-bit words. Element e of group g = e / 64 gets word (e % 64) / 16 of the Philox
/// block whose counter is {16 g + e % 16 (64 bits, the top 16 of them tensor and purpose), stream}, under the
/// key `seed`: sixteen neighbouring blocks side by side fill 64 neighbouring elements, which suits vector
/// lanes and coalesced stores.
struct WordSequence {
  std::uint64_t seed = 0, stream = 0;
  std::uint32_t tensor = 0;  // below 4096
  Purpose purpose = Purpose::value;

  WordSequence with(Purpose other) const { return {seed, stream, tensor, other}; }
};

inline constexpr std::uint64_t kWordGroup = 64;

/// The words of elements first, first + 1, …; `first` and the size are multiples of kWordGroup.
void fill_words(const WordSequence&, std::uint64_t first, std::span<std::uint32_t> words);
/// The word of one element.
std::uint32_t word_at(const WordSequence&, std::uint64_t element);

/// Uniform in the open interval (0, 1), symmetric about one half; 2^32 different values.
inline double unit_from(std::uint32_t word) { return (static_cast<double>(word) + 0.5) * 0x1p-32; }
/// Uniform in the closed interval [0, 1] with 64 bits, rounded to fp64; `low` comes from Purpose::low_bits.
inline double fine_unit_from(std::uint32_t word, std::uint32_t low) {
  return static_cast<double>(std::uint64_t{word} << 32 | low) * 0x1p-64;
}

/// Standard normal numbers from words: the inverse of the distribution function, linear between the points of
/// a table that is 32 times finer than octaves of the tail's probability. Off by less than 1e-4; |z| stays
/// below 6.4. Each is then multiplied by `deviation` and added to `mean`, with a rounding after both.
void normals_from(std::span<const std::uint32_t> words, double mean, double deviation,
                  std::span<double> normals);

}  // namespace ako
