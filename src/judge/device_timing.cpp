// SPDX-License-Identifier: Apache-2.0
// Blocks A B B A on a device. Each letter is a batch of launches, every one of them with inputs never seen
// before, at addresses of its own, with the last-level cache full of something else, and every output looked
// at: the two sides of a pair get the same inputs, and their outputs' projections are compared. Some launches
// of chance are compared with fp64 in full.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/clock.h"
#include "judge/device_contest.h"
#include "judge/suspicion.h"

namespace ako {
namespace {

constexpr int kDeviceScreenRounds = 3, kDeviceAloneRounds = 6;
constexpr double kBatch_us = 200;  // of kernel time; events are good to a fraction of a microsecond
constexpr int kMostLaunches = 16;
constexpr Seconds kWarm{0.03}, kWarmHip{0.4};                    // facts: MI300X ramps its clocks for 400 ms
constexpr std::uint64_t kTimedStreams = std::uint64_t{1} << 32;  // apart from the checks'

class ShapeSitting {
 public:
  ShapeSitting(DeviceBench& bench, const DeviceContender& candidate, const DeviceContender* incumbent,
               const Shape& shape, std::uint64_t seed)
      : bench_(bench),
        candidate_(candidate),
        incumbent_(incumbent),
        shape_(shape),
        seed_(seed),
        random_(seed, 0x626c6f636b),
        verifier_(bench.problem, shape) {}

  Judged<void> prepare(Microseconds first_idea) {
    auto mine = load_program(bench_, candidate_, shape_);
    if (!mine) return std::unexpected(mine.error());
    programs_[0] = std::move(*mine);
    if (incumbent_) {
      auto other = load_program(bench_, *incumbent_, shape_);
      if (!other) return std::unexpected(other.error());
      programs_[1] = std::move(*other);
    }
    Bytes largest = std::max(programs_[0].plan.total(), programs_[1].plan.total());
    auto stage = DeviceStage::create(bench_.device, bench_.kernels, bench_.landings, bench_.problem, shape_,
                                     largest, kMostLaunches, seed_ ^ 0x6172656e61);
    if (!stage)
      return std::unexpected(
          outcome_of(stage.error(), Side::candidate, "time", shape_.label, bench_.context_lost));
    stage_.emplace(std::move(*stage));
    if (incumbent_) {
      auto pilot = batch(1, next_inputs(1), secret());
      if (!pilot) return std::unexpected(pilot.error());
      first_idea = std::min(first_idea, pilot->front().duration);
    }
    typical_ = first_idea;
    launches_ = std::clamp(static_cast<int>(std::lround(kBatch_us / std::max(first_idea.count(), 1.0))), 1,
                           kMostLaunches);
    return {};
  }

  Judged<Block> block() {
    bool sample = played_ == 0 || random_.below(16) == 0;
    bool mine_first = random_.below(2) == 0;
    double log_ratio = 0;
    for (int pair = 0; pair < 2; ++pair) {
      auto ratio = play_pair(mine_first == (pair == 0), sample && pair == 0);
      if (!ratio) return std::unexpected(ratio.error());
      log_ratio += *ratio / 2;
    }
    ++played_;
    return Block{log_ratio, false};
  }

  ShapeTiming timing() const {
    ShapeTiming timing;
    timing.shape = shape_.label;
    timing.core = shape_.core;
    timing.representative = shape_.representative;
    timing.candidate_us = times_[0];
    timing.incumbent_us = times_[1];
    timing.candidate_median_us = median(times_[0]);
    timing.incumbent_median_us = times_[1].empty() ? 0 : median(times_[1]);
    timing.candidate_us_interval = median_interval(times_[0], 0.95);
    timing.launches_per_batch = launches_;
    timing.error_db = error_db_;
    return timing;
  }
  const Shape& shape() const { return shape_; }
  Microseconds typical() const { return typical_; }
  int played() const { return played_; }

 private:
  std::uint64_t secret() { return random_() | 1; }

  std::vector<InputsWanted> next_inputs(int count) {
    std::vector<InputsWanted> inputs;
    for (int i = 0; i < count; ++i)
      inputs.push_back({InputStyle::declared, seed_, kTimedStreams + stream_++});
    return inputs;
  }

