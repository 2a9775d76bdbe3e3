// SPDX-License-Identifier: Apache-2.0
// ako bench search: the optimizers on recorded tuning spaces.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/cli.h"
#include "search/simulate.h"

namespace ako {
namespace {

struct BenchSearchOptions {
  std::string folder;
  int seeds = 100;
  int threads = 0;
  std::vector<std::string> only;
};

Result<std::vector<NamedOptimizer>> chosen_optimizers(const std::vector<std::string>& names) {
  auto all = optimizers();
  if (names.empty()) return std::vector<NamedOptimizer>(all.begin(), all.end());
  std::vector<NamedOptimizer> chosen;
  for (const std::string& name : names) {
    auto found = std::ranges::find(all, name, &NamedOptimizer::name);
    if (found == all.end()) {
      std::string known;
      for (const NamedOptimizer& one : all) known += (known.empty() ? "" : ", ") + one.name;
      return fail(ErrorKind::invalid_input, fmt::format("there is no optimizer called '{}'", name),
                  fmt::format("optimizers are: {}", known));
    }
    chosen.push_back(*found);
  }
  return chosen;
}

Result<std::vector<RecordedSpace>> load_all(const std::string& folder) {
  AKO_TRY(auto files, list_recorded_spaces(folder));
  std::vector<RecordedSpace> spaces;
  for (const auto& file : files) {
    AKO_TRY(RecordedSpace space, load_recorded_space(file));
    spaces.push_back(std::move(space));
  }
  return spaces;
}

TuningScore mean_of(const std::vector<TuningScore>& scores) {
  TuningScore mean{"mean", scores.front().optimizer, {}, {}, 0};
  double n = static_cast<double>(scores.size());
  for (const TuningScore& score : scores) {
    for (std::size_t i = 0; i < kTuningBudgets.size(); ++i) {
      mean.mean[i] += score.mean[i] / n;
      mean.tenth_percentile[i] += score.tenth_percentile[i] / n;
    }
    mean.seconds += score.seconds / n;
  }
  return mean;
}

nlohmann::json to_json(const TuningScore& score) {
  return {{"space", score.space},
          {"optimizer", score.optimizer},
          {"mean", score.mean},
          {"tenth_percentile", score.tenth_percentile},
          {"seconds_per_run", score.seconds}};
}

std::vector<std::string> row_of(const TuningScore& score) {
  std::vector<std::string> row{score.optimizer, score.space};
  for (double value : score.mean) row.push_back(fmt::format("{:.3f}", value));
  for (double value : score.tenth_percentile) row.push_back(fmt::format("{:.3f}", value));
  row.push_back(fmt::format("{:.3f}", score.seconds));
  return row;
}

void print_tables(const std::vector<TuningScore>& scores, const std::vector<TuningScore>& means,
                  const BenchSearchOptions& options) {
  std::vector<std::string> head{"optimizer", "space"};
  for (int budget : kTuningBudgets) head.push_back(fmt::format("after {}", budget));
  for (int budget : kTuningBudgets) head.push_back(fmt::format("p10 {}", budget));
  head.push_back("s/run");
  std::vector<std::vector<std::string>> rows{head};
  for (const TuningScore& score : scores) rows.push_back(row_of(score));
  for (const TuningScore& score : means) rows.push_back(row_of(score));
  std::vector<bool> right(head.size(), true);
  right[0] = right[1] = false;
  fmt::print(
      "{}\nFraction of the recorded optimum after so many unique evaluations: mean and tenth percentile of "
      "{} "
      "seeds.\n",
      aligned_table(rows, right), options.seeds);
}

int bench_search(const BenchSearchOptions& options, const Context& context) {
  auto chosen = chosen_optimizers(options.only);
  if (!chosen) return complain(context, chosen.error());
  auto spaces = load_all(options.folder);
  if (!spaces) return complain(context, spaces.error());
  int threads = options.threads > 0 ? options.threads
                                    : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  std::vector<TuningScore> scores, means;
  for (const NamedOptimizer& optimizer : *chosen) {
    std::vector<TuningScore> own;
    for (const RecordedSpace& space : *spaces) {
      remark(context, fmt::format("{} on {}", optimizer.name, space.name));
      own.push_back(simulate(space, optimizer, options.seeds, threads));
    }
    means.push_back(mean_of(own));
    scores.insert(scores.end(), own.begin(), own.end());
  }
  if (context.json) {
    nlohmann::json document{{"budgets", kTuningBudgets},
                            {"seeds", options.seeds},
                            {"scores", nlohmann::json::array()},
                            {"means", nlohmann::json::array()}};
    for (const TuningScore& score : scores) document["scores"].push_back(to_json(score));
    for (const TuningScore& score : means) document["means"].push_back(to_json(score));
    print_json(document);
  } else {
    print_tables(scores, means, options);
  }
  return exit_code::fine;
}

}  // namespace

void add_bench_search(CLI::App& app, Context& context) {
  auto options = std::make_shared<BenchSearchOptions>();
  CLI::App* command = app.add_subcommand("search", "Compare the optimizers on recorded tuning spaces.");
  command->add_option("folder", options->folder, "Folder of recorded spaces: *_T4.json or *_T4.json.gz")
      ->required();
  command->add_option("--seeds", options->seeds, "Runs per optimizer and space")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));
  command->add_option("--optimizer", options->only, "Only this one (may be given several times)");
  command->add_option("--threads", options->threads, "Runs at a time; 0: one per core")
      ->check(CLI::Range(0, 1024));
  command->footer(
      "Examples:\n  ako bench search spaces/\n  ako bench search spaces/ --seeds 20 --optimizer model "
      "--json");
  command->callback([options, &context] { context.exit_code = bench_search(*options, context); });
}

}  // namespace ako
