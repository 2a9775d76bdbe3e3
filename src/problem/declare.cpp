// SPDX-License-Identifier: Apache-2.0
// Declarations: dims, scalars, tensors, the values of inputs; and, once the math is read, whether all are
// used.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "problem/grammar.h"
#include "problem/resolver.h"
#include "problem/words.h"

namespace ako {
namespace {

std::vector<std::string> type_names() {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(ScalarType::boolean); ++i)
    names.emplace_back(name_of(static_cast<ScalarType>(i)));
  return names;
}

std::vector<std::string> distribution_names() {
  std::vector<std::string> names;
  for (const DistributionForm& form : distribution_forms()) names.emplace_back(form.name);
  return names;
}

SourceText source_of(const Text& text) { return {text.text, text.spot.line, text.spot.column}; }

}  // namespace

bool Resolver::claim(const Text& name, std::string_view what, Symbol symbol) {
  if (std::string reason = why_not_a_name(name.text); !reason.empty()) {
    diagnostics_.add(name.spot, fmt::format("`{}` cannot be the name of a {}: {}", name.text, what, reason),
                     "choose another name");
    return false;
  }
  if (auto [at, fresh] = symbols_.emplace(name.text, symbol); !fresh) {
    diagnostics_.add(
        name.spot, fmt::format("{} is declared already, in line {}", name.text, declared_at_[name.text].line),
        "names of dims, tensors and scalars must differ");
    return false;
  }
  declared_at_[name.text] = name.spot;
  return true;
}

void Resolver::declare(const Document& document) {
  problem_.name = document.name.text;
  problem_.summary = document.summary.text;
  if (std::string reason = why_not_a_problem_name(problem_.name);
      !reason.empty() && document.name.spot.line > 0)
    diagnostics_.add(document.name.spot,
                     fmt::format("`{}` cannot be the name of a problem: {}", problem_.name, reason),
                     "kernels and folders are named after it: `matmul_bf16`");
  for (const Document::Entry& dim : document.dims) {
    Symbol symbol{Symbol::Kind::dim, static_cast<std::int32_t>(problem_.dims.size())};
    if (claim(dim.key, "dim", symbol)) problem_.dims.push_back({dim.key.text, dim.value.text});
  }
  for (const Document::Scalar& scalar : document.scalars) declare_scalar(scalar);
  syntax_ = parse_math(document.math, diagnostics_);
  declare_outputs(document);
  for (const Document::Tensor& declared : document.tensors) declare_tensor(declared);
  if (document.python_reference) {
    problem_.python_reference = document.python_reference->text;
    std::filesystem::path file(*problem_.python_reference);
    bool leaves = std::any_of(file.begin(), file.end(), [](const auto& part) { return part == ".."; });
    if (file.empty() || file.is_absolute() || leaves)
      diagnostics_.add(document.python_reference->spot,
                       "the reference must be a file beside the problem file",
                       "write a relative path without `..`");
    problem_.python_function = document.python_function ? document.python_function->text : problem_.name;
  }
  declare_cost(document);
}

/// Which tensors are results, the math says; without it the reference must.
void Resolver::declare_outputs(const Document& document) {
  if (!document.math.text.empty()) {
    if (!document.python_outputs.empty())
      diagnostics_.add(document.python_outputs.front().spot, "the math says already what the outputs are",
                       "remove `outputs`");
    return;
  }
  for (const Text& output : document.python_outputs) {
    bool known = std::any_of(document.tensors.begin(), document.tensors.end(),
                             [&](const Document::Tensor& tensor) { return tensor.name.text == output.text; });
    if (!known)
      diagnostics_.add(output.spot, fmt::format("there is no tensor {}", output.text), "outputs are names of tensors");
    python_outputs_.insert(output.text);
  }
  if (document.python_reference && document.python_outputs.empty())
    diagnostics_.add(document.python_reference->spot, "without math nothing says which tensors are outputs",
                     "write `reference: {python: file.py, outputs: [y]}`");
}

void Resolver::declare_cost(const Document& document) {
  if (!document.cost.empty() && !document.math.text.empty())
    return diagnostics_.add(document.cost.front().key.spot, "the math says already what the problem costs",
                            "remove `cost`");
  for (const Document::Entry& entry : document.cost) {
    std::optional<Syntax> syntax = parse_expression(source_of(entry.value), diagnostics_);
    if (!syntax) continue;
    constant_only_ = true;
    ExprId value = expression(*syntax);
    constant_only_ = false;
    if (value < 0 || !is_number(value, entry.value.spot, "a cost")) continue;
    (entry.key.text == "flops" ? problem_.declared_flops : problem_.declared_bytes) = value;
  }
}

std::optional<ScalarType> Resolver::type_named(const Text& text) {
  if (text.text.empty()) return std::nullopt;  // reported as missing
  std::optional<ScalarType> type = scalar_type_from(text.text);
  if (!type)
    diagnostics_.add(
        text.spot, fmt::format("there is no type `{}`", text.text),
        did_you_mean(text.text, type_names(), fmt::format("types are {}", fmt::join(type_names(), ", "))));
  return type;
}

