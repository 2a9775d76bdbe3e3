// SPDX-License-Identifier: Apache-2.0
// C++ text with indentation, and names that clash with nothing.
#pragma once

#include <fmt/format.h>

#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace ako::synth {

class Code {
 public:
  void line(std::string_view text) {
    if (!text.empty()) text_.append(static_cast<std::size_t>(depth_) * 2, ' ').append(text);
    text_ += '\n';
  }
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    line(std::string_view(fmt::format(format, std::forward<Args>(args)...)));
  }
  /// A preprocessor line: never indented.
  void directive(std::string_view text) { text_.append(text) += '\n'; }
  /// A block of its own.
  void open_block() {
    line("{");
    indent();
  }
  void comment(std::string_view text);
  void raw(std::string_view text) { text_.append(text); }
  void indent() { ++depth_; }
  void outdent() { --depth_; }
  template <class... Args>
  void open(fmt::format_string<Args...> format, Args&&... args) {
    line("{} {{", fmt::format(format, std::forward<Args>(args)...));
    indent();
  }
  void close(std::string_view tail = "}") {
    outdent();
    line(tail);
  }
  const std::string& text() const { return text_; }
  int depth() const { return depth_; }
  void set_depth(int depth) { depth_ = depth; }

 private:
  std::string text_;
  int depth_ = 0;
};

/// Identifiers of one translation unit. Problem files may use any word; C++ and the emitted support code own
/// some.
class Names {
 public:
  Names();
  /// A name like `wanted` that was never given out.
  std::string take(std::string_view wanted);
  /// The name's scope has ended.
  void give_back(const std::string& name) { taken_.erase(name); }

 private:
  std::set<std::string, std::less<>> taken_;
};

}  // namespace ako::synth
