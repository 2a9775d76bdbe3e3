// SPDX-License-Identifier: Apache-2.0
// Values are made as fp64 by integer arithmetic and single correctly rounded operations, then encoded to the
// tensor's type. Elementwise distributions are made in chunks that any thread can take; distributions along a
// row (sorted, permutation, ragged) row by row.
#include "problem/inputs.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

#include "problem/categorical.h"
#include "problem/input_styles.h"
#include "problem/scalar_format.h"

namespace ako {
namespace {

constexpr std::uint64_t kChunk =
    2048;  // elements; words, values and codes of a chunk stay in the first-level cache
static_assert(kChunk % kWordGroup == 0);

/// f(0) … f(count - 1) by `threads` threads, in no particular order.
template <class Function>
void for_each_piece(std::uint64_t count, int threads, Function&& f) {
  std::atomic<std::uint64_t> next{0};
  const auto work = [&] {
    for (std::uint64_t piece; (piece = next.fetch_add(1, std::memory_order_relaxed)) < count;) f(piece);
  };
  std::vector<std::jthread> others;
  for (std::uint64_t i = 1; i < std::min<std::uint64_t>(count, static_cast<std::uint64_t>(threads)); ++i)
    others.emplace_back(work);
  work();
}

struct Filling {
  const Problem& problem;
  const Shape& shape;
  InputStyle style;
  ScalarType type;
  WordSequence sequence;
  std::uint64_t count, row_length;
  int threads;

  double argument(const ValueSpec& spec, std::size_t which, double otherwise) const {
    return which < spec.args.size() ? evaluate_constant(problem, spec.args[which], shape) : otherwise;
  }
};

ValueTraits traits_of(const Filling& filling, const ValueSpec& spec) {
  const double a = filling.argument(spec, 0, 0), b = filling.argument(spec, 1, 1);
  switch (spec.distribution) {
    case Distribution::normal:
      return {.center = a, .spread = b > 0 ? b : 1};
    case Distribution::uniform:
      return {.center = (a + b) / 2, .spread = (b - a) / 2, .low = a, .high = b};
    case Distribution::adversarial:
      return {.spread = filling.argument(spec, 0, 1)};
    case Distribution::constant:
      return {.center = a, .spread = 0, .low = a, .high = a};
    case Distribution::integers:
      return {.numbers = false, .low = a, .high = b - 1};
    case Distribution::categorical:
      return {.numbers = false, .low = 0, .high = a - 1};
    case Distribution::sorted:
      return traits_of(filling, spec.inner.front());
    case Distribution::permutation:
    case Distribution::ragged:
      return {.numbers = false};
  }
  return {};
}

/// Makes the declared values of any elements of an elementwise distribution.
class ElementSource {
 public:
  ElementSource(const Filling& filling, const ValueSpec& spec)
      : distribution_(spec.distribution),
        sequence_(filling.sequence),
        row_length_(filling.row_length),
        fine_(filling.type == ScalarType::f64),
        least_(power_of_two(-1022)),
        a_(filling.argument(spec, 0, distribution_ == Distribution::adversarial ? 1 : 0)),
        b_(filling.argument(spec, 1, distribution_ == Distribution::categorical ? 0 : 1)) {
    if (filling.type != ScalarType::f64 && class_of(filling.type) == NumberClass::real)
      least_ = power_of_two(format_of(filling.type).least_exponent());
    if (distribution_ == Distribution::categorical)
      categories_.emplace(static_cast<std::uint64_t>(a_), b_, sequence_);
  }

  /// Elements first, first + 1, … of the sequence for `purpose`; `first` is a multiple of kWordGroup.
  void make(Purpose purpose, std::uint64_t first, std::span<double> values) const {
    const WordSequence sequence = sequence_.with(purpose);
    std::array<std::uint32_t, kChunk> buffer;
    const std::span words(buffer.data(), (values.size() + kWordGroup - 1) / kWordGroup * kWordGroup);
    if (distribution_ != Distribution::constant) fill_words(sequence, first, words);
    const auto each = [&](auto&& value_of) {
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = value_of(words[i]);
    };
    switch (distribution_) {
      case Distribution::constant:
        return std::fill(values.begin(), values.end(), a_);
      case Distribution::uniform:
        return uniform(purpose, first, words, values);
      case Distribution::integers:
        return integers(purpose, first, words, values);
      case Distribution::categorical:
        return each([&](std::uint32_t word) { return static_cast<double>(categories_->pick(word)); });
      case Distribution::adversarial:
        return adversarial(first, words, values);
      default:
        break;
    }
    normals_from(words.first(values.size()), a_, b_, values);
  }

