// SPDX-License-Identifier: Apache-2.0
// Contractions side by side: naive, first guess, other schedules, OpenBLAS where it is installed. Contenders
// take turns; each turn is a few launches on warm inputs, of which the fastest counts; figures are medians
// over turns with their quartiles, ratios medians of paired ratios to the first contender.
//   bench_contractions                                  the table of cases below
//   bench_contractions NAME                             the cases of one problem
//   bench_contractions PROBLEM SHAPE CONTENDER…         "naive", "start", "openblas", settings on top of
//                                                       start ("tile_m=6 threads=1"), or a candidate's path
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <thread>

#include "base/clock.h"
#include "base/files.h"
#include "loaded_kernel.h"
#include "synth/schedule.h"
#include "target/host/host.h"

namespace {

using namespace ako;
using namespace ako::bench;

struct Case {
  const char* problem;
  const char* shape;
  std::vector<std::string> contenders;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"matmul", "M=1024,N=1024,K=1024", {"openblas", "start"}},
      {"matmul", "M=64,N=1024,K=1024", {"openblas", "start"}},
      {"matmul_bf16", "M=1024,N=1024,K=1024", {"start", "operands=pairs"}},
      {"matmul_fp8_block", "M=512,N=1024,K=1024", {"start"}},
      {"matmul_bias_gelu", "M=512,N=2048,K=512", {"start"}},
      {"attention_causal", "H=8,S=1024,E=64", {"naive", "start"}},
      {"conv2d", "B=1,C=64,F=64,H=56,W=56,R=3,S=3", {"naive", "start"}},
      {"max_pool", "B=4,C=64,H=224,W=224", {"naive", "start"}},
  };
  return all;
}

using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float,
                       float*, int);

/// OpenBLAS's cblas_sgemm on the tensors of `matmul`: row-major C = A B, with as many threads as there are
/// cores. Null: not installed, or another problem.
std::function<void()> openblas(const Problem& problem, const Shape& shape, std::vector<Buffer>& tensors,
                               int threads) {
  void* library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr || problem.name != "matmul") return nullptr;
  auto* sgemm = reinterpret_cast<Sgemm>(dlsym(library, "cblas_sgemm"));
  auto* set_threads = reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads"));
  if (sgemm == nullptr || set_threads == nullptr) return nullptr;
  set_threads(threads);
  const int m = static_cast<int>(shape.dims[0]), n = static_cast<int>(shape.dims[1]),
            k = static_cast<int>(shape.dims[2]);
  auto* a = reinterpret_cast<float*>(tensors[0].bytes().data());
  auto* b = reinterpret_cast<float*>(tensors[1].bytes().data());
  auto* c = reinterpret_cast<float*>(tensors[2].bytes().data());
  constexpr int row_major = 101, no_trans = 111;
  return [=] { sgemm(row_major, no_trans, no_trans, m, n, k, 1.0F, a, k, b, n, 0.0F, c, n); };
}

Result<Candidate> candidate_for(const std::string& contender, const Problem& problem,
                                const TargetFacts& facts) {
  if (contender.find('/') != std::string::npos) {
    auto loaded = load_candidate(contender, problem);
    if (!loaded) return std::unexpected(loaded.error().front());
    return *std::move(loaded);
  }
  AKO_TRY(const ScheduleSpace space, schedule_space(problem, facts, Language::cpp));
  if (contender == "naive") return synthesize(problem, space.naive, facts, Language::cpp);
  Schedule schedule = space.start;
  if (contender != "start") {
    AKO_TRY(const Schedule changes, parse_schedule(contender));
    for (const auto& [name, value] : changes.knobs) schedule.knobs[name] = value;
  }
  return synthesize(problem, schedule, facts, Language::cpp);
}

double quantile(std::vector<double> values, double at) {
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(at * static_cast<double>(values.size() - 1) + 0.5)];
}

/// The fastest of a few launches, in milliseconds. The pause lets workers of other libraries, which spin for
/// a while after their work, fall asleep.
double turn(const std::function<void()>& run) {
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  double best = 1e300;
  const Stopwatch all;
  for (int i = 0; i < 5 && (i < 1 || all.elapsed().count() < 0.25); ++i) {
    const Stopwatch one;
    run();
    best = std::min(best, one.elapsed().count() * 1e3);
  }
  return best;
}

int compare(const Case& which, const TargetFacts& facts, Toolchain& toolchain) {
  const auto path = find_resource(fmt::format("problems/{}.yaml", which.problem));
  if (!path) return fmt::print(stderr, "{}\n", to_text(path.error())), 1;
  auto problem = load_problem(*path);
  if (problem) problem = with_shapes(*problem, which.shape);
  if (!problem) return fmt::print(stderr, "{}\n", to_text(problem.error())), 1;
  const Shape& shape = problem->shapes.front();
  std::vector<Buffer> tensors = make_tensors(*problem, shape);
  std::vector<std::pair<std::string, std::function<void()>>> runs;
  for (const std::string& contender : which.contenders) {
    if (contender == "openblas") {
      if (auto run = openblas(*problem, shape, tensors, facts.compute_units))
        runs.emplace_back(contender, run);
      else
        fmt::print("{}: OpenBLAS is not installed (libopenblas0), left out\n", which.problem);
      continue;
    }
    const auto candidate = candidate_for(contender, *problem, facts);
    if (!candidate) return fmt::print(stderr, "{}\n", to_text(candidate.error())), 1;
    auto kernel = LoadedKernel::load(toolchain, *candidate, *problem, shape, facts, tensors);
    if (!kernel) return fmt::print(stderr, "{}\n", to_text(kernel.error())), 1;
    auto shared = std::make_shared<LoadedKernel>(*std::move(kernel));
    runs.emplace_back(contender, [shared] { (*shared)(); });
  }
  std::vector<std::vector<double>> times(runs.size());
  for (int round = 0; round < 11; ++round)
    for (std::size_t i = 0; i < runs.size(); ++i) times[i].push_back(turn(runs[i].second));
  const double flops = cost_of(*problem, shape).flops;
  fmt::print("{} {}\n", which.problem, shape.label);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::vector<double> ratios;
    for (std::size_t round = 0; round < times[i].size(); ++round)
      ratios.push_back(times[0][round] / times[i][round]);
    const double median = quantile(times[i], 0.5);
    fmt::print("  {:9.3f} ms [{:.3f}, {:.3f}]  {:7.1f} GFLOP/s  {:6.2f}x  {}\n", median,
               quantile(times[i], 0.25), quantile(times[i], 0.75), flops / median / 1e6,
               quantile(ratios, 0.5), runs[i].first);
  }
  return 0;
}

int run_all(const std::vector<std::string>& arguments) {
  const TargetFacts facts = host::look_up();
  const auto toolchains = find_toolchains();
  const auto toolchain = choose_toolchain(toolchains, Language::cpp, "host");
  if (!toolchain) return fmt::print(stderr, "{}\n", to_text(toolchain.error())), 1;
  if (arguments.size() > 2) {
    const std::vector<std::string> contenders(arguments.begin() + 2, arguments.end());
    return compare({arguments[0].c_str(), arguments[1].c_str(), contenders}, facts, **toolchain);
  }
  int status = 0;
  for (const Case& which : cases()) {
    if (arguments.empty() || arguments[0] == which.problem) status |= compare(which, facts, **toolchain);
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
