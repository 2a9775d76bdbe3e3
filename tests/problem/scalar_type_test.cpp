// SPDX-License-Identifier: Apache-2.0
#include "problem/scalar_type.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>

#include "base/hash.h"
#include "base/random.h"

namespace ako {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const std::vector<ScalarType> kAllTypes = [] {
  std::vector<ScalarType> types;
  for (int i = 0; i <= static_cast<int>(ScalarType::boolean); ++i)
    types.push_back(static_cast<ScalarType>(i));
  return types;
}();
const std::vector<ScalarType> kNarrowFloats = {
    ScalarType::f16,    ScalarType::bf16,       ScalarType::f8e4m3,
    ScalarType::f8e5m2, ScalarType::f8e4m3fnuz, ScalarType::f8e5m2fnuz,
    ScalarType::f6e2m3, ScalarType::f6e3m2,     ScalarType::f4e2m1};

std::uint64_t code_count(ScalarType type) { return std::uint64_t{1} << storage_bits(type); }

/// Finite values from zero upwards, with their codes.
std::map<double, std::uint64_t> positive_values(ScalarType type) {
  std::map<double, std::uint64_t> values;
  for (std::uint64_t code = 0; code < code_count(type); ++code) {
    const double value = decode(type, code);
    if (std::isfinite(value) && !std::signbit(value)) values.emplace(value, code);
  }
  return values;
}

// The probes that ml_dtypes_tables.py describes.
std::vector<float> probes(ScalarType type) {
  std::vector<double> values;
  for (const auto& [value, code] : positive_values(type)) values.push_back(value);
  if (type == ScalarType::e8m0) values.erase(values.begin());
  std::vector<float> found;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double last_step = i + 1 < values.size() ? values[i + 1] - values[i] : values[i] - values[i - 1];
    const auto middle = static_cast<float>(values[i] + last_step / 2);
    const float inf = std::numeric_limits<float>::infinity();
    found.insert(found.end(), {static_cast<float>(values[i]), middle, std::nextafterf(middle, -inf),
                               std::nextafterf(middle, inf)});
  }
  const std::size_t positive = found.size();
  for (std::size_t i = 0; i < positive; ++i) found.push_back(-found[i]);
  const float tiny = std::numeric_limits<float>::denorm_min(), huge = std::numeric_limits<float>::max();
  const float inf = std::numeric_limits<float>::infinity();
  found.insert(found.end(),
               {0.0f, -0.0f, inf, -inf, std::numeric_limits<float>::quiet_NaN(), tiny, -tiny, huge, -huge});
  return found;
}

template <class Word>
std::string as_bytes(const std::vector<Word>& words) {
  return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof(Word)};
}