 private:
  /// 32 further random bits for every element, where one word is too coarse.
  std::vector<std::uint32_t> low_words(Purpose purpose, std::uint64_t first, std::size_t size) const {
    std::vector<std::uint32_t> low(size);
    WordSequence sequence = sequence_.with(Purpose::low_bits);
    if (purpose != Purpose::value) sequence.stream = ~sequence.stream;
    fill_words(sequence, first, low);
    return low;
  }

  void uniform(Purpose purpose, std::uint64_t first, std::span<const std::uint32_t> words,
               std::span<double> values) const {
    const double width = b_ - a_;
    const std::vector<std::uint32_t> low =
        fine_ ? low_words(purpose, first, words.size()) : std::vector<std::uint32_t>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double part = width * (fine_ ? fine_unit_from(words[i], low[i]) : unit_from(words[i]));
      values[i] = a_ + part;
    }
  }

  void integers(Purpose purpose, std::uint64_t first, std::span<const std::uint32_t> words,
                std::span<double> values) const {
    const double choices = b_ - a_;
    if (choices <= 0x1p32) {
      const auto n = static_cast<std::uint64_t>(choices);
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = a_ + static_cast<double>(n * words[i] >> 32);
    } else {
      const std::vector<std::uint32_t> low = low_words(purpose, first, words.size());
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double part = choices * fine_unit_from(words[i], low[i]);
        values[i] = a_ + std::min(std::floor(part), choices - 1);
      }
    }
  }

  /// Normal values, of which one in 16 becomes zero, one in 16 a denormal and one in 128 large; one row in
  /// eight gets a large common offset, and one in eight repeats the first row.
  void adversarial(std::uint64_t first, std::span<const std::uint32_t> words,
                   std::span<double> values) const {
    normals_from(words.first(values.size()), 0, 1, values);
    std::vector<std::uint32_t> choices(words.size());
    fill_words(sequence_.with(Purpose::style), first, choices);
    std::uint64_t row_known = ~std::uint64_t{0};
    std::uint32_t row_word = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::uint64_t row = (first + i) / row_length_, column = (first + i) % row_length_;
      if (row != row_known) row_word = word_at(sequence_.with(Purpose::row_style), row_known = row);
      std::uint32_t choice = choices[i];
      double value = values[i];
      if (row_word >> 29 == 1) {
        const std::uint32_t word = word_at(sequence_, column);
        normals_from({&word, 1}, 0, 1, {&value, 1});
        choice = word_at(sequence_.with(Purpose::style), column);
      }
      value = value * a_;
      if (choice >> 28 == 0) value = 0;
      if (choice >> 28 == 1) value = value * least_ / (4 * a_);
      if (choice >> 25 == 127) value = value * 64;
      if (row_word >> 29 == 0) value = value + 64 * a_;
      values[i] = value;
    }
  }

  Distribution distribution_;
  WordSequence sequence_;
  std::uint64_t row_length_;
  bool fine_;
  double least_, a_, b_;
  std::optional<Categories> categories_;
};

/// Styled values of an elementwise distribution.
class StyledSource {
 public:
  StyledSource(const Filling& filling, const ValueSpec& spec)
      : filling_(filling), elements_(filling, spec), traits_(traits_of(filling, spec)) {}

  void make(std::uint64_t first, std::span<double> values) const {
    if (filling_.style == InputStyle::constant_rows) return repeat_along_rows(first, values);
    elements_.make(Purpose::value, first, values);
    apply_style(filling_.style, filling_.type, traits_, filling_.sequence, first, filling_.row_length,
                values);
  }

 private:
  void repeat_along_rows(std::uint64_t first, std::span<double> values) const {
    std::array<double, kWordGroup> of_rows{};
    std::uint64_t group_known = ~std::uint64_t{0};
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::uint64_t row = (first + i) / filling_.row_length, group = row / kWordGroup;
      if (group != group_known) elements_.make(Purpose::row, (group_known = group) * kWordGroup, of_rows);
      values[i] = of_rows[row % kWordGroup];
    }
  }

  const Filling& filling_;
  ElementSource elements_;
  ValueTraits traits_;
};

void fill_elements(const Filling& filling, const ValueSpec& spec, std::span<std::byte> bytes) {
  const StyledSource source(filling, spec);
  const auto chunk_bytes = static_cast<std::size_t>(storage_bytes(filling.type, kChunk).count);
  for_each_piece((filling.count + kChunk - 1) / kChunk, filling.threads, [&](std::uint64_t chunk) {
    const std::uint64_t first = chunk * kChunk;
    std::array<double, kChunk> values;
    const std::span used(values.data(), std::min(kChunk, filling.count - first));
    source.make(first, used);
    encode_array(filling.type, used, bytes.subspan(chunk * chunk_bytes));
  });
}

