// SPDX-License-Identifier: Apache-2.0
#include "problem/shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "problem/evaluate.h"
#include "problem/resolver.h"
#include "problem/words.h"

namespace ako {
namespace {

constexpr std::int64_t largest_extent = std::int64_t{1} << 40;
constexpr double largest_bytes = 0x1p42;

std::optional<std::int64_t> integer_of(const std::string& text) {
  std::int64_t value = 0;
  auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string> dim_names(const Problem& problem) {
  std::vector<std::string> names;
  for (const Dim& dim : problem.dims) names.push_back(dim.name);
  return names;
}

std::string label_of(const Problem& problem, const Shape& shape) {
  std::string label;
  for (std::size_t i = 0; i < problem.dims.size(); ++i)
    label += fmt::format("{}{}={}", label.empty() ? "" : ",", problem.dims[i].name, shape.dims[i]);
  return label.empty() ? "only" : label;
}

/// Checks one problem on one shape.
class ShapeCheck {
 public:
  ShapeCheck(const Problem& problem, const Shape& shape, Spot shape_spot, Diagnostics& diagnostics)
      : problem_(problem), shape_(shape), shape_spot_(shape_spot), diagnostics_(diagnostics) {}

  void run() {
    double bytes = 0;
    for (const Tensor& tensor : problem_.tensors) {
      std::optional<double> count = elements(tensor);
      if (!count) return;
      bytes += *count * storage_bits(tensor.type) / 8;
      if (bytes > largest_bytes) {
        diagnostics_.add(shape_spot_,
                         fmt::format("the tensors of shape {} need more than 4 TiB", shape_.label),
                         "make the dims smaller");
        return;
      }
    }
    for (const Tensor& tensor : problem_.tensors)
      if (tensor.values) check_values(tensor, *tensor.values);
  }

 private:
  Spot spot_of(const Tensor& tensor) const {
    return {tensor.line, tensor.column, static_cast<int>(tensor.name.size())};
  }

  std::optional<double> elements(const Tensor& tensor) {
    double count = 1;
    for (ExprId extent : tensor.shape) {
      std::optional<std::int64_t> value = try_evaluate_integer(problem_, extent, shape_);
      if (!value || *value < 1 || *value > largest_extent) {
        std::string shown = value ? std::to_string(*value) : "not a number";
        diagnostics_.add(spot_of(tensor),
                         fmt::format("the extent {} of {} is {} in shape {}", to_text(problem_, extent),
                                     tensor.name, shown, shape_.label),
                         "every extent must be at least 1 and at most 2^40");
        return std::nullopt;
      }
      count *= static_cast<double>(*value);
    }
    return count;
  }

  void wrong(const Tensor& tensor, const ValueSpec& spec, std::string what, std::string advice = {}) {
    std::string in = problem_.shapes.size() > 1 ? fmt::format(" (shape {})", shape_.label) : "";
    diagnostics_.add(spot_of(tensor),
                     fmt::format("values of {}: {} {}{}", tensor.name, name_of(spec.distribution), what, in),
                     std::move(advice));
  }

  double lowest(ScalarType type) const {
    if (type == ScalarType::boolean || type == ScalarType::u8 || type == ScalarType::e8m0) return 0;
    return class_of(type) == NumberClass::integer ? -largest(type) - 1 : -largest(type);
  }

  void within_type(const Tensor& tensor, const ValueSpec& spec, double low, double high) {
    double most = tensor.type == ScalarType::boolean ? 1 : largest(tensor.type);
    if (low < lowest(tensor.type) || high > most)
      wrong(tensor, spec,
            fmt::format("reaches from {} to {}, but {} holds {} to {}", low, high, name_of(tensor.type),
                        lowest(tensor.type), most),
            "narrow the range, or choose a wider type");
  }

  void check_values(const Tensor& tensor, const ValueSpec& spec) {
    if (!spec.inner.empty()) return check_values(tensor, spec.inner[0]);
    std::vector<double> args;
    for (ExprId arg : spec.args) {
      std::optional<double> value = try_evaluate_constant(problem_, arg, shape_);
      if (!value || !std::isfinite(*value))
        return wrong(tensor, spec,
                     fmt::format("has an argument without a finite value: {}", to_text(problem_, arg)));
      args.push_back(*value);
    }
    std::optional<std::int64_t> last;
    if (!tensor.shape.empty()) last = try_evaluate_integer(problem_, tensor.shape.back(), shape_);
    check_arguments(tensor, spec, args, last);
  }

  void check_arguments(const Tensor& tensor, const ValueSpec& spec, const std::vector<double>& args,
                       std::optional<std::int64_t> last) {
    switch (spec.distribution) {
      case Distribution::normal:
        if (args[1] < 0) wrong(tensor, spec, "has a negative standard deviation");
        return within_type(tensor, spec, args[0], args[0]);
      case Distribution::uniform:
        if (args[0] >= args[1])
          wrong(tensor, spec, "has an empty range", "write `uniform(low, high)` with low < high");
        return within_type(tensor, spec, args[0], args[1]);
      case Distribution::integers:
        if (args[0] >= args[1])
          return wrong(tensor, spec, "has an empty range", "`integers(low, high)` are low <= value < high");
        return within_type(tensor, spec, args[0], args[1] - 1);
      case Distribution::categorical:
        if (args[0] < 1) return wrong(tensor, spec, "needs at least one category");
        if (args[1] < 0) wrong(tensor, spec, "has a negative skew", "0 is uniform, 1 is Zipf's law");
        return within_type(tensor, spec, 0, args[0] - 1);
      case Distribution::constant:
        return within_type(tensor, spec, args[0], args[0]);
      case Distribution::permutation:
        if (!last || static_cast<double>(*last) > args[0])
          wrong(tensor, spec,
                fmt::format("of {} numbers does not fill an axis of {}", args[0], last.value_or(1)),
                "the last axis may be at most as long as the permutation");
        return within_type(tensor, spec, 0, args[0] - 1);
      case Distribution::ragged:
        if (!last || *last < 2) wrong(tensor, spec, "needs an axis of n+1 offsets", "write `shape: [G + 1]`");
        if (args[0] < 0 || args[1] < 0) return wrong(tensor, spec, "has a negative argument");
        return within_type(tensor, spec, 0, args[0]);
      case Distribution::adversarial:
        if (args[0] <= 0) wrong(tensor, spec, "needs a positive scale");
        return;
      case Distribution::sorted:
        return;
    }
  }

  const Problem& problem_;
  const Shape& shape_;
  Spot shape_spot_;
  Diagnostics& diagnostics_;
};

}  // namespace

void bind_dims(const Problem& problem, const std::vector<Document::Entry>& entries, const Spot& spot,
               Shape& shape, Diagnostics& diagnostics) {
  shape.dims.assign(problem.dims.size(), 0);
  std::vector<bool> given(problem.dims.size(), false);
  for (const Document::Entry& entry : entries) {
    auto dim = std::find_if(problem.dims.begin(), problem.dims.end(),
                            [&](const Dim& one) { return one.name == entry.key.text; });
    if (dim == problem.dims.end()) {
      std::vector<std::string> known = dim_names(problem);
      std::string all = fmt::format("{}", fmt::join(known, ", "));
      known.insert(known.end(), {"core", "representative", "label"});
      diagnostics.add(entry.key.spot, fmt::format("`{}` is no dim", entry.key.text),
                      did_you_mean(entry.key.text, known, fmt::format("the dims are {}", all)));
      continue;
    }
    auto at = static_cast<std::size_t>(dim - problem.dims.begin());
    std::optional<std::int64_t> value = integer_of(entry.value.text);
    given[at] = true;
    shape.dims[at] = value.value_or(1);
    if (!value || *value < 1 || *value > largest_extent) {
      shape.dims[at] = 1;
      diagnostics.add(entry.value.spot, fmt::format("{} = {} is not a size", dim->name, entry.value.text),
                      "a dim is a whole number from 1 to 2^40");
    }
  }
  for (std::size_t i = 0; i < given.size(); ++i)
    if (!given[i])
      diagnostics.add(spot, fmt::format("the shape gives no value for the dim {}", problem.dims[i].name),
                      "a shape binds every dim");
}

void finish_shapes(Problem& problem) {
  for (Shape& shape : problem.shapes)
    if (shape.label.empty()) shape.label = label_of(problem, shape);
  auto representative = [](const Shape& shape) { return shape.representative; };
  auto core = [](const Shape& shape) { return shape.core; };
  std::vector<Shape>& shapes = problem.shapes;
  if (shapes.empty()) return;
  if (std::none_of(shapes.begin(), shapes.end(), representative)) {
    auto first_core = std::find_if(shapes.begin(), shapes.end(), core);
    (first_core == shapes.end() ? shapes.front() : *first_core).representative = true;
  }
  if (std::none_of(shapes.begin(), shapes.end(), core))
    for (Shape& shape : shapes) shape.core = shape.representative;
}

void Resolver::read_shapes(const Document& document) {
  for (const Document::Shape& written : document.shapes) {
    Shape shape;
    std::vector<Document::Entry> dims;
    for (const Document::Entry& entry : written.entries) {
      bool dim = find(entry.key.text) && find(entry.key.text)->kind == Symbol::Kind::dim;
      if (!dim && entry.key.text == "label") {
        shape.label = entry.value.text;
      } else if (!dim && (entry.key.text == "core" || entry.key.text == "representative")) {
        if (entry.value.text != "true" && entry.value.text != "false")
          diagnostics_.add(entry.value.spot, fmt::format("{} is `true` or `false`", entry.key.text));
        (entry.key.text == "core" ? shape.core : shape.representative) = entry.value.text == "true";
      } else {
        dims.push_back(entry);
      }
    }
    bind_dims(problem_, dims, written.spot, shape, diagnostics_);
    problem_.shapes.push_back(std::move(shape));
  }
  finish_shapes(problem_);
  for (std::size_t i = 0; i < problem_.shapes.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (problem_.shapes[i].label == problem_.shapes[j].label)
        diagnostics_.add(document.shapes[i].spot,
                         fmt::format("the shape {} is given twice", problem_.shapes[i].label),
                         "remove one, or give them labels and dims that differ");
}

void check_shapes(const Problem& problem, const Places& places, Diagnostics& diagnostics) {
  std::size_t before = diagnostics.size();
  for (std::size_t i = 0; i < problem.shapes.size(); ++i) {
    Spot spot = i < places.shapes.size() ? places.shapes[i] : Spot{};
    ShapeCheck(problem, problem.shapes[i], spot, diagnostics).run();
    if (diagnostics.size() > before) return;  // the same mistake on the next shape says nothing new
  }
}

}  // namespace ako
