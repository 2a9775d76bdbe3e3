// SPDX-License-Identifier: Apache-2.0
#include "problem/input_styles.h"

#include <algorithm>
#include <array>
#include <vector>

#include "problem/scalar_format.h"

namespace ako {
namespace {

/// Words of rows, asked for in ascending order; made 64 at a time.
class RowWords {
 public:
  RowWords(const WordSequence& sequence, std::uint64_t row_length)
      : sequence_(sequence.with(Purpose::row_style)), row_length_(row_length) {}

  std::uint32_t of_element(std::uint64_t element) {
    const std::uint64_t row = element / row_length_, group = row / kWordGroup;
    if (group != group_) fill_words(sequence_, (group_ = group) * kWordGroup, words_);
    return words_[row % kWordGroup];
  }

 private:
  WordSequence sequence_;
  std::uint64_t row_length_;
  std::uint64_t group_ = ~std::uint64_t{0};
  std::array<std::uint32_t, kWordGroup> words_{};
};

/// How far values may be scaled up and down: exponents of two that leave products and sums of them inside the
/// type.
struct ScaleReach {
  int down, up, spike;
};
ScaleReach scale_reach(ScalarType type) {
  if (storage_bits(type) <= 8) return {-3, 0, 2};
  if (type == ScalarType::f16) return {-8, 2, 5};
  return {-12, 4, 8};
}

double smallest_normal(ScalarType type) {
  if (type == ScalarType::e8m0) return power_of_two(-127 + 1);
  return power_of_two(format_of(type).least_exponent());
}

/// The exponent of the ratio of a common offset to the spread about it, such that the type still resolves the
/// spread.
int offset_exponent(ScalarType type) { return std::clamp(precision_bits(type) - 5, 0, 12); }

class Styler {
 public:
  Styler(ScalarType type, const ValueTraits& traits, const WordSequence& sequence, std::uint64_t row_length)
      : type_(type), traits_(traits), sequence_(sequence), row_length_(row_length) {}

  void large_offset(std::uint64_t first, std::span<double> values) const {
    RowWords rows(sequence_, row_length_);
    const double scale = power_of_two(offset_exponent(type_));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::uint32_t word = rows.of_element(first + i);
      const bool upper = word >> 31;
      if (bounded()) {  // crowd the values together at one end of the range
        const double end = upper ? *traits_.high : *traits_.low;
        values[i] = end + (values[i] - end) / scale;
      } else {
        const double offset = traits_.spread * scale * (1 + unit_from(word << 1));
        values[i] = values[i] + (upper ? offset : -offset);
      }
    }
  }

  void tiny(std::span<double> values) const {
    if (!may_shrink()) return;
    const double typical = bounded() ? std::max(-*traits_.low, *traits_.high) : traits_.spread;
    const double factor = smallest_normal(type_) * 4 / (typical > 0 ? typical : 1);
    for (double& value : values) value = (value - shift()) * factor;
  }

  void mixed_scale(std::uint64_t first, std::span<double> values) const {
    if (!may_shrink()) return;
    const ScaleReach reach = scale_reach(type_);
    const int up = bounded() ? 0 : reach.up;
    const auto choices = static_cast<std::uint64_t>(up - reach.down + 1);
    for_each_word(first, values, [&](double& value, std::uint32_t word) {
      value = value * power_of_two(reach.down + static_cast<int>(choices * word >> 32));
    });
  }

  void spikes(std::uint64_t first, std::span<double> values) const {
    if (!may_shrink()) return;
    const double small = power_of_two(-scale_reach(type_).spike), large = bounded() ? 1 : 1 / small;
    for_each_word(first, values, [&](double& value, std::uint32_t word) {
      const bool spike = word < 0x02000000u;  // one in 128
      value = value * (spike ? large : bounded() ? small : 1);
    });
  }

 private:
  bool bounded() const { return traits_.low.has_value(); }
  /// Values scaled down stay in the range.
  bool may_shrink() const { return !bounded() || (*traits_.low <= 0 && *traits_.high >= 0); }
  double shift() const { return bounded() ? 0 : traits_.center; }

  template <class Function>
  void for_each_word(std::uint64_t first, std::span<double> values, Function&& f) const {
    std::vector<std::uint32_t> words((values.size() + kWordGroup - 1) / kWordGroup * kWordGroup);
    fill_words(sequence_.with(Purpose::style), first, words);
    for (std::size_t i = 0; i < values.size(); ++i) f(values[i], words[i]);
  }

  ScalarType type_;
  const ValueTraits& traits_;
  const WordSequence& sequence_;
  std::uint64_t row_length_;
};

}  // namespace

std::string_view name_of(InputStyle style) {
  constexpr std::string_view names[] = {"declared",      "large_offset", "tiny",  "zeros",
                                        "constant_rows", "mixed_scale",  "spikes"};
  return names[static_cast<std::size_t>(style)];
}

double ValueTraits::nearest_zero() const { return low ? std::clamp(0.0, *low, *high) : 0.0; }

void apply_style(InputStyle style, ScalarType type, const ValueTraits& traits, const WordSequence& sequence,
                 std::uint64_t first, std::uint64_t row_length, std::span<double> values) {
  if (!traits.numbers) {
    if (style == InputStyle::zeros) std::fill(values.begin(), values.end(), traits.low.value_or(0));
    return;
  }
  const Styler styler(type, traits, sequence, row_length);
  switch (style) {
    case InputStyle::declared:
    case InputStyle::constant_rows:
      return;  // the generator repeats one value along each row
    case InputStyle::large_offset:
      return styler.large_offset(first, values);
    case InputStyle::tiny:
      return styler.tiny(values);
    case InputStyle::zeros:
      return std::fill(values.begin(), values.end(), traits.nearest_zero());
    case InputStyle::mixed_scale:
      return styler.mixed_scale(first, values);
    case InputStyle::spikes:
      return styler.spikes(first, values);
  }
}

}  // namespace ako