void Resolver::declare_scalar(const Document::Scalar& declared) {
  std::optional<ScalarType> type = type_named(declared.type);
  Scalar scalar{declared.name.text, type.value_or(ScalarType::f32), 0};
  const std::string& text = declared.value.text;
  char* end = nullptr;
  scalar.value = std::strtod(text.c_str(), &end);
  if (text == "true" || text == "false")
    scalar.value = text == "true";
  else if (text.empty() || *end != '\0')
    diagnostics_.add(declared.value.spot, fmt::format("`{}` is not a number", text), "for example `1e-6`");
  NumberClass number = class_of(scalar.type);
  bool fits = number == NumberClass::real
                  ? std::isinf(scalar.value) || std::abs(scalar.value) <= largest(scalar.type)
                  : scalar.value == std::floor(scalar.value) && scalar.value <= largest(scalar.type) &&
                        scalar.value >= (scalar.type == ScalarType::u8 || number == NumberClass::boolean
                                             ? 0
                                             : -largest(scalar.type) - 1);
  if (type && !fits)
    diagnostics_.add(declared.value.spot, fmt::format("{} does not fit into {}", text, name_of(*type)));
  Symbol symbol{Symbol::Kind::scalar, static_cast<std::int32_t>(problem_.scalars.size())};
  if (claim(declared.name, "scalar", symbol)) problem_.scalars.push_back(std::move(scalar));
}

void Resolver::declare_tensor(const Document::Tensor& declared) {
  std::optional<ScalarType> type = type_named(declared.type);
  Tensor result;
  result.name = declared.name.text;
  result.type = type.value_or(ScalarType::f32);
  result.number = class_of(result.type);
  result.line = declared.name.spot.line;
  result.column = declared.name.spot.column;
  bool good = type.has_value();
  constant_only_ = true;
  for (const Text& extent : declared.shape) {
    std::optional<Syntax> syntax = parse_expression(source_of(extent), diagnostics_);
    ExprId value = syntax ? integer_expression(*syntax, "an extent") : -1;
    good &= value >= 0;
    result.shape.push_back(value);
  }
  constant_only_ = false;
  bool assigned = std::any_of(syntax_.begin(), syntax_.end(), [&](const SyntaxStatement& statement) {
    return statement.target == result.name;
  });
  assigned |= python_outputs_.contains(result.name);
  result.role = declared.temporary ? TensorRole::temporary
                : !assigned        ? TensorRole::input
                : declared.values  ? TensorRole::inout
                                   : TensorRole::output;
  if (declared.temporary && declared.values)
    diagnostics_.add(declared.values->spot,
                     fmt::format("{} is temporary and cannot have values", result.name),
                     "a temporary gets its values from the math");
  Symbol symbol{good ? Symbol::Kind::tensor : Symbol::Kind::broken,
                static_cast<std::int32_t>(problem_.tensors.size())};
  if (!claim(declared.name, "tensor", symbol) || !good) return;
  problem_.tensors.push_back(std::move(result));
  Progress progress;
  progress.assigned_somewhere = assigned;
  progress_.push_back(progress);
  value_texts_.push_back(declared.values);
}

void Resolver::resolve_values() {
  for (std::size_t i = 0; i < value_texts_.size(); ++i) {
    Tensor& filled = problem_.tensors[i];
    if (filled.role != TensorRole::input && filled.role != TensorRole::inout) continue;
    Spot spot{filled.line, filled.column, static_cast<int>(filled.name.size())};
    Text text{"normal(0, 1)", spot};
    if (value_texts_[i])
      text = *value_texts_[i];
    else if (filled.number != NumberClass::real) {
      diagnostics_.add(spot,
                       fmt::format("{} holds {}s and needs values", filled.name,
                                   filled.number == NumberClass::integer ? "integer" : "truth value"),
                       filled.number == NumberClass::integer ? "for example `values: \"integers(0, V)\"`"
                                                             : "for example `values: \"integers(0, 2)\"`");
      continue;
    }
    if (text.text.find('(') != std::string::npos && text.text.find(')') == std::string::npos) {
      diagnostics_.add(text.spot, "the values end before `)`: a comma ends an unquoted text between `{ }`",
                       "quote them: `values: \"normal(0, 1)\"`");
      continue;
    }
    std::optional<Syntax> syntax = parse_expression(source_of(text), diagnostics_);
    if (!syntax) continue;
    constant_only_ = true;
    filled.values = value_spec(*syntax, filled);
    constant_only_ = false;
    if (filled.values) filled.values->text = text.text;
  }
}

