// SPDX-License-Identifier: Apache-2.0
#include "judge/verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <csignal>
#include <cstring>

namespace ako {
namespace {

constexpr std::array<std::string_view, 8> kOutcomes = {
    "correct", "wrong",     "rejected",      "compile_error",
    "crashed", "timed_out", "out_of_memory", "infrastructure_error"};

std::string on(const std::string& shape) { return shape.empty() ? "" : " on " + shape; }

std::string first_error_line(const std::string& log) {
  std::size_t error = log.find("error:");
  std::size_t begin = error == std::string::npos ? 0 : log.rfind('\n', error) + 1;  // npos + 1 is 0
  return log.substr(begin, log.find('\n', begin) - begin);
}

std::string describe(const Correct&) { return "correct"; }
std::string describe(const Wrong& w) {
  std::string text = w.when_timed ? "wrong when timed" : "wrong";
  if (!w.index.empty() || w.tensor.empty())
    text += fmt::format(": {}[{}] is {:.9g}, expected {:.9g}", w.tensor, fmt::join(w.index, ", "), w.got,
                        w.expected);
  else
    text += ": " + w.tensor;
  if (!w.metric.empty()) text += " (" + w.metric + ")";
  if (!w.pattern.empty()) text += "; " + w.pattern;
  if (w.fraction > 0) text += fmt::format("; {:.3g} % of elements", 100 * w.fraction);
  if (!w.style.empty() && w.style != "declared") text += ", inputs " + w.style;
  return text + on(w.shape);
}
std::string describe(const Rejected& r) {
  return "rejected (" + r.rule + "): " + r.reason + (r.where.empty() ? "" : " at " + r.where);
}
std::string describe(const CompileError& e) { return "compile error: " + first_error_line(e.log); }
std::string describe(const Crashed& c) {
  std::string reason = c.reason.empty() && c.signal ? strsignal(c.signal) : c.reason;
  return "crashed: " + reason + on(c.shape);
}
std::string describe(const TimedOut& t) {
  return fmt::format("timed out after {:.3g} s in {}{}", t.limit.count(), t.stage, on(t.shape));
}
std::string describe(const OutOfMemory& m) {
  return "out of memory (limit " + to_text(m.limit) + ")" + on(m.shape);
}
std::string describe(const InfrastructureError& e) { return "infrastructure error: " + e.reason; }

}  // namespace

std::string_view name_of(const Outcome& outcome) { return kOutcomes[outcome.index()]; }

std::string to_text(const Outcome& outcome) {
  return std::visit([](const auto& one) { return describe(one); }, outcome);
}

std::string_view name_of(Clarity clarity) {
  switch (clarity) {
    case Clarity::faster:
      return "faster";
    case Clarity::slower:
      return "slower";
    case Clarity::same:
      return "same";
    case Clarity::ambiguous:
      return "ambiguous";
  }
  return "ambiguous";
}

}  // namespace ako