std::vector<double> sorted_values(const Filling& filling, const ValueSpec& spec) {
  std::vector<double> values(filling.count);
  const StyledSource source(filling, spec.inner.front());
  for_each_piece((filling.count + kChunk - 1) / kChunk, filling.threads, [&](std::uint64_t chunk) {
    const std::uint64_t first = chunk * kChunk;
    source.make(first, std::span(values).subspan(first, std::min(kChunk, filling.count - first)));
  });
  for_each_piece(filling.count / filling.row_length, filling.threads, [&](std::uint64_t row) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(row * filling.row_length);
    std::sort(begin, begin + static_cast<std::ptrdiff_t>(filling.row_length));
  });
  return values;
}

std::vector<double> permuted_rows(const Filling& filling, const ValueSpec& spec) {
  std::vector<double> values(filling.count);
  const auto n =
      static_cast<std::uint64_t>(filling.argument(spec, 0, static_cast<double>(filling.row_length)));
  for_each_piece(filling.count / filling.row_length, filling.threads, [&](std::uint64_t row) {
    const std::vector<std::uint64_t> order = shuffled(n, filling.sequence, row);
    const std::uint64_t used = std::min(n, filling.row_length);
    for (std::uint64_t i = 0; i < used; ++i)
      values[row * filling.row_length + i] = static_cast<double>(order[i]);
  });
  return values;
}

/// Every one of `total` items falls into a group drawn by the skewed distribution; the offsets are running
/// counts.
std::vector<double> ragged_offsets(const Filling& filling, const ValueSpec& spec) {
  std::vector<double> values(filling.count);
  if (filling.row_length < 2) return values;
  const std::uint64_t groups = filling.row_length - 1;
  const auto total = static_cast<std::uint64_t>(filling.argument(spec, 0, 0));
  const Categories categories(groups, filling.argument(spec, 1, 0), filling.sequence);
  for_each_piece(filling.count / filling.row_length, filling.threads, [&](std::uint64_t row) {
    std::vector<std::uint64_t> sizes(groups);
    for (std::uint64_t i = 0; i < total; ++i)
      ++sizes[categories.pick(word_at(filling.sequence, row * total + i))];
    double* const offsets = values.data() + row * filling.row_length;
    std::uint64_t end = 0;
    for (std::uint64_t g = 0; g < groups; ++g) offsets[g + 1] = static_cast<double>(end += sizes[g]);
  });
  return values;
}

int threads_for(std::uint64_t count, int threads) {
  if (threads > 0) return threads;
  constexpr std::uint64_t worth_a_thread = 1 << 18;  // elements; about a millisecond of work
  const std::uint64_t wanted = count / worth_a_thread;
  if (wanted < 2) return 1;  // how many cores there are is asked for rarely: the answer takes 20 us
  return static_cast<int>(std::min<std::uint64_t>(wanted, std::max(1u, std::thread::hardware_concurrency())));
}

}  // namespace

void generate_input(const Problem& problem, TensorId which, const Shape& shape, InputStyle style,
                    std::uint64_t seed, std::uint64_t stream, std::span<std::byte> bytes, int threads) {
  const Tensor& tensor = problem.tensor(which);
  const auto count = static_cast<std::uint64_t>(element_count(problem, tensor, shape));
  if (count == 0) return;
  const std::vector<std::int64_t> sizes = extents(problem, tensor, shape);
  const Filling filling{.problem = problem,
                        .shape = shape,
                        .style = style,
                        .type = tensor.type,
                        .sequence = {seed, stream, static_cast<std::uint32_t>(which), Purpose::value},
                        .count = count,
                        .row_length = sizes.empty() ? 1 : static_cast<std::uint64_t>(sizes.back()),
                        .threads = threads_for(count, threads)};
  const ValueSpec spec = tensor.values.value_or(ValueSpec{});
  switch (spec.distribution) {
    case Distribution::sorted:
      return encode_array(tensor.type, sorted_values(filling, spec), bytes);
    case Distribution::permutation:
      return encode_array(tensor.type, permuted_rows(filling, spec), bytes);
    case Distribution::ragged:
      return encode_array(tensor.type, ragged_offsets(filling, spec), bytes);
    default:
      return fill_elements(filling, spec, bytes);
  }
}

}  // namespace ako