  Judged<std::vector<Launched>> batch(std::size_t side, const std::vector<InputsWanted>& inputs,
                                      std::uint64_t key) {
    Side who = side == 0 ? Side::candidate : Side::incumbent;
    auto ran = stage_->run({programs_[side], inputs, key, true, Seconds(5)});
    if (!ran) return std::unexpected(outcome_of(ran.error(), who, "time", shape_.label, bench_.context_lost));
    for (const auto& one : *ran)
      if (one.damage) {
        if (who == Side::incumbent)
          return std::unexpected(Outcome(InfrastructureError{"the incumbent: " + *one.damage}));
        Wrong wrong;
        wrong.shape = shape_.label;
        wrong.style = name_of(InputStyle::declared);
        wrong.tensor = "memory outside the buffers was changed";
        wrong.pattern = "red zone: " + *one.damage;
        wrong.when_timed = true;
        return std::unexpected(Outcome(std::move(wrong)));
      }
    return std::move(*ran);
  }

  static double typical_of(const std::vector<Launched>& launched) {
    std::vector<double> us;
    for (const auto& one : launched) us.push_back(one.duration.count());
    return median(us);
  }

  /// One batch of each side on the same inputs; the logarithm of their times' ratio.
  Judged<double> play_pair(bool mine_first, bool sample) {
    auto inputs = next_inputs(launches_);
    std::uint64_t key = sample || !incumbent_ ? 0 : secret();
    // Without incumbent there is nothing to compare projections with: all outputs but the samples' go unseen
    // by fp64, so every batch is a sample of one launch.
    std::vector<Launched> ran[2];
    double us[2] = {0, 0};
    for (int turn = 0; turn < 2; ++turn) {
      std::size_t side = (turn == 0) == mine_first ? 0 : 1;
      if (side == 1 && !incumbent_) continue;
      auto one = batch(side, inputs, key);
      if (!one) return std::unexpected(one.error());
      ran[side] = std::move(*one);
      us[side] = typical_of(ran[side]);
      times_[side].push_back(us[side]);
    }
    if (incumbent_)
      for (std::size_t i = 0; i < inputs.size(); ++i)
        if (auto same = verifier_.against_each_other(programs_[0].plan, ran[1][i].outputs, ran[0][i].outputs);
            !same)
          return std::unexpected(same.error());
    if (sample || !incumbent_)
      if (auto right = against_truth(inputs, ran[0]); !right) return std::unexpected(right.error());
    return incumbent_ ? std::log(us[0] / us[1]) : 0.0;
  }

  Judged<void> against_truth(const std::vector<InputsWanted>& inputs, const std::vector<Launched>& ran) {
    auto which = static_cast<std::size_t>(random_.below(inputs.size()));
    Stopwatch watch;
    auto expected = bench_.reference.expected(bench_.problem, shape_, inputs[which]);
    bench_.spent.reference_s += watch.elapsed().count();
    if (!expected) return infrastructure(expected.error());
    auto finding =
        verifier_.against_truth(programs_[0].plan, ran[which].outputs, *expected, InputStyle::declared, true);
    if (!finding) return std::unexpected(finding.error());
    error_db_ = std::min(error_db_, finding->error_db);
    return {};
  }

  DeviceBench& bench_;
  const DeviceContender& candidate_;
  const DeviceContender* incumbent_;
  const Shape& shape_;
  std::uint64_t seed_, stream_ = 0;
  Random random_;
  DeviceVerifier verifier_;
  DeviceProgram programs_[2];  // candidate, incumbent
  std::optional<DeviceStage> stage_;
  std::vector<double> times_[2];
  Microseconds typical_{0};
  double error_db_ = std::numeric_limits<double>::max();
  int launches_ = 1, played_ = 0;
};

class DeviceRounds {
 public:
  DeviceRounds(DeviceBench& bench, const DeviceContender& candidate, const DeviceContender* incumbent,
               const DeviceTimingRequest& request)
      : bench_(bench), candidate_(candidate), incumbent_(incumbent), request_(request) {}

  Judged<DeviceTimed> run() {
    if (auto warm = warm_up(); !warm) return std::unexpected(warm.error());
    if (auto ready = prepare(); !ready) return std::unexpected(ready.error());
    Sequential sequential(rule_, sittings_.size());
    for (int goal : goals()) {
      if (auto reached = play_until(goal, sequential); !reached) return std::unexpected(reached.error());
      if (late_ || (incumbent_ && request_.effort == Effort::decide && sequential.decide())) break;
    }
    if (late_) bench_.notes.push_back(fmt::format("timing stopped after {:.3g} s", watch_.elapsed().count()));
    return conclude(sequential);
  }

