// SPDX-License-Identifier: Apache-2.0
#include "synth/gpu/synthesize.h"

#include <algorithm>
#include <tuple>

#include "synth/gpu/gpu.h"
#include "synth/gpu/nest.h"
#include "synth/gpu/product.h"
#include "synth/gpu/rows.h"
#include "synth/gpu/swap.h"

namespace ako {

bool is_gpu(const TargetFacts& target) {
  return target.id.starts_with("sm_") || target.id.starts_with("gfx");
}

}  // namespace ako

namespace ako::synth::gpu {

namespace {

/// A schedule's knobs, read.
class Settings {
 public:
  explicit Settings(const Schedule& schedule) : schedule_(schedule) {}
  std::string text(const char* name) const {
    const auto found = schedule_.knobs.find(name);
    return found == schedule_.knobs.end() ? std::string() : found->second;
  }
  int number(const char* name, int otherwise) const {
    const std::string value = text(name);
    return value.empty() ? otherwise : std::stoi(value);
  }

 private:
  const Schedule& schedule_;
};

class Writer {
 public:
  Writer(const Problem& problem, const Schedule& schedule, const TargetFacts& target)
      : problem_(problem),
        settings_(schedule),
        target_(target),
        program_(normalize(problem)),
        layout_(fuse(program_)),
        unit_(problem, program_, numbers()) {}

  Candidate write(Language language, const std::string& head) {
    for (const Group& group : layout_.groups) {
      if (!shaped(group)) plain(group);
      for (const std::size_t at : group.statements) {
        const Statement& statement = program_.statements[at];
        if (statement.kind != StatementKind::initial) assigned_.insert(statement.target);
      }
    }
    Candidate candidate;
    candidate.language = language;
    candidate.plan = unit_.plan();
    candidate.sources.push_back(
        {problem_.name + (language == Language::hip ? ".hip" : ".cu"), unit_.source(head)});
    return candidate;
  }

 private:
  Numbers numbers() const {
    Numbers numbers;
    numbers.wide = std::ranges::any_of(problem_.tensors,
                                       [](const Tensor& t) { return t.type == ScalarType::f64 && !t.exact; });
    numbers.fast = settings_.text("math") == "fast";
    return numbers;
  }
  int wave() const { return target_.id.starts_with("gfx") ? 64 : 32; }

  void plain(const Group& group) {
    NestChoices choices;
    choices.threads = settings_.number("block", 256);
    choices.atomic_updates = settings_.text("updates") == "atomic";
    std::set<TensorId> assigned = assigned_;
    for (const std::size_t at : group.statements) {
      const Statement& statement = program_.statements[at];
      write_nest(unit_, statement, choices, !assigned.contains(statement.target));
      if (statement.kind != StatementKind::initial) assigned.insert(statement.target);
    }
  }

  /// "128x64"
  static std::pair<int, int> two(const std::string& text) {
    return {std::stoi(text), std::stoi(text.substr(text.find('x') + 1))};
  }

  bool multiplied(const Group& group) {
    const std::string how = settings_.text("product");
    const auto product =
        how.empty() || how == "plain" ? std::nullopt : match_product(program_, layout_, group);
    if (!product) return false;
    ProductChoices choices;
    choices.wave = wave();
    std::tie(choices.tile_m, choices.tile_n) = two(settings_.text("tile"));
    if (how == "matrix" && fits_matrix_units(program_, *product)) {
      choices.tile_k = settings_.number("matrix_depth", 64);
      choices.stages = settings_.number("stages", 3);
      std::tie(choices.warp_m, choices.warp_n) = two(settings_.text("wave_tile"));
      write_matrix_product(unit_, *product, choices);
    } else {
      choices.tile_k = settings_.number("depth", 16);
      std::tie(choices.thread_m, choices.thread_n) = two(settings_.text("thread_tile"));
      write_product(unit_, *product, choices);
    }
    return true;
  }

  bool shaped(const Group& group) {
    if (multiplied(group)) return true;
    if (settings_.text("swap") == "tiles") {
      if (const auto swap = match_swap(program_, group)) {
        write_swap(unit_, *swap,
                   {settings_.number("swap_tile", 32), settings_.number("swap_threads", 256),
                    settings_.text("swap_order") == "reads"});
        return true;
      }
    }
    const auto rows = match_rows(program_, layout_, group);
    if (!rows) return false;
    if (rows->reduces && settings_.text("rows") != "plain" && !settings_.text("rows").empty()) {
      RowChoices choices;
      choices.wave = wave();
      choices.threads = settings_.number("row_threads", 256);
      choices.vector = settings_.number("vector", 4);
      choices.registers = settings_.text("rows") == "registers";
      choices.streaming = settings_.text("access") == "streaming";
      for (const Shape& shape : problem_.shapes)
        choices.longest = std::max(choices.longest, evaluate_integer(program_, rows->lane.upper, shape));
      write_rows(unit_, layout_, *rows, choices);
      return true;
    }
    if (!rows->reduces && settings_.text("points") == "vectors") {
      PointChoices choices;
      choices.threads = settings_.number("block", 256);
      choices.vector = settings_.number("vector", 4);
      choices.items = settings_.number("items", 1);
      choices.streaming = settings_.text("access") == "streaming";
      const int persistent = settings_.number("persistent", 0);
      choices.blocks = persistent * std::max(1, target_.compute_units);
      write_points(unit_, layout_, *rows, choices);
      return true;
    }
    return false;
  }

  const Problem& problem_;
  Settings settings_;
  const TargetFacts& target_;
  Program program_;
  Layout layout_;
  Unit unit_;
  std::set<TensorId> assigned_;
};

}  // namespace

Candidate write_candidate(const Problem& problem, const Schedule& schedule, const TargetFacts& target,
                          Language language, const std::string& head) {
  return Writer(problem, schedule, target).write(language, head);
}

}  // namespace ako::synth::gpu
