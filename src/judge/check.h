// SPDX-License-Identifier: Apache-2.0
// The third stage: does the candidate compute what the problem says? Several seeds and value styles per
// shape, red zones, poison in every output, comparison with fp64.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "judge/buffers.h"
#include "judge/client.h"
#include "judge/compare.h"
#include "judge/fresh_inputs.h"
#include "problem/reference.h"

namespace ako {

struct CheckCase {
  InputStyle style = InputStyle::declared;
  std::uint64_t stream = 0;
};
/// Work of evaluating the reference once, in elementary operations: what check budgets are counted in.
double reference_work(const Problem&, const Shape&);
/// Three seeds and every style on small shapes, fewer as the reference costs more; the first is always
/// declared. The order of styles is secret (by seed). `alone`: no cheaper shape is checked, so that styles
/// must be tried here.
std::vector<CheckCase> plan_checks(const Problem&, const Shape&, std::uint64_t seed, bool alone);

/// Compares one launch's outputs with fp64; shared by the check and by timed launches.
class OutputJudge {
 public:
  OutputJudge(const Problem& problem, const Shape& shape, const Layout& layout, const Reference& reference)
      : problem_(problem),
        shape_(shape),
        layout_(layout),
        reference_(reference),
        work_(reference_work(problem, shape)) {}

  struct Finding {
    bool dropped = false;  // the fp64 reference is not finite: the style says nothing
    double error_db = 0;   // of the worst output
  };
  /// `inputs`: storage in kernel_tensors order, as FreshInputs::storage gives. Times are added to
  /// spent.reference_s.
  Judged<Finding> judge(InputStyle, std::span<const std::span<const std::byte>> inputs,
                        host::SharedBuffers& outputs, int slot, bool when_timed, Spent& spent);

  /// Scale of an output under declared inputs; 0 before the first such judgement.
  double declared_rms(TensorId) const;

 private:
  Wrong explain(const TensorBuffer&, const Bounds&, const OutputCheck&, std::span<const double> expected,
                std::span<const std::byte> got, std::span<const std::span<const std::byte>> inputs) const;

  const Problem& problem_;
  const Shape& shape_;
  const Layout& layout_;
  const Reference& reference_;
  double work_;
  std::map<TensorId, double> declared_rms_;
};

struct CheckRequest {
  const Problem& problem;
  const Shape& shape;
  const Candidate& candidate;
  const Reference& reference;
  std::uint64_t seed = 0;
  bool alone = false;
  Side side = Side::candidate;
  const host::GuestOptions& options;
};
struct Checked {
  double error_db = 0;  // worst of the declared style
  Seconds launch{0};    // the shortest single launch, release included: a first idea of the time
};
/// The guest lives on unless it faulted.
Judged<Checked> check_shape(host::RunGuest&, const CheckRequest&, Spent&, std::vector<std::string>& notes);

}  // namespace ako
