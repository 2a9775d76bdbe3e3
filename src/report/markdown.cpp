// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "base/text.h"
#include "base/units.h"
#include "problem/cost.h"
#include "report/data.h"
#include "report/report.h"

namespace ako {
namespace {

/// Text inside a Markdown table cell or paragraph: no line breaks, no pipes, no markup, no HTML, no control
/// characters.
std::string cell(std::string_view text) {
  std::string safe;
  for (char c : printable(text)) {
    if (c == '<') {
      safe += "&lt;";
    } else if (c == '&') {
      safe += "&amp;";
    } else {
      if (std::string_view("|*_`[]\\").find(c) != std::string_view::npos) safe += '\\';
      safe += c;
    }
  }
  return safe;
}

/// A fenced block that its content cannot close.
std::string fenced(std::string_view text, std::string_view language) {
  std::size_t longest = 2, run = 0;
  for (char c : text) longest = std::max(longest, run = c == '`' ? run + 1 : 0);
  std::string fence(longest + 1, '`');
  std::string shown = printable(text, true);
  return fmt::format("{}{}\n{}{}{}\n", fence, language, shown, shown.ends_with('\n') ? "" : "\n", fence);
}

std::string time_or_dash(double us) { return us > 0 ? to_text(Microseconds(us)) : "–"; }

std::string shape_table(const ReportData& data) {
  std::string text =
      "| Shape | Baseline | Best | Speed-up | 98 % interval | Library | Best / library | Roof | Bound by | "
      "Of roof |\n"
      "|---|---:|---:|---:|---|---:|---:|---:|---|---:|\n";
  for (const ShapeLine& line : data.shapes) {
    text += fmt::format(
        "| {}{} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", cell(line.label),
        line.core ? " (core)" : "", time_or_dash(line.baseline_us), time_or_dash(line.best_us),
        line.speedup > 0 ? fmt::format("{:.2f}×", line.speedup) : "–",
        line.paired ? fmt::format("{:.2f}× … {:.2f}×", line.speedup_interval.low, line.speedup_interval.high)
                    : "–",
        time_or_dash(line.library_us), line.library_us > 0 ? fmt::format("{:.2f}×", line.library_ratio) : "–",
        time_or_dash(line.roof_us), cell(line.roof_bound),
        line.efficiency > 0 ? fmt::format("{:.0f} %", 100 * line.efficiency) : "–");
  }
  return text;
}

std::string library_note(const ReportData& data) {
  if (data.library.empty()) return fmt::format("No library was timed: {}.\n", cell(data.no_library));
  return fmt::format(
      "Library: {}, checked like a candidate and timed interleaved with the best kernel in a sitting of "
      "their "
      "own. Best / library is the best kernel's speed over the library's.\n",
      cell(data.library));
}

std::string lineage(const CampaignRecord& record) {
  std::string text =
      "| Round | From | Decision | Score | Hypothesis | Change | Reason "
      "|\n|---:|---:|---|---:|---|---|---|\n";
  for (const RoundRecord& round : record.rounds) {
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", round.number,
                        round.parent > 0 ? fmt::format("{}", round.parent) : "–", name_of(round.decision),
                        round.score > 0 ? fmt::format("{:.2f}×", round.score) : "–",
                        cell(round.proposal.hypothesis), cell(round.proposal.change), cell(round.reason));
  }
  return text;
}

std::string facts_table(const TargetFacts& facts) {
  std::string text = fmt::format("- Device: {}, {} cores, {}-bit vectors\n", cell(facts.device),
                                 facts.compute_units, facts.vector_bits);
  for (const auto& [name, fact] : facts.facts)
    text += fmt::format("- {}: {:.4g} ({})\n", cell(name), fact.value, cell(fact.source));
  return text;
}

std::string headline_text(const Headline& headline) {
  if (!headline.interval)
    return fmt::format("**{:.2f}×** the baseline ({}).", headline.speedup, headline.basis);
  return fmt::format("**{:.2f}×** the baseline, 98 % interval {:.2f}× … {:.2f}× ({}).", headline.speedup,
                     headline.interval->low, headline.interval->high, headline.basis);
}

}  // namespace

std::string report_markdown(const CampaignRecord& record) {
  auto data = report_data(record);
  if (!data) return "# Report\n\n" + to_text(data.error()) + "\n";
  std::string text =
      fmt::format("# {} on {}\n\n{}\n\n{}\n\n", cell(data->problem.name), cell(record.facts.device),
                  cell(data->problem.summary), headline_text(data->headline));
  text += fmt::format("Trust: {}. {} rounds: {} accepted, {} rolled back. Ended: {}.\n\n",
                      name_of(record.trust), record.rounds.size(), data->accepted, data->rolled_back,
                      record.termination.empty() ? "still open" : cell(record.termination));
  text += "## Shapes\n\n" + shape_table(*data) + "\n" + library_note(*data) + "\n";
  text += "## Lineage\n\n" + lineage(record) + "\n";
  if (const RoundRecord* best = find_round(record, data->best_round))
    text +=
        fmt::format("## Best kernel (round {})\n\n", best->number) + fenced(source_of(*best), "cpp") + "\n";
  text += "## Problem\n\n" + fenced(data->problem.source, "yaml") + "\n";
  text += "## Machine\n\n" + facts_table(record.facts);
  return text;
}

}  // namespace ako
