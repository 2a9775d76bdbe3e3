#include "search/strategies.h"
namespace ako {
std::unique_ptr<Optimizer> make_model_search(const Space& s, std::uint64_t seed) {
  return make_random_search(s, seed);
}
}  // namespace ako
