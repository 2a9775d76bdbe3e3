// SPDX-License-Identifier: Apache-2.0
// The range of an index that no declaration gives: that of the axes which it subscripts by itself, as in
// s[q, k] = sum(d < D: Q[q, d] * K[k, d]), where q runs over Q's first axis and k over K's.
#include <fmt/format.h>

#include <algorithm>

#include "problem/evaluate.h"
#include "problem/resolver.h"

namespace ako {
namespace {

struct Use {
  const Syntax* access;
  std::size_t axis;
};

/// Accesses in which the index stands alone in a subscript. Those with a fallback may run out of range and
/// say less.
void bare_uses(const Syntax& syntax, const std::string& index, std::vector<Use>& certain,
               std::vector<Use>& loose) {
  if (syntax.kind == Syntax::Kind::access)
    for (std::size_t axis = 0; axis < syntax.args.size(); ++axis)
      if (syntax.args[axis].kind == Syntax::Kind::name && syntax.args[axis].text == index)
        (syntax.fallback.empty() ? certain : loose).push_back({&syntax, axis});
  for (const SyntaxBound& bound : syntax.bounds)
    for (const auto* parts : {&bound.lower, &bound.upper})
      for (const Syntax& part : *parts) bare_uses(part, index, certain, loose);
  for (const auto* parts : {&syntax.args, &syntax.condition, &syntax.fallback})
    for (const Syntax& part : *parts) bare_uses(part, index, certain, loose);
}

}  // namespace

ExprId Resolver::explicit_extent(const Syntax& bounded) {
  constant_only_ = true;
  ExprId extent = integer_expression(bounded.bounds[0].upper[0], "a bound");
  constant_only_ = false;
  if (extent >= 0 && bounded.bounds[0].upper_inclusive) extent = plus_one(extent, bounded.spot);
  return extent;
}

ExprId Resolver::inferred_extent(const std::string& index, const SyntaxStatement& syntax, const Spot& spot) {
  std::vector<Use> certain, loose;
  for (std::size_t axis = 0; axis < syntax.subscripts.size(); ++axis) {
    const Syntax& subscript = syntax.subscripts[axis];
    bare_uses(subscript, index, certain, loose);
    const Symbol* target = find(syntax.target);
    if (subscript.kind == Syntax::Kind::name && subscript.text == index && target &&
        target->kind == Symbol::Kind::tensor)
      return tensor(target->ref).shape[axis];
  }
  bare_uses(syntax.value, index, certain, loose);
  std::string source;
  const Syntax* missing = nullptr;  // read by the index alone, but nowhere declared
  ExprId extent = -1;
  for (const std::vector<Use>* uses : {&certain, &loose}) {
    for (const Use& use : *uses) {
      const Symbol* symbol = find(use.access->text);
      if (!symbol && !missing && use.access->text != syntax.target) missing = use.access;
      if (!symbol || symbol->kind == Symbol::Kind::broken) continue;
      if (symbol->kind != Symbol::Kind::tensor || tensor(symbol->ref).shape.size() <= use.axis) continue;
      ExprId found = tensor(symbol->ref).shape[use.axis];
      auto differs = [&](const Shape& shape) {
        return try_evaluate_integer(problem_, found, shape) != try_evaluate_integer(problem_, extent, shape);
      };
      if (extent >= 0 && std::any_of(problem_.shapes.begin(), problem_.shapes.end(), differs))
        return mistake(
            use.access->spot,
            fmt::format("the index {} runs over {} in {}, but over {} in {}", index,
                        to_text(problem_, extent), source, to_text(problem_, found), use.access->text),
            fmt::format("say which is meant: `{}[{} < {}]`, with `or 0` where it may leave a tensor",
                        syntax.target, index, to_text(problem_, found)));
      if (extent < 0) {
        extent = found;
        source = use.access->text;
      }
    }
    if (extent >= 0) return extent;
  }
  if (missing) return unknown(*missing);
  bool update = syntax.assignment != Assignment::define;
  std::string advice = fmt::format("say it: `{}[{} < …]`", syntax.target, index);
  if (update) advice = did_you_mean(index, known_names(), "use it alone as a subscript on the right: `g[t]`");
  return mistake(spot,
                 fmt::format("the range of the index {} is not clear: no tensor is subscripted by {} alone",
                             index, index),
                 std::move(advice));
}

/// Registers an undeclared tensor, with extents from explicit bounds or from use.
std::optional<TensorId> Resolver::new_temporary(const SyntaxStatement& syntax, NumberClass number) {
  Tensor temporary;
  temporary.name = syntax.target;
  temporary.type = ScalarType::f64;
  temporary.number = number;
  temporary.exact = true;
  temporary.role = TensorRole::temporary;
  temporary.line = syntax.spot.line;
  temporary.column = syntax.spot.column;
  for (const Syntax& subscript : syntax.subscripts) {
    bool bounded = subscript.kind == Syntax::Kind::bounded;
    if (!bounded && subscript.kind != Syntax::Kind::name) {
      mistake(
          subscript.spot, "the left side of `=` takes indices only",
          fmt::format("declare {} under `tensors:` to update it at computed places by `+=`", syntax.target));
      return std::nullopt;
    }
    ExprId extent =
        bounded ? explicit_extent(subscript) : inferred_extent(subscript.text, syntax, subscript.spot);
    if (extent < 0) return std::nullopt;
    temporary.shape.push_back(extent);
  }
  auto id = static_cast<TensorId>(problem_.tensors.size());
  problem_.tensors.push_back(std::move(temporary));
  symbols_[syntax.target] = {Symbol::Kind::tensor, id};
  Progress progress;
  progress.assigned_somewhere = true;
  progress_.push_back(progress);
  return id;
}

}  // namespace ako
