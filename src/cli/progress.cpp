// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>

#include "base/text.h"
#include "cli/duration.h"

namespace ako {
namespace {

std::size_t terminal_width() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20) return size.ws_col;
  return 80;
}

}  // namespace

std::string cut(std::string_view text, std::size_t columns) {
  std::size_t count = 0, at = 0, last = 0;
  for (; at < text.size(); ++at) {
    if ((static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) continue;
    if (count + 1 == columns) last = at;
    if (++count > columns) return std::string(text.substr(0, last)) + "…";
  }
  return std::string(text);
}

std::string round_line(const RoundRecord& round, const Style& style) {
  std::string decision(name_of(round.decision));
  std::string padded = fmt::format("{:<11}", decision);
  bool good = round.decision != RoundDecision::rolled_back;
  std::string score = round.score > 0 ? fmt::format("{:6.2f}×", round.score) : "      –";
  return fmt::format("round {:>2}  {}  {}  {} {}", round.number,
                     good ? style.green(padded) : style.dim(padded), score, printable(round.proposal.change),
                     style.dim("— " + printable(round.reason)));
}

ProgressLine::ProgressLine(const Context& context)
    : context_(context),
      stream_(context.json ? stderr : stdout),
      live_(context.terminal && !context.json && !context.quiet) {}

ProgressLine::~ProgressLine() { erase(); }

void ProgressLine::erase() {
  if (!drawn_) return;
  fmt::print(stream_, "\r\x1b[K");
  std::fflush(stream_);
  drawn_ = false;
}

void ProgressLine::permanent(std::string_view line) {
  erase();
  fmt::print(stream_, "{}\n", line);
  std::fflush(stream_);
}

void ProgressLine::status(const Event& event) {
  if (!live_) return;
  std::string left = std::isfinite(event.left.seconds_left)
                         ? fmt::format(", {} left", duration_text(event.left.seconds_left))
                         : "";
  std::string text = event.number > 0 ? fmt::format("round {}, best {:.2f}×{} | {} | {}", event.number,
                                                    event.best_score, left, stage_, hypothesis_)
                                      : fmt::format("best {:.2f}×{} | {}", event.best_score, left, stage_);
  fmt::print(stream_, "\r\x1b[K{}", cut(printable(text), terminal_width() - 1));
  std::fflush(stream_);
  drawn_ = true;
}

void ProgressLine::show(const Event& event) {
  if (context_.quiet) return;
  Style style(context_.color && !context_.json);
  switch (event.kind) {
    case Event::Kind::phase:
      stage_ = event.text;
      return status(event);
    case Event::Kind::round_started:
      hypothesis_ = event.text;
      stage_ = "starting";
      return status(event);
    case Event::Kind::stage:
      stage_ = event.text;
      return status(event);
    case Event::Kind::round_ended:
      if (event.round) permanent(round_line(*event.round, style));
      hypothesis_.clear();
      return;
    case Event::Kind::note:
      return permanent(printable(event.text));
    case Event::Kind::finished:
      return permanent(fmt::format("ended: {}", printable(event.text)));
  }
}

}  // namespace ako
