// SPDX-License-Identifier: Apache-2.0
// Optimizers over a discrete space. They ask and are told; they never evaluate and never ask twice for the
// same point.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ako {

/// A point: one value index per parameter.
using Point = std::vector<int>;

struct Parameter {
  std::string name;
  std::vector<std::string> values;
  std::vector<double> numbers;  // the values as numbers where they are (for distances and models), else empty
};

struct Space {
  std::vector<Parameter> parameters;
  std::function<bool(const Point&)> valid;       // restrictions; empty: all are
  std::optional<std::vector<Point>> enumerated;  // the valid points, when known (recorded spaces)
  std::size_t cartesian_size() const;
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  virtual std::string name() const = 0;
  /// nullopt: the space is exhausted.
  virtual std::optional<Point> ask() = 0;
  /// cost: time, lower is better; nullopt: the point failed (did not compile, wrong).
  virtual void tell(const Point&, std::optional<double> cost) = 0;
};

using OptimizerFactory = std::function<std::unique_ptr<Optimizer>(const Space&, std::uint64_t seed)>;
struct NamedOptimizer {
  std::string name, summary;
  OptimizerFactory make;
};
/// random, genetic, iterated-local-search, annealing, model (ako's own). One line per optimizer in
/// optimizer.cpp.
std::span<const NamedOptimizer> optimizers();

/// A cost model over points: predicts log(cost) with an uncertainty. Learns incrementally; small data (1 …
/// 1000s).
class CostModel {
 public:
  virtual ~CostModel() = default;
  virtual void add(std::span<const double> features, double log_cost) = 0;
  struct Prediction {
    double mean = 0, deviation = 1;
  };
  virtual Prediction predict(std::span<const double> features) const = 0;
  virtual std::size_t size() const = 0;
};
std::unique_ptr<CostModel> make_cost_model(std::size_t features, std::uint64_t seed);

}  // namespace ako