std::string hex(const std::string& bytes) {
  std::string text;
  for (unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

std::string decoded_bytes(ScalarType type) {
  std::vector<std::uint32_t> words;
  for (std::uint64_t code = 0; code < code_count(type); ++code) {
    const auto value = static_cast<float>(decode(type, code));
    words.push_back(std::isnan(value) ? 0x7FC00000u : std::bit_cast<std::uint32_t>(value));
  }
  return as_bytes(words);
}

std::string encoded_bytes(ScalarType type) {
  std::vector<std::uint16_t> wide;
  std::vector<std::uint8_t> narrow;
  for (float probe : probes(type)) {
    const std::uint64_t code = encode(type, static_cast<double>(probe));
    wide.push_back(static_cast<std::uint16_t>(code));
    narrow.push_back(static_cast<std::uint8_t>(code));
  }
  return storage_bits(type) == 16 ? as_bytes(wide) : as_bytes(narrow);
}

TEST(ScalarType, AgreesWithMlDtypesOnEveryCodeAndProbe) {
  std::ifstream table(AKO_SOURCE_DIR "/tests/problem/ml_dtypes_tables.txt");
  int compared = 0;
  for (std::string line; std::getline(table, line);) {
    if (line.starts_with("#")) continue;
    std::istringstream words(line);
    std::string name, what, expected;
    words >> name >> what >> expected;
    const ScalarType type = scalar_type_from(name).value();
    const std::string bytes = what.starts_with("decode") ? decoded_bytes(type) : encoded_bytes(type);
    const std::string got = what.ends_with("#") ? hash_text(bytes).hex() : hex(bytes);
    EXPECT_TRUE(got == expected)
        << name << " " << what << " differs at digit "
        << std::mismatch(got.begin(), got.end(), expected.begin(), expected.end()).first - got.begin();
    ++compared;
  }
  EXPECT_EQ(compared, 20);
}

TEST(ScalarType, RoundsFp64OnceToTheNearestValueTiesToEven) {
  Random random(7);
  for (ScalarType type : kNarrowFloats) {
    const auto values = positive_values(type);
    const double limit = values.rbegin()->first;
    const auto expect_nearest = [&](double x) {
      if (x > limit || x < 0) return;
      auto above = values.lower_bound(x);
      auto below = above->first == x ? above : std::prev(above);
      const double to_below = x - below->first,
                   to_above = above->first - x;  // exact, by Sterbenz or by width
      const auto nearest = to_below < to_above        ? below
                           : to_above < to_below      ? above
                           : (below->second & 1) == 0 ? below
                                                      : above;
      ASSERT_EQ(round_to(type, x), nearest->first) << name_of(type) << " " << fmt::format("{:a}", x);
      ASSERT_EQ(round_to(type, -x), -nearest->first) << name_of(type);
    };
    for (auto next = std::next(values.begin()), it = values.begin(); next != values.end(); ++it, ++next) {
      const double middle = it->first + (next->first - it->first) / 2;
      for (double x : {middle, std::nextafter(middle, 0), std::nextafter(middle, kInfinity), it->first})
        expect_nearest(x);
    }
    for (int i = 0; i < 2000; ++i)
      expect_nearest(std::ldexp(random.unit(), static_cast<int>(random.below(40)) - 30));
  }
}

TEST(ScalarType, RoundsFp32AsTheProcessorDoes) {
  Random random(11);
  for (int i = 0; i < 200000; ++i) {
    const auto value = std::bit_cast<double>(random());
    if (std::isnan(value)) continue;
    ASSERT_EQ(encode(ScalarType::f32, value), std::bit_cast<std::uint32_t>(static_cast<float>(value)))
        << value;
  }
}

TEST(ScalarType, RoundsTf32ToTenMantissaBits) {
  EXPECT_EQ(round_to(ScalarType::tf32, 1 + 0x1p-11), 1);
  EXPECT_EQ(round_to(ScalarType::tf32, 1 + 0x1p-11 + 0x1p-52), 1 + 0x1p-10);
  EXPECT_EQ(round_to(ScalarType::tf32, 1 + 3 * 0x1p-11), 1 + 0x1p-9);
  EXPECT_EQ(encode(ScalarType::tf32, -2.0), 0xC0000000u);
  EXPECT_EQ(round_to(ScalarType::tf32, 1e39), kInfinity);
}

TEST(ScalarType, EncodesWhatItDecodes) {
  for (ScalarType type : kAllTypes) {
    if (storage_bits(type) > 16 || type == ScalarType::boolean) continue;
    for (std::uint64_t code = 0; code < code_count(type); ++code) {
      const double value = decode(type, code);
      if (std::isnan(value)) continue;
      ASSERT_EQ(encode(type, value), code) << name_of(type);
    }
  }
}

TEST(ScalarType, SaturatesIntegersAndRoundsThemToEven) {
  EXPECT_EQ(round_to(ScalarType::i8, 200), 127);
  EXPECT_EQ(round_to(ScalarType::i8, -200), -128);
  EXPECT_EQ(round_to(ScalarType::u8, -3), 0);
  EXPECT_EQ(round_to(ScalarType::i32, 2.5), 2);
  EXPECT_EQ(round_to(ScalarType::i4, 7.9), 7);
  EXPECT_EQ(encode(ScalarType::i64, 1e30), 0x7FFFFFFFFFFFFFFFu);
  EXPECT_EQ(encode(ScalarType::i32, std::nan("")), 0u);
  EXPECT_EQ(round_to(ScalarType::boolean, 3), 1);
}

TEST(ScalarType, KnowsRangesAndPrecisions) {
  EXPECT_EQ(largest(ScalarType::f16), 65504);
  EXPECT_EQ(largest(ScalarType::f8e4m3), 448);
  EXPECT_EQ(largest(ScalarType::f8e4m3fnuz), 240);
  EXPECT_EQ(largest(ScalarType::f8e5m2), 57344);
  EXPECT_EQ(largest(ScalarType::f6e2m3), 7.5);
  EXPECT_EQ(largest(ScalarType::f6e3m2), 28);
  EXPECT_EQ(largest(ScalarType::f4e2m1), 6);
  EXPECT_EQ(largest(ScalarType::f32), std::numeric_limits<float>::max());
  EXPECT_EQ(largest(ScalarType::e8m0), 0x1p127);
  EXPECT_EQ(largest(ScalarType::i32), 2147483647);
  EXPECT_EQ(epsilon(ScalarType::bf16), 0x1p-7);
  EXPECT_EQ(precision_bits(ScalarType::tf32), 11);
}

TEST(ScalarType, FindsEveryNameAndRefusesOthers) {
  for (ScalarType type : kAllTypes) EXPECT_EQ(scalar_type_from(name_of(type)), type);
  EXPECT_EQ(scalar_type_from("bfloat16"), ScalarType::bf16);
  EXPECT_EQ(scalar_type_from("f33"), std::nullopt);
}

TEST(ScalarType, PacksNarrowElementsLeastSignificantFirst) {
  std::vector<std::byte> bytes(2);
  encode_array(ScalarType::i4, std::vector<double>{1, -1, 7}, bytes);
  EXPECT_EQ(bytes, (std::vector<std::byte>{std::byte{0xF1}, std::byte{0x07}}));
  bytes.assign(3, std::byte{0});
  // Codes 0x3F 0x00 0x20 0x01 of six bits each.
  encode_array(ScalarType::f6e2m3, std::vector<double>{-7.5, 0, -0.0, 0.125}, bytes);
  EXPECT_EQ(bytes, (std::vector<std::byte>{std::byte{0x3F}, std::byte{0x00}, std::byte{0x06}}));
}

TEST(ScalarType, ConvertsArraysAsItConvertsElements) {
  Random random(3);
  for (ScalarType type : kAllTypes) {
    std::vector<double> values(261);
    for (double& value : values)
      value = std::ldexp(random.unit() - 0.5, static_cast<int>(random.below(12)) - 4);
    std::vector<std::byte> bytes(static_cast<std::size_t>(storage_bytes(type, 261).count));
    encode_array(type, values, bytes);
    std::vector<double> decoded(values.size());
    decode_array(type, bytes, decoded);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double expected = round_to(type, values[i]);
      ASSERT_TRUE(decoded[i] == expected || (std::isnan(decoded[i]) && std::isnan(expected)))
          << name_of(type) << " " << i;
    }
  }
}

}  // namespace
}  // namespace ako
