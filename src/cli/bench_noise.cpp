// SPDX-License-Identifier: Apache-2.0
// How far a kernel and itself come out apart on this machine, per class of duration: what `noise` in every
// comparison is.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "cli/judging.h"
#include "judge/noise.h"

namespace ako {
namespace {

struct BenchNoiseOptions {
  double budget_s = 10;
  bool dry = false;
};

/// A kernel that every machine has, and shapes of it whose launches last from microseconds to milliseconds.
constexpr std::string_view kProblem = R"(problem: triad
dims: {N: elements}
tensors:
  a: {type: f32, shape: [N]}
  b: {type: f32, shape: [N]}
  y: {type: f32, shape: [N]}
math: |
  y[i] = a[i] + 3.0 * b[i]
shapes:
  - {N: 1024}
tolerance: {snr_db: 100}
)";
constexpr std::string_view kKernel = R"(#include <cstdint>
extern "C" void triad(const float* a, const float* b, float* y, std::int64_t N) {
  for (std::int64_t i = 0; i < N; ++i) y[i] = a[i] + 3.0f * b[i];
}
)";

struct Class {
  std::string_view shape;
  Microseconds up_to;
};
constexpr std::array<Class, 4> kClasses = {{{"N=8192", Microseconds(10)},
                                            {"N=131072", Microseconds(100)},
                                            {"N=1048576", Microseconds(1000)},
                                            {"N=8388608", Microseconds(1e9)}}};

/// Blocks of the kernel against itself: one sitting's pairs, made into log-ratios of blocks again.
std::vector<double> blocks_of(const ShapeTiming& timing) {
  std::vector<double> blocks;
  for (std::size_t i = 0; i + 1 < std::min(timing.candidate_us.size(), timing.incumbent_us.size()); i += 2)
    blocks.push_back(0.5 * std::log(timing.candidate_us[i] * timing.candidate_us[i + 1] /
                                    (timing.incumbent_us[i] * timing.incumbent_us[i + 1])));
  return blocks;
}

Result<NoiseClass> measure(JudgeClient& judge, JudgeRequest request, const Class& which, Seconds budget,
                           double& typical_us) {
  request.shapes = which.shape;
  Stopwatch watch;
  std::vector<double> blocks;
  // Each judgement is a sitting of its own, with new guests and inputs: its blocks vary as those of other
  // judgements do.
  do {
    AKO_TRY(auto verdict, judge.judge(request));
    if (!verdict.correct())
      return fail(ErrorKind::unavailable, "the noise kernel was judged " + to_text(verdict.outcome));
    for (const auto& timing : verdict.timings) {
      auto some = blocks_of(timing);
      blocks.insert(blocks.end(), some.begin(), some.end());
      typical_us = timing.candidate_median_us;
    }
  } while (watch.elapsed() < budget || blocks.size() < 8);
  return NoiseClass{which.up_to, noise_p99(blocks), static_cast<int>(blocks.size())};
}

int bench_noise(const BenchNoiseOptions& options, const Context& context) {
  auto path = std::filesystem::path("triad.yaml");
  auto problem = parse_problem(kProblem, path);
  if (!problem) return complain(context, problem.error());
  JudgeRequest request;
  request.problem_text = kProblem;
  request.problem_path = path.string();
  request.candidate.sources = {{"triad.cpp", std::string(kKernel)}};
  request.candidate.plan = default_plan(*problem);
  request.incumbent = request.candidate;
  request.confirm = true;
  request.time_budget = Seconds(options.budget_s / kClasses.size());
  auto judge = JudgeClient::start({});
  if (!judge) return complain(context, judge.error());

  Noise noise{judge->facts().device, utc_now(), {}};
  std::vector<std::vector<std::string>> rows{
      {"launches up to", "typical", "blocks", "99th percentile of |A/A|"}};
  nlohmann::json classes = nlohmann::json::array();
  for (const auto& which : kClasses) {
    double typical_us = 0;
    auto one = measure(*judge, request, which, Seconds(options.budget_s / kClasses.size()), typical_us);
    if (!one) return complain(context, one.error());
    noise.classes.push_back(*one);
    rows.push_back({which.up_to.count() >= 1e9 ? "any" : to_text(which.up_to),
                    to_text(Microseconds(typical_us)), std::to_string(one->blocks),
                    fmt::format("{:.2f} %", 100 * one->ratio_p99)});
    classes.push_back({{"up_to_us", which.up_to.count()},
                       {"typical_us", typical_us},
                       {"blocks", one->blocks},
                       {"ratio_p99", one->ratio_p99}});
  }
  if (!options.dry)
    if (auto stored = store_noise(noise); !stored) return complain(context, stored.error());
  if (context.json) {
    print_json({{"machine", noise.machine},
                {"measured", noise.measured},
                {"classes", classes},
                {"stored", !options.dry}});
  } else {
    fmt::print("{}", aligned_table(rows, {false, true, true, true}));
    remark(context,
           options.dry ? "Not stored." : "Stored: judges started from now on call less than this noise.");
  }
  return exit_code::fine;
}

}  // namespace

void add_bench_noise(CLI::App& app, Context& context) {
  auto options = std::make_shared<BenchNoiseOptions>();
  CLI::App* command = app.add_subcommand(
      "noise", "Time a kernel against itself: the least difference that means anything here.");
  command->add_option("--budget", options->budget_s, "Seconds in all")->capture_default_str();
  command->add_flag("--dry", options->dry, "Measure, but do not store");
  command->footer("Examples:\n  ako bench noise\n  ako bench noise --budget 60 --json");
  command->callback([options, &context] { context.exit_code = bench_noise(*options, context); });
}

}  // namespace ako
