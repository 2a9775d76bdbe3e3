// SPDX-License-Identifier: Apache-2.0
#include "kernel/yaml_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace ako {
namespace {

constexpr std::size_t largest_document = 1 << 20;

std::string line_of(std::string_view text, int line) {
  for (; line > 0 && !text.empty(); --line) {
    std::size_t end = text.find('\n');
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return printable(text.substr(0, text.find('\n')).substr(0, 200));
}

}  // namespace

void YamlReader::mistake(const YAML::Mark& at, std::string what, std::string advice) {
  Error error{ErrorKind::invalid_input, printable(what), std::move(advice)};
  error.place = Place{file_, at.line + 1, at.column + 1};
  if (at.is_null())
    error.place = Place{file_};
  else
    error.excerpt = fmt::format("  {}\n  {}^", line_of(text_, at.line),
                                std::string(static_cast<std::size_t>(at.column), ' '));
  errors.push_back(std::move(error));
}

void YamlReader::mistake(const YAML::Node& at, std::string what, std::string advice) {
  mistake(at.Mark(), std::move(what), std::move(advice));
}

YAML::Node YamlReader::load() {
  if (text_.size() > largest_document) {
    mistake(YAML::Mark::null_mark(), fmt::format("{} bytes of YAML are too many", text_.size()),
            "at most 1 MiB");
    return {};
  }
  std::string plain(text_);
  std::erase(plain, '\r');
  if (printable(plain, true) != plain) {
    mistake(YAML::Mark::null_mark(), "the file holds control characters or bytes that are not UTF-8",
            "write it as plain UTF-8 text");
    return {};
  }
  try {
    return YAML::Load(std::string(text_));
  } catch (const YAML::Exception& exception) {
    mistake(exception.mark, fmt::format("YAML: {}", exception.msg));
  }
  return {};
}

bool YamlReader::check_keys(const YAML::Node& map, std::string_view what,
                            const std::vector<std::string>& known) {
  if (!map.IsMap()) {
    mistake(map, fmt::format("{} must be a map", what),
            fmt::format("its keys are {}", fmt::join(known, ", ")));
    return false;
  }
  std::vector<std::string> seen;
  for (const auto& entry : map) {
    std::string key = entry.first.IsScalar() ? entry.first.Scalar() : std::string();
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      std::string_view near = closest(key, known);
      mistake(entry.first, fmt::format("{} has no key '{}'", what, key),
              near.empty() ? fmt::format("its keys are {}", fmt::join(known, ", "))
                           : fmt::format("did you mean '{}'?", near));
    }
    if (std::find(seen.begin(), seen.end(), key) != seen.end())
      mistake(entry.first, fmt::format("'{}' is given twice", key));
    seen.push_back(std::move(key));
  }
  return true;
}

std::optional<std::string> YamlReader::scalar(const YAML::Node& node, std::string_view what) {
  if (node.IsDefined() && node.IsScalar()) return node.Scalar();
  mistake(node, fmt::format("{} must be a single value", what));
  return std::nullopt;
}

std::optional<std::int64_t> YamlReader::integer(const YAML::Node& node, std::string_view what) {
  auto text = scalar(node, what);
  if (!text) return std::nullopt;
  std::int64_t value = 0;
  const char* end = text->data() + text->size();
  auto [stop, code] = std::from_chars(text->data(), end, value);
  if (code == std::errc() && stop == end) return value;
  mistake(node, fmt::format("{} must be an integer of at most 64 bits, not '{}'", what, *text));
  return std::nullopt;
}

std::vector<std::string> YamlReader::scalars(const YAML::Node& list, std::string_view what) {
  std::vector<std::string> values;
  if (!list.IsSequence() || list.size() > most_yaml_entries) {
    mistake(list, fmt::format("{} must be a list of at most {} entries", what, most_yaml_entries));
    return values;
  }
  for (const auto& entry : list)
    if (auto value = scalar(entry, fmt::format("each entry of {}", what)))
      values.push_back(std::move(*value));
  return values;
}

}  // namespace ako