 private:
  /// Keeps the device busy until its clocks are where work brings them.
  Judged<void> warm_up() {
    const Seconds long_enough = bench_.device.info().api == gpu::Api::hip ? kWarmHip : kWarm;
    Stopwatch watch;
    Bytes size = mebibytes(256);
    auto memory = bench_.device.allocate(size);
    if (!memory) return infrastructure(gpu::to_error(memory.error()));
    while (watch.elapsed() < long_enough) {
      for (int i = 0; i < 8; ++i)
        if (auto filled = bench_.device.fill(memory->address(), size, 0); !filled)
          return infrastructure(gpu::to_error(filled.error()));
      if (auto ended = bench_.device.wait(Seconds(5)); !ended)
        return infrastructure(gpu::to_error(ended.error()));
    }
    return {};
  }

  Judged<void> prepare() {
    for (const auto& [shape, checked] : request_.shapes) {
      bench_.progress("time " + shape->label);
      auto sitting = std::make_unique<ShapeSitting>(bench_, candidate_, incumbent_, *shape,
                                                    request_.seed + sittings_.size());
      if (auto ready = sitting->prepare(checked.launch); !ready) return std::unexpected(ready.error());
      rule_.noise = std::max(rule_.noise, request_.noise.of(sitting->typical()));
      sittings_.push_back(std::move(sitting));
    }
    return {};
  }

  std::vector<int> goals() const {
    if (request_.effort == Effort::screen) return {kDeviceScreenRounds};
    if (!incumbent_) return {kDeviceAloneRounds};
    auto all = planned_looks(rule_);
    all.insert(all.begin(), {4, 6});  // enough to see a much slower one
    return all;
  }

  bool out_of_time() {
    bool decides = incumbent_ && request_.effort == Effort::decide;
    int needed = decides ? rule_.minimum_blocks : kDeviceScreenRounds;
    bool enough =
        std::all_of(sittings_.begin(), sittings_.end(), [&](const auto& s) { return s->played() >= needed; });
    Seconds limit = request_.limit.count() > 0 ? request_.limit : 3 * request_.budget;
    return late_ = (enough && watch_.elapsed() > request_.budget) || watch_.elapsed() > limit;
  }

  Judged<void> play_until(int goal, Sequential& sequential) {
    for (std::size_t i = 0; i < sittings_.size() && !late_; ++i)
      while (sittings_[i]->played() < goal && !out_of_time()) {
        if (bench_.stop.stop_requested()) return std::unexpected(Outcome(InfrastructureError{"cancelled"}));
        auto block = sittings_[i]->block();
        if (!block) return std::unexpected(block.error());
        sequential.add(i, *block);
        bench_.progress(fmt::format("time {} block {}", sittings_[i]->shape().label, sittings_[i]->played()));
      }
    return {};
  }

  Judged<DeviceTimed> conclude(const Sequential& sequential) {
    DeviceTimed result;
    for (std::size_t i = 0; i < sittings_.size(); ++i) {
      auto timing = sittings_[i]->timing();
      timing.error_db = std::min(timing.error_db, request_.shapes[i].second.error_db);
      if (auto low =
              below_roofline(bench_.problem, sittings_[i]->shape(), bench_.facts, timing.candidate_median_us))
        return std::unexpected(Outcome(*low));
      if (incumbent_) {
        auto location = sequential.location(i);
        timing.log_ratio = location.center;
        timing.log_ratio_interval = location.interval;
      }
      result.timings.push_back(std::move(timing));
    }
    if (incumbent_) result.comparison = compare(sequential, result.timings);
    return result;
  }

  Comparison compare(const Sequential& sequential, const std::vector<ShapeTiming>& timings) const {
    Comparison comparison = sequential.comparison();
    for (const auto& one : timings) {
      if (one.log_ratio > comparison.worst_log_ratio)
        comparison.worst_log_ratio = one.log_ratio, comparison.worst_shape = one.shape;
      comparison.core_regressed |=
          one.core && one.log_ratio >= std::log1p(rule_.regression) && one.log_ratio_interval.low > 0;
    }
    return comparison;
  }

  DeviceBench& bench_;
  const DeviceContender& candidate_;
  const DeviceContender* incumbent_;
  const DeviceTimingRequest& request_;
  DecisionRule rule_;
  std::vector<std::unique_ptr<ShapeSitting>> sittings_;
  Stopwatch watch_;
  bool late_ = false;
};

}  // namespace

Judged<DeviceTimed> time_on_device(DeviceBench& bench, const DeviceContender& candidate,
                                   const DeviceContender* incumbent, const DeviceTimingRequest& request) {
  return DeviceRounds(bench, candidate, incumbent, request).run();
}

}  // namespace ako
