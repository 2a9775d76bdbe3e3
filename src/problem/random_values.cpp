// SPDX-License-Identifier: Apache-2.0
// The loops here are written for vector units: lanes side by side in small arrays, no branches. They are
// compiled once per instruction set and chosen at run time; integer arithmetic and single roundings make the
// results the same.
#ifdef __GNUC__
#pragma GCC optimize("O3")
#endif
#include "problem/random_values.h"

#include <bit>

#include "base/random.h"
#include "problem/normal_table.h"

#if defined(__x86_64__) && !defined(__clang__)
#define AKO_FOR_EACH_INSTRUCTION_SET 1
#endif

namespace ako {
namespace {

constexpr int kLanes = 16;

std::uint32_t counter_top(const WordSequence& sequence) {
  return sequence.tensor << 20 | static_cast<std::uint32_t>(sequence.purpose) << 16;
}

/// Philox4x32-10 (base/random.h) on kLanes neighbouring counters at once.
[[gnu::always_inline]] inline void words_of_group(const WordSequence& sequence, std::uint64_t group,
                                                  std::uint32_t* words) {
  std::uint32_t c[4][kLanes];
  const std::uint64_t block = group * kLanes;
  for (int lane = 0; lane < kLanes; ++lane) {
    c[0][lane] = static_cast<std::uint32_t>(block) + static_cast<std::uint32_t>(lane);
    c[1][lane] = static_cast<std::uint32_t>(block >> 32) | counter_top(sequence);
    c[2][lane] = static_cast<std::uint32_t>(sequence.stream);
    c[3][lane] = static_cast<std::uint32_t>(sequence.stream >> 32);
  }
  auto key0 = static_cast<std::uint32_t>(sequence.seed),
       key1 = static_cast<std::uint32_t>(sequence.seed >> 32);
  for (int round = 0; round < 10; ++round) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const std::uint64_t a = std::uint64_t{0xD2511F53u} * c[0][lane];
      const std::uint64_t b = std::uint64_t{0xCD9E8D57u} * c[2][lane];
      c[0][lane] = static_cast<std::uint32_t>(b >> 32) ^ c[1][lane] ^ key0;
      c[1][lane] = static_cast<std::uint32_t>(b);
      c[2][lane] = static_cast<std::uint32_t>(a >> 32) ^ c[3][lane] ^ key1;
      c[3][lane] = static_cast<std::uint32_t>(a);
    }
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  for (int i = 0; i < 4; ++i)
    for (int lane = 0; lane < kLanes; ++lane) words[i * kLanes + lane] = c[i][lane];
}

[[gnu::always_inline]] inline void words_of_groups(const WordSequence& sequence, std::uint64_t first,
                                                   std::span<std::uint32_t> words) {
  for (std::size_t at = 0; at < words.size(); at += kWordGroup)
    words_of_group(sequence, (first + at) / kWordGroup, words.data() + at);
}

/// The word's top bit is the sign, the rest the tail's probability p = (m + 1/2) / 2^32. The exponent and the
/// five leading mantissa bits of m + 1/2 as a double are the segment's number.
[[gnu::always_inline]] inline void normals_of_words(const NormalTable& table, const std::uint32_t* words,
                                                    double* normals, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const double tail = static_cast<double>(static_cast<std::int32_t>(words[i] & 0x7FFFFFFFu)) + 0.5;
    const auto segment =
        static_cast<std::size_t>((std::bit_cast<std::uint64_t>(tail) >> 47) - kFirstSegmentBits);
    const double slope_part = table.slope[segment] * tail;
    const double magnitude = table.start[segment] + slope_part;
    const std::uint64_t sign = std::uint64_t{words[i] & 0x80000000u} << 32;
    normals[i] = std::bit_cast<double>(std::bit_cast<std::uint64_t>(magnitude) | sign);
  }
}

using FillWords = void (*)(const WordSequence&, std::uint64_t, std::span<std::uint32_t>);

void words_portable(const WordSequence& s, std::uint64_t first, std::span<std::uint32_t> words) {
  words_of_groups(s, first, words);
}
#ifdef AKO_FOR_EACH_INSTRUCTION_SET
[[gnu::target("avx512f")]] void words_avx512(const WordSequence& s, std::uint64_t first,
                                             std::span<std::uint32_t> words) {
  words_of_groups(s, first, words);
}
[[gnu::target("avx2")]] void words_avx2(const WordSequence& s, std::uint64_t first,
                                        std::span<std::uint32_t> words) {
  words_of_groups(s, first, words);
}
FillWords choose_words() {
  if (__builtin_cpu_supports("avx512f")) return words_avx512;
  if (__builtin_cpu_supports("avx2")) return words_avx2;
  return words_portable;
}
#else
FillWords choose_words() { return words_portable; }
#endif

}  // namespace

void fill_words(const WordSequence& sequence, std::uint64_t first, std::span<std::uint32_t> words) {
  static const FillWords fill = choose_words();
  fill(sequence, first, words);
}

std::uint32_t word_at(const WordSequence& sequence, std::uint64_t element) {
  const std::uint64_t block = element / kWordGroup * kLanes + element % kLanes;
  const auto words = philox(
      {static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32) | counter_top(sequence),
       static_cast<std::uint32_t>(sequence.stream), static_cast<std::uint32_t>(sequence.stream >> 32)},
      {static_cast<std::uint32_t>(sequence.seed), static_cast<std::uint32_t>(sequence.seed >> 32)});
  return words[element % kWordGroup / kLanes];
}

void normals_from(std::span<const std::uint32_t> words, double mean, double deviation,
                  std::span<double> normals) {
  normals_of_words(normal_table(), words.data(), normals.data(), words.size());
  for (double& value : normals) {
    const double scaled = value * deviation;
    value = scaled + mean;
  }
}

}  // namespace ako
