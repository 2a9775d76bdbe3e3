// SPDX-License-Identifier: Apache-2.0
// parse_problem: the phases in order. A phase runs only on what the ones before found sound.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "base/files.h"
#include "problem/derive.h"
#include "problem/resolver.h"
#include "problem/shapes.h"

namespace ako {
namespace {

/// The number of a tolerance entry, checked against its range.
std::optional<double> tolerance_number(const Document::Entry& entry, double low, double high,
                                       Diagnostics& diagnostics) {
  char* end = nullptr;
  double value = std::strtod(entry.value.text.c_str(), &end);
  if (!entry.value.text.empty() && *end == '\0' && value >= low && value <= high) return value;
  diagnostics.add(entry.value.spot, fmt::format("{} must be a number from {} to {}, not `{}`", entry.key.text,
                                                low, high, entry.value.text));
  return std::nullopt;
}

void read_tolerance(const Document& document, Problem& problem, Diagnostics& diagnostics) {
  Tolerance& tolerance = problem.tolerance;
  for (const Document::Entry& entry : document.tolerance) {
    const std::string& key = entry.key.text;
    if (key == "snr_db")
      tolerance.snr_db = tolerance_number(entry, 1, 300, diagnostics);
    else if (key == "rtol")
      tolerance.rtol = tolerance_number(entry, 0, 1, diagnostics);
    else if (key == "atol")
      tolerance.atol = tolerance_number(entry, 0, 1e30, diagnostics);
    else if (key == "error_ratio")
      tolerance.error_ratio = tolerance_number(entry, 1, 1e6, diagnostics);
    else if (key == "mismatches")
      tolerance.mismatches = tolerance_number(entry, 0, 0.99, diagnostics);
    else
      diagnostics.add(entry.key.spot, fmt::format("tolerance has no key `{}`", key),
                      did_you_mean(key, {"snr_db", "rtol", "atol", "error_ratio", "mismatches"},
                                   "known are snr_db, rtol, atol, error_ratio, mismatches"));
  }
  int kinds =
      tolerance.snr_db.has_value() + (tolerance.rtol || tolerance.atol) + tolerance.error_ratio.has_value();
  if (kinds > 1)
    diagnostics.add(document.tolerance_spot, "the tolerance mixes measures of error",
                    "choose one of snr_db, rtol with atol, error_ratio");
  if (tolerance.rtol.has_value() != tolerance.atol.has_value()) {
    if (!tolerance.rtol) tolerance.rtol = 0;
    if (!tolerance.atol) tolerance.atol = 0;
  }
}

/// Integers and truth values must agree exactly unless `mismatches` allows otherwise; reals need a measure.
void check_tolerance(const Document& document, const Problem& problem, Diagnostics& diagnostics) {
  const Tolerance& tolerance = problem.tolerance;
  if (tolerance.snr_db || tolerance.rtol || tolerance.error_ratio) return;
  for (const Tensor& tensor : problem.tensors)
    if ((tensor.role == TensorRole::output || tensor.role == TensorRole::inout) &&
        tensor.number == NumberClass::real)
      return diagnostics.add(
          document.tolerance_spot.line > 0 ? document.tolerance_spot : Spot{1, 1, 1},
          fmt::format("no tolerance says how exact {} must be", tensor.name),
          "add `tolerance: {snr_db: 45}` (bf16), `{snr_db: 100}` (f32), or `{rtol: 1e-5, atol: 1e-6}`");
}

constexpr int deepest_derivation = 4;

Parsed<Problem> parse(std::string_view text, const std::filesystem::path& path, int derivations);

/// Replaces a file that derives by the one it stands for.
Parsed<Problem> parse_derived(const Document& document, const std::filesystem::path& path, int derivations,
                              Diagnostics& here) {
  const Spot& spot = document.derive->of.spot;
  const auto mistakes = [&] { return std::unexpected(here.take()); };
  if (derivations >= deepest_derivation) {
    here.add(spot, fmt::format("{} derivations of derivations", derivations),
             "a problem cannot be derived from itself, nor through more than four files");
    return mistakes();
  }
  auto file = derived_from(*document.derive, path);
  if (!file) {
    here.add(spot, file.error().what, file.error().advice);
    return mistakes();
  }
  auto forward_text = read_file(*file);
  if (!forward_text) return std::unexpected(std::vector<Error>{std::move(forward_text).error()});
  Parsed<Problem> forward = parse(*forward_text, *file, derivations + 1);
  if (!forward) return forward;
  Diagnostics in_forward(forward->source, file->string());
  std::optional<std::string> text = derived_text(document, *forward, here, in_forward);
  if (!in_forward.empty()) return std::unexpected(in_forward.take());
  if (!text) return mistakes();
  Parsed<Problem> problem = parse(*text, path, derivations + 1);
  if (problem) return problem;
  for (Error& error : problem.error()) {
    error.what = fmt::format("in the problem derived from {}: {}", forward->name, error.what);
    if (error.advice.empty())
      error.advice = "the shapes, types and values given here must suit the derived math";
    error.place = Place{path.empty() ? "problem" : path.string(), spot.line, spot.column};
  }
  return problem;
}

Parsed<Problem> parse(std::string_view text, const std::filesystem::path& path, int derivations) {
  Diagnostics diagnostics(text, path.empty() ? "problem" : path.string());
  Problem problem;
  problem.source = text;
  problem.path = path;
  Document document = read_document(text, diagnostics);
  if (!diagnostics.empty() && document.tensors.empty()) return std::unexpected(diagnostics.take());
  if (document.derive) {
    if (!diagnostics.empty()) return std::unexpected(diagnostics.take());
    return parse_derived(document, path, derivations, diagnostics);
  }

  Resolver resolver(problem, diagnostics);
  resolver.declare(document);
  resolver.read_shapes(document);
  resolver.read_math(document);
  read_tolerance(document, problem, diagnostics);
  problem.math = document.math.text;
  if (diagnostics.empty()) check_tolerance(document, problem, diagnostics);

  Places places;
  for (const Document::Shape& shape : document.shapes) places.shapes.push_back(shape.spot);
  if (diagnostics.empty()) check_shapes(problem, places, diagnostics);
  if (diagnostics.empty()) check_bounds(problem, diagnostics);
  if (!diagnostics.empty()) return std::unexpected(diagnostics.take());
  problem.id = Hasher("problem/1").add(text).finish();
  return problem;
}

}  // namespace

Parsed<Problem> parse_problem(std::string_view text, const std::filesystem::path& path) {
  return parse(text, path, 0);
}

Parsed<Problem> load_problem(const std::filesystem::path& path) {
  Result<std::string> text = read_file(path);
  if (!text) return std::unexpected(std::vector<Error>{std::move(text).error()});
  return parse_problem(*text, path);
}

Parsed<Problem> with_shapes(const Problem& problem, std::string_view shapes) {
  Diagnostics diagnostics(shapes, "shape");
  Problem result = problem;
  result.shapes.clear();
  for (std::size_t begin = 0; begin <= shapes.size();) {
    std::size_t end = std::min(shapes.find(';', begin), shapes.size());
    std::vector<Document::Entry> entries;
    for (std::size_t at = begin; at < end;) {
      std::size_t stop = std::min(shapes.find(',', at), end);
      std::size_t from = std::min(shapes.find_first_not_of(' ', at), stop);
      std::string_view pair = shapes.substr(from, stop - from);
      while (pair.ends_with(' ')) pair.remove_suffix(1);
      std::size_t equals = pair.find('=');
      Spot spot{1, static_cast<int>(from) + 1, static_cast<int>(std::max<std::size_t>(pair.size(), 1))};
      if (equals == std::string_view::npos)
        diagnostics.add(spot, fmt::format("`{}` binds no dim", pair),
                        "write `T=128,D=64`, several separated by `;`");
      else
        entries.push_back(
            {{std::string(pair.substr(0, equals)), spot}, {std::string(pair.substr(equals + 1)), spot}});
      at = stop + 1;
    }
    Shape shape;
    Spot spot{1, static_cast<int>(begin) + 1, static_cast<int>(std::max<std::size_t>(end - begin, 1))};
    shape.core = shape.representative = true;
    if (diagnostics.empty()) bind_dims(result, entries, spot, shape, diagnostics);
    result.shapes.push_back(std::move(shape));
    begin = end + 1;
  }
  if (!diagnostics.empty()) return std::unexpected(diagnostics.take());
  finish_shapes(result);
  // What fails now does so on the new shapes, in the file's own lines.
  Diagnostics in_file(problem.source, problem.path.empty() ? "problem" : problem.path.string());
  check_shapes(result, {}, in_file);
  if (in_file.empty()) check_bounds(result, in_file);
  if (!in_file.empty()) return std::unexpected(in_file.take());
  return result;
}

}  // namespace ako
