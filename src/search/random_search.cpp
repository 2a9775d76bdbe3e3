// SPDX-License-Identifier: Apache-2.0
#include "search/domain.h"
#include "search/strategies.h"

namespace ako {
namespace {

class RandomSearch final : public Optimizer {
 public:
  RandomSearch(const Space& space, std::uint64_t seed) : domain_(space, seed), random_(seed) {}
  std::string name() const override { return "random"; }
  std::optional<Point> ask() override {
    auto point = domain_.draw_unseen(random_);
    if (point) domain_.mark_seen(*point);
    return point;
  }
  void tell(const Point& point, std::optional<double>) override { domain_.mark_seen(point); }

 private:
  Domain domain_;
  Random random_;
};

}  // namespace

std::unique_ptr<Optimizer> make_random_search(const Space& space, std::uint64_t seed) {
  return std::make_unique<RandomSearch>(space, seed);
}

}  // namespace ako
