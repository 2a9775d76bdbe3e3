// SPDX-License-Identifier: Apache-2.0
// A campaign's events for people: on a terminal one status line that is rewritten, and a permanent line per
// round; elsewhere only the permanent lines.
#pragma once

#include "campaign/campaign.h"
#include "cli/cli.h"

namespace ako {

class ProgressLine {
 public:
  explicit ProgressLine(const Context&);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void show(const Event&);

 private:
  void permanent(std::string_view line);
  void status(const Event&);
  void erase();

  const Context& context_;
  std::FILE* stream_;
  bool live_;
  bool drawn_ = false;
  std::string hypothesis_, stage_;
};

/// "round  3  ACCEPTED     2.41×  passes: three → online — 1.300× (1.280–1.320×) faster …"
std::string round_line(const RoundRecord&, const Style&);
/// Cut to `columns` code points, with an ellipsis.
std::string cut(std::string_view text, std::size_t columns);

}  // namespace ako
