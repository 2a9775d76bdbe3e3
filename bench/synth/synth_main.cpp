// SPDX-License-Identifier: Apache-2.0
// Memory-bound kernels against the memory: schedules of a problem take turns with a copy of the same memory
// traffic's kind, in one process. Bandwidth on shared machines drifts within seconds, so every launch has a
// copy right before and right after it, and figures are medians of those paired ratios.
//   bench_synth                            the table of cases below
//   bench_synth NAME                       the cases of one problem
//   bench_synth PROBLEM SHAPE SCHEDULE…    "naive", "start", or settings on top of start ("unroll=4")
// AKO_BENCH_ROUNDS: launches of each, 21 unless told.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "../contractions/loaded_kernel.h"
#include "base/clock.h"
#include "cli/cli.h"
#include "copy_yardstick.h"
#include "synth/schedule.h"
#include "target/host/host.h"

namespace {

using namespace ako;
using namespace ako::bench;

struct Case {
  const char* problem;
  const char* shape;
  std::vector<std::string> schedules;
};

const std::vector<Case>& cases() {
  static const std::vector<std::string> both = {"naive", "start"};
  static const std::vector<Case> all = {
      {"add_rmsnorm", "T=4096,D=4096", both},
      {"rmsnorm_f32", "T=4096,D=4096", both},
      {"rmsnorm", "T=4096,D=4096", both},
      {"softmax", "T=4096,D=4096", both},
      {"layernorm", "T=4096,D=4096", both},
      {"log_softmax_xent", "T=1024,V=32000", both},
      {"silu_mul", "T=4096,D=4096", both},
      {"gelu", "N=16777216", both},
      {"adamw", "N=8388608", both},
      {"rope", "T=4096,H=32,D=128", both},
      {"transpose", "M=4096,N=4096", both},
      {"cumsum", "R=4096,T=4096", both},
      {"argmax", "T=1024,V=32000", both},
      {"max_pool", "B=4,C=64,H=224,W=224", both},
      {"embedding", "T=4096,V=32000,D=1024", both},
      {"quantize_mxfp4", "M=1024,K=4096", both},
      {"quantize_fp8_block", "M=1024,N=4096", both},
  };
  return all;
}

Result<Schedule> schedule_for(const std::string& text, const ScheduleSpace& space) {
  if (text == "naive") return space.naive;
  Schedule schedule = space.start;
  if (text == "start") return schedule;
  AKO_TRY(const Schedule changes, parse_schedule(text));
  for (const auto& [name, value] : changes.knobs) schedule.knobs[name] = value;
  return schedule;
}

double quantile(std::vector<double> values, double at) {
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(at * static_cast<double>(values.size() - 1) + 0.5)];
}

template <class Run>
double seconds_of(Run&& run) {
  const Stopwatch stopwatch;
  run();
  return stopwatch.elapsed().count();
}

struct Entry {
  std::string name;
  LoadedKernel kernel;
  std::vector<double> seconds;
  std::vector<double> of_copy;  // share of the copies' bandwidth round it
  std::vector<double> copies;   // seconds of the copies
};

int rounds() {
  const char* wanted = std::getenv("AKO_BENCH_ROUNDS");
  return wanted == nullptr ? 21 : std::max(1, std::atoi(wanted));
}

void measure(std::vector<Entry>& entries, CopyYardstick& copy, double bytes) {
  for (Entry& entry : entries) entry.kernel();  // pages touched, threads started
  double before = seconds_of([&] { copy(); });
  const Stopwatch all;
  for (int round = 0; round < rounds(); ++round) {
    for (Entry& entry : entries) {
      if (round > 2 && entry.seconds.back() > 0.25) continue;  // slow ones need few
      const double time = seconds_of([&] { entry.kernel(); });
      const double after = seconds_of([&] { copy(); });
      entry.seconds.push_back(time);
      entry.copies.push_back(after);
      entry.of_copy.push_back(bytes / time / (2 * copy.bytes() / (before + after)));
      before = after;
    }
  }
}

int compare(const Case& which, const TargetFacts& facts, Toolchain& toolchain, CopyYardstick& copy) {
  const auto problem = problem_argument(which.problem, which.shape);
  if (!problem) return fmt::print(stderr, "{}\n", to_text(problem.error())), 1;
  const Shape& shape = problem->shapes.front();
  const auto space = schedule_space(*problem, facts, Language::cpp);
  if (!space) return fmt::print(stderr, "{}\n", to_text(space.error())), 1;
  std::vector<Buffer> tensors = make_tensors(*problem, shape);
  std::vector<Entry> entries;
  for (const std::string& text : which.schedules) {
    const auto schedule = schedule_for(text, *space);
    const auto candidate =
        schedule ? synthesize(*problem, *schedule, facts, Language::cpp) : std::unexpected(schedule.error());
    auto kernel = candidate ? LoadedKernel::load(toolchain, *candidate, *problem, shape, facts, tensors)
                            : std::unexpected(candidate.error());
    if (!kernel) return fmt::print(stderr, "{} [{}]: {}\n", which.problem, text, to_text(kernel.error())), 1;
    entries.push_back({text, *std::move(kernel), {}, {}, {}});
  }
  const double bytes = static_cast<double>(cost_of(*problem, shape).compulsory.count);
  measure(entries, copy, bytes);
  fmt::print("{} {}: {:.1f} MB\n", which.problem, which.shape, bytes / 1e6);
  const double first = quantile(entries.front().seconds, 0.5);
  for (const Entry& entry : entries) {
    const double median = quantile(entry.seconds, 0.5);
    // Undisturbed by other processes: the quickest tenth of launches against the quickest tenth of copies.
    const double quiet = bytes / quantile(entry.seconds, 0.1) / (copy.bytes() / quantile(entry.copies, 0.1));
    fmt::print(
        "  {:9.3f} ms [{:.3f}, {:.3f}]  {:5.1f} % of copy [{:.1f}, {:.1f}], quiet {:5.1f} %  {:6.2f}x  {}\n",
        median * 1e3, quantile(entry.seconds, 0.25) * 1e3, quantile(entry.seconds, 0.75) * 1e3,
        quantile(entry.of_copy, 0.5) * 100, quantile(entry.of_copy, 0.25) * 100,
        quantile(entry.of_copy, 0.75) * 100, quiet * 100, first / median, entry.name);
  }
  std::fflush(stdout);
  return 0;
}

int run_all(const std::vector<std::string>& arguments) {
  const TargetFacts facts = host::look_up();
  const auto toolchains = find_toolchains();
  const auto toolchain = choose_toolchain(toolchains, Language::cpp, "host");
  if (!toolchain) return fmt::print(stderr, "{}\n", to_text(toolchain.error())), 1;
  CopyYardstick copy(facts.compute_units, mebibytes(64));
  if (arguments.size() > 2) {
    const std::vector<std::string> schedules(arguments.begin() + 2, arguments.end());
    return compare({arguments[0].c_str(), arguments[1].c_str(), schedules}, facts, **toolchain, copy);
  }
  int status = 0;
  for (const Case& which : cases()) {
    if (arguments.empty() || arguments[0] == which.problem) {
      status |= compare(which, facts, **toolchain, copy);
    }
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  // As guests are run: idle threads wait for the next parallel region without spinning long.
  ::setenv("GOMP_SPINCOUNT", "20000", 0);
  ::setenv("OMP_PROC_BIND", "true", 0);
  return run_all({argv + 1, argv + argc});
}