std::optional<ValueSpec> Resolver::value_spec(const Syntax& syntax, const Tensor& filled) {
  auto forms = distribution_forms();
  auto form =
      std::find_if(forms.begin(), forms.end(), [&](const auto& known) { return known.name == syntax.text; });
  if (syntax.kind != Syntax::Kind::call || form == forms.end()) {
    diagnostics_.add(syntax.spot, fmt::format("`{}` is no distribution of values", syntax.text),
                     did_you_mean(syntax.text, distribution_names(),
                                  fmt::format("known are {}", fmt::join(distribution_names(), ", "))));
    return std::nullopt;
  }
  int count = static_cast<int>(syntax.args.size());
  if (count < form->least || count > form->most) {
    diagnostics_.add(syntax.spot,
                     fmt::format("{} has {} argument{}", form->name, count, count == 1 ? "" : "s"),
                     fmt::format("write `{}`", form->usage));
    return std::nullopt;
  }
  bool only_real = form->distribution == Distribution::normal ||
                   form->distribution == Distribution::uniform ||
                   form->distribution == Distribution::adversarial;
  if (only_real && filled.number != NumberClass::real) {
    diagnostics_.add(
        syntax.spot,
        fmt::format("{} makes real numbers, but {} holds {}", form->name, filled.name, name_of(filled.type)),
        "use `integers(low, high)`, `categorical(n, skew)` or another for integers");
    return std::nullopt;
  }
  ValueSpec spec;
  spec.distribution = form->distribution;
  return value_arguments(syntax, filled, std::move(spec));
}

std::optional<ValueSpec> Resolver::value_arguments(const Syntax& syntax, const Tensor& filled,
                                                   ValueSpec spec) {
  if (spec.distribution == Distribution::sorted) {
    std::optional<ValueSpec> inner = value_spec(syntax.args[0], filled);
    if (!inner) return std::nullopt;
    spec.inner.push_back(std::move(*inner));
    return spec;
  }
  bool first_integer =
      spec.distribution == Distribution::integers || spec.distribution == Distribution::categorical ||
      spec.distribution == Distribution::permutation || spec.distribution == Distribution::ragged;
  auto forms = distribution_forms();
  auto form = std::find_if(forms.begin(), forms.end(),
                           [&](const auto& known) { return known.distribution == spec.distribution; });
  for (int i = 0; i < form->most; ++i) {
    auto at = static_cast<std::size_t>(i);
    ExprId value = -1;
    if (at < syntax.args.size()) {
      bool integer = first_integer && (i == 0 || spec.distribution == Distribution::integers);
      value = integer ? integer_expression(syntax.args[at], "this argument") : expression(syntax.args[at]);
      if (value >= 0 && !integer && filled.number == NumberClass::real)
        value = real_or_same(value, NumberClass::real);
      if (value >= 0 && !is_number(value, syntax.args[at].spot, "a distribution")) value = -1;
    } else {
      Expr literal;
      literal.kind = ExprKind::real_literal;
      literal.real = form->defaults[at];
      value = add(std::move(literal), syntax.spot);
    }
    if (value < 0) return std::nullopt;
    spec.args.push_back(value);
  }
  return spec;
}

void Resolver::check_use() {
  if (syntax_.empty() && problem_.python_reference) return;  // what the function uses is not seen here
  for (std::size_t i = 0; i < progress_.size(); ++i) check_tensor_use(problem_.tensors[i], progress_[i]);
  auto unused = [&](const std::string& name, std::string_view what) {
    if (symbols_[name].kind != Symbol::Kind::broken)
      diagnostics_.add(declared_at_[name], fmt::format("the {} {} is never used", what, name), "remove it");
  };
  for (const Dim& dim : problem_.dims)
    if (!dims_used_.contains(dim.name)) unused(dim.name, "dim");
  for (const Scalar& scalar : problem_.scalars)
    if (!scalars_used_.contains(scalar.name)) unused(scalar.name, "scalar");
  bool result = std::any_of(problem_.tensors.begin(), problem_.tensors.end(), [](const Tensor& one) {
    return one.role == TensorRole::output || one.role == TensorRole::inout;
  });
  if (!result && diagnostics_.empty())
    diagnostics_.add({1, 1, 1}, "the math assigns no declared tensor: the problem has no result",
                     "declare the tensor that holds the result under `tensors:`");
}

void Resolver::check_tensor_use(const Tensor& used, const Progress& progress) {
  Spot spot{used.line, used.column, static_cast<int>(used.name.size())};
  switch (used.role) {
    case TensorRole::input:
      if (!progress.read)
        diagnostics_.add(spot,
                         fmt::format("{} is declared, but the math neither reads nor assigns it", used.name),
                         "remove it, or use it");
      break;
    case TensorRole::inout:
      if (!progress.read)
        diagnostics_.add(
            spot, fmt::format("{} has values and is assigned, but its values are never read", used.name),
            "remove `values` to make it an output");
      break;
    case TensorRole::temporary:
      if (!progress.assigned_somewhere)
        diagnostics_.add(spot, fmt::format("the temporary {} is never assigned", used.name),
                         "remove it, or assign it");
      else if (!progress.read)
        diagnostics_.add(spot, fmt::format("{} is computed but never read", used.name),
                         "remove it, or declare it under `tensors:` if it is a result");
      break;
    case TensorRole::output:
      break;
  }
  if (progress.initial_axis >= 0 && !progress.initial_used)
    diagnostics_.add(progress.initial_spot,
                     fmt::format("{} has a value before its first, but no recurrence uses it", used.name),
                     fmt::format("a recurrence reads itself one step back: `{}[t-1]`", used.name));
}

}  // namespace ako
