// SPDX-License-Identifier: Apache-2.0
#include "campaign/library.h"

#include <fmt/format.h>

namespace ako {
namespace {

constexpr const char* no_time = "the budget left no time for it";

}  // namespace

Result<LibraryComparison> time_library(const std::string& name, const Candidate& best,
                                       const CampaignRecord& record, double spent, Inquiry& inquiry) {
  auto limits = library_limits(record, spent);
  if (!limits) return LibraryComparison{no_time, {}};
  Inquiry::Question question{"library", name, best, &best};
  question.library = name;
  question.level = Level::full;
  question.time_budget = library_seconds(record.manifest);
  question.limits = *limits;
  auto verdict = inquiry.ask(question);
  (void)inquiry.take_judgements();  // the verdict is kept with the comparison
  if (!verdict) {
    if (inquiry.stopped()) return std::unexpected(verdict.error());
    return LibraryComparison{inquiry.out_of_time() ? no_time : verdict.error().what, {}};
  }
  if (!verdict->correct())
    return LibraryComparison{fmt::format("{}: {}", verdict->library, to_text(verdict->outcome)), {}};
  return LibraryComparison{{}, std::move(*verdict)};
}

}  // namespace ako
