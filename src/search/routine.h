// SPDX-License-Identifier: Apache-2.0
// Searches written as they are in textbooks, turned into ask and tell: a Routine is a coroutine that awaits
// the cost of a point. Costs already known are answered at once, so a point is never asked for twice however
// often the search comes back to it.
#pragma once

#include <coroutine>
#include <exception>
#include <limits>
#include <unordered_map>
#include <utility>

#include "search/domain.h"

namespace ako {

class Routine {
 public:
  struct promise_type {
    Routine get_return_object() { return Routine(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  explicit Routine(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  Routine(Routine&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Routine& operator=(Routine&&) = delete;
  ~Routine() {
    if (handle_) handle_.destroy();
  }
  bool done() const { return handle_.done(); }
  void resume() { handle_.resume(); }

 private:
  std::coroutine_handle<promise_type> handle_;
};

/// The cost of a point that failed: worse than any other.
constexpr double kFailed = std::numeric_limits<double>::infinity();

/// An optimizer whose search() is a coroutine. When several points are asked for before the first is told,
/// the further ones are random.
class RoutineOptimizer : public Optimizer {
 public:
  std::optional<Point> ask() final;
  void tell(const Point&, std::optional<double> cost) final;

 protected:
  RoutineOptimizer(const Space& space, std::uint64_t seed) : domain_(space, seed), random_(seed) {}

  /// Never returns by itself: it ends with the optimizer, or when the space is exhausted.
  virtual Routine search() = 0;

  struct Evaluation {
    RoutineOptimizer& owner;
    Point point;
    bool await_ready();
    void await_suspend(std::coroutine_handle<>) { owner.wanted_ = point; }
    double await_resume() { return owner.costs_.at(point); }
  };
  /// co_await evaluate(point): its cost, or kFailed. The point must be valid.
  Evaluation evaluate(Point point) { return {*this, std::move(point)}; }
  /// A valid point, new while there are any.
  Point fresh_point();
  /// `point` with one parameter at another value, valid; a fresh point where that finds none.
  Point mutate(const Point& point, bool adjacent_only);

  Domain& domain() { return domain_; }
  Random& random() { return random_; }

 private:
  std::optional<Point> hand_out(Point point);

  Domain domain_;
  Random random_;
  std::unordered_map<Point, double, PointHash> costs_;
  std::optional<Routine> routine_;  // made on the first ask: search() is virtual
  std::optional<Point> wanted_;     // what the routine waits for
  std::optional<Point> pending_;    // and whether that was handed out
  int repeats_ = 0;                 // known answers in a row
};

}  // namespace ako
