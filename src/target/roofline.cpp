// SPDX-License-Identifier: Apache-2.0
// The roofline of Williams, Waterman and Patterson ("Roofline: an insightful visual performance model", CACM
// 2009): no kernel is faster than its compulsory traffic at the memory's bandwidth, nor than its arithmetic
// at the peak.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "target/facts.h"

namespace ako {
namespace {

std::optional<double> peak_of(const TargetFacts& facts, ScalarType type) {
  auto peak = facts.fact(fmt::format("peak_flops_{}", name_of(type)));
  return peak ? peak : facts.fact("peak_flops_f32");
}

/// Traffic may be all reads, which some memories serve faster than a copy.
std::optional<double> bandwidth_of(const TargetFacts& facts) {
  auto copy = facts.fact("copy_bandwidth_bytes_per_s");
  auto read = facts.fact("read_bandwidth_bytes_per_s");
  if (copy && read) return std::max(*copy, *read);
  return copy ? copy : read;
}

/// Matrix or dot-product units serve contractions only: the rest runs in at least f32.
std::optional<double> compute_seconds(const Cost& cost, const TargetFacts& facts, ScalarType type) {
  auto contraction = peak_of(facts, type);
  auto rest = peak_of(facts, type == ScalarType::f64 ? ScalarType::f64 : ScalarType::f32);
  if (!contraction || !rest || *contraction <= 0 || *rest <= 0) return std::nullopt;
  return cost.contraction_flops / *contraction + std::max(0.0, cost.flops - cost.contraction_flops) / *rest;
}

}  // namespace

Roofline roofline(const Cost& cost, const TargetFacts& facts, ScalarType type) {
  auto bandwidth = bandwidth_of(facts);
  auto compute = compute_seconds(cost, facts, type);
  if (!bandwidth || *bandwidth <= 0 || !compute) return {Microseconds{0}, "unknown"};
  Seconds memory{static_cast<double>(cost.compulsory.count) / *bandwidth};
  Seconds arithmetic{*compute};
  return memory >= arithmetic ? Roofline{memory, "memory"} : Roofline{arithmetic, "compute"};
}

namespace {

/// Looks for the statement with the most work, and in it for a sum of products.
class HeaviestStatement {
 public:
  explicit HeaviestStatement(const Problem& problem) : problem_(problem) {}

  ScalarType arithmetic_type() const {
    const Statement* heaviest = nullptr;
    double most = -1;
    for (const Statement& statement : problem_.statements)
      if (double work = log_iterations(statement); work > most) {
        most = work;
        heaviest = &statement;
      }
    if (!heaviest) return ScalarType::f32;
    if (auto contraction = contraction_in(heaviest->value))
      return widest(operands(*contraction), ScalarType::f8e4m3);
    return widest(accesses(heaviest->value), ScalarType::f32);
  }

 private:
  /// Of one range on the first shape; a bound that depends on other indices counts as the largest dim.
  double log_extent(const Range& range) const {
    if (problem_.shapes.empty()) return 1;
    const Shape& shape = problem_.shapes.front();
    double largest = 1;
    for (std::int64_t dim : shape.dims) largest = std::max(largest, static_cast<double>(dim));
    if (has_index(range.lower) || has_index(range.upper)) return std::log(largest);
    auto extent =
        evaluate_integer(problem_, range.upper, shape) - evaluate_integer(problem_, range.lower, shape);
    return std::log(std::max<double>(1, static_cast<double>(extent)));
  }
  double log_iterations(const Statement& statement) const {
    double sum = log_inner(statement.value);
    for (const Range& range : statement.indices) sum += log_extent(range);
    return sum;
  }
  double log_inner(ExprId id) const {
    const Expr& expr = problem_.expr(id);
    double most = 0;
    for (ExprId argument : expr.args) most = std::max(most, log_inner(argument));
    if (expr.kind == ExprKind::reduce)
      for (const Range& range : expr.bounds) most += log_extent(range);
    return most;
  }
  bool has_index(ExprId id) const {
    const Expr& expr = problem_.expr(id);
    return expr.kind == ExprKind::index || expr.kind == ExprKind::access || expr.kind == ExprKind::reduce ||
           std::any_of(expr.args.begin(), expr.args.end(),
                       [&](ExprId argument) { return has_index(argument); });
  }

  std::optional<ExprId> contraction_in(ExprId id) const {
    const Expr& expr = problem_.expr(id);
    if (expr.kind == ExprKind::reduce && expr.reduce == ReduceOp::sum && operands(id).size() >= 2) return id;
    for (ExprId argument : expr.args)
      if (auto found = contraction_in(argument)) return found;
    return std::nullopt;
  }
  /// What a sum multiplies element by element: accesses subscripted by a summed index itself. Scales of
  /// blocks, as in s[k / 128], are applied once a block and do not decide the type.
  std::vector<TensorId> operands(ExprId reduction) const {
    std::vector<TensorId> found;
    for (ExprId argument : problem_.expr(reduction).args)
      collect(argument, &problem_.expr(reduction).bounds, found);
    return found;
  }
  std::vector<TensorId> accesses(ExprId id) const {
    std::vector<TensorId> found;
    collect(id, nullptr, found);
    return found;
  }
  void collect(ExprId id, const std::vector<Range>* summed, std::vector<TensorId>& found) const {
    const Expr& expr = problem_.expr(id);
    auto is_summed = [&](ExprId subscript) {
      const Expr& index = problem_.expr(subscript);
      return index.kind == ExprKind::index &&
             std::any_of(summed->begin(), summed->end(),
                         [&](const Range& r) { return r.index == index.ref; });
    };
    if (expr.kind == ExprKind::access &&
        (!summed || std::any_of(expr.args.begin(), expr.args.end(), is_summed)))
      found.push_back(expr.ref);
    for (ExprId argument : expr.args) collect(argument, summed, found);
  }

  ScalarType widest(const std::vector<TensorId>& tensors, ScalarType least) const {
    ScalarType type = least;
    bool any = false;
    for (TensorId id : tensors) {
      const Tensor& tensor = problem_.tensor(id);
      if (tensor.exact || class_of(tensor.type) != NumberClass::real) continue;
      any = true;
      if (storage_bits(tensor.type) > storage_bits(type)) type = tensor.type;
    }
    return any ? type : ScalarType::f32;
  }

  const Problem& problem_;
};

}  // namespace

ScalarType arithmetic_type(const Problem& problem) { return HeaviestStatement(problem).arithmetic_type(); }

}  // namespace ako
