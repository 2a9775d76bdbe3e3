// SPDX-License-Identifier: Apache-2.0
#include "toolchain/host/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"

namespace ako {
namespace {

constexpr std::size_t longest_line = 2000;

/// What stands between `before` and the next quote: GCC's and the linker's `NAME', or 'NAME'.
std::string_view quoted_after(std::string_view line, std::string_view before) {
  std::size_t at = line.find(before);
  if (at == std::string_view::npos) return {};
  std::string_view rest = line.substr(at + before.size());
  return rest.substr(0, rest.rfind('\''));
}

/// The linker names object files that the author never saw, by temporary names.
bool is_linker_chatter(std::string_view line) {
  return line.starts_with("collect2: ") || line.find("ld: warning: -z defs ignored") != line.npos ||
         line.find(": error: linker command failed with exit code") != line.npos ||
         (line.starts_with("cc1: warning:") && line.find("command-line option") != line.npos);
}

class Rewriter {
 public:
  explicit Rewriter(const MessageContext& context) : context_(context) {}

  void line(std::string text) {
    for (const std::string& prefix : context_.hidden_prefixes)
      for (std::size_t at; (at = text.find(prefix)) != std::string::npos;) text.erase(at, prefix.size());
    if (is_linker_chatter(text) || is_deep_inclusion(text)) return;
    if (std::string_view function = quoted_after(text, ": in function `"); !function.empty()) {
      function_ = function;
      return;
    }
    if (std::string_view symbol = quoted_after(text, "undefined reference to `"); !symbol.empty())
      return undefined(std::string(symbol));
    if (std::string_view symbol = quoted_after(text, "multiple definition of `"); !symbol.empty())
      return twice(std::string(symbol.substr(0, symbol.find('\''))));
    lines_.push_back(text.size() > longest_line ? text.substr(0, longest_line) + " …" : std::move(text));
  }

  std::string text() const {
    std::string out;
    std::size_t shown = std::min(lines_.size(), context_.most_lines);
    for (std::size_t i = 0; i < shown; ++i) out += lines_[i] + "\n";
    if (lines_.size() > shown) out += fmt::format("… {} more lines\n", lines_.size() - shown);
    return printable(out, true);
  }

 private:
  /// A header that includes itself is told by two hundred lines of where from, before the error.
  bool is_deep_inclusion(std::string_view line) {
    bool inclusion = line.starts_with("In file included from") || line.starts_with("                 from ");
    inclusions_ = inclusion ? inclusions_ + 1 : 0;
    constexpr int most = 5;
    return inclusions_ > most;
  }
  void undefined(const std::string& symbol) {
    if (!undefined_.insert(symbol).second) return;
    for (const KernelSignature& kernel : context_.kernels)
      if (kernel.symbol == symbol) return lines_.push_back(missing_kernel(kernel));
    std::string where =
        function_.empty() || function_.starts_with("ako_call_") ? "" : fmt::format(" by '{}'", function_);
    lines_.push_back(
        fmt::format("error: '{}' is used{} but defined in no source and no library", symbol, where));
  }
  void twice(const std::string& symbol) {
    if (symbol.starts_with("ako_call_"))
      lines_.push_back(fmt::format("error: '{}' is a name that ako uses: choose another one", symbol));
    else
      lines_.push_back(fmt::format("error: '{}' is defined more than once", symbol));
  }

  const MessageContext& context_;
  std::vector<std::string> lines_;
  std::set<std::string> undefined_;
  std::string function_;
  int inclusions_ = 0;
};

}  // namespace

std::string missing_kernel(const KernelSignature& kernel) {
  return fmt::format(
      "error: the plan launches '{}', but no source defines a function of this name with C linkage\n"
      "  help: define it as {}",
      kernel.symbol, declaration(kernel));
}

std::string readable_messages(std::string_view raw, const MessageContext& context) {
  Rewriter rewriter(context);
  while (!raw.empty()) {
    std::size_t end = std::min(raw.find('\n'), raw.size());
    rewriter.line(std::string(raw.substr(0, end)));
    raw.remove_prefix(std::min(raw.size(), end + 1));
  }
  return rewriter.text();
}

}  // namespace ako
