// SPDX-License-Identifier: Apache-2.0
// Reading YAML with errors that point at a line.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace ako {

// What is read is written by hand or by an agent: this is far beyond any real list, and bounds the work of a
// hostile one (YAML aliases can repeat a node at no cost in text).
inline constexpr std::size_t most_yaml_entries = 256;

/// A YAML document being read, and the mistakes found in it so far.
class YamlReader {
 public:
  YamlReader(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {}

  /// The document, or a null node after a syntax error (which is noted).
  YAML::Node load();

  void mistake(const YAML::Node& at, std::string what, std::string advice = {});
  void mistake(const YAML::Mark& at, std::string what, std::string advice = {});
  /// Notes keys of a map that are not in `known`, and keys given twice. False when it is no map.
  bool check_keys(const YAML::Node& map, std::string_view what, const std::vector<std::string>& known);
  /// The text of a scalar; notes a mistake and returns nothing when it is something else.
  std::optional<std::string> scalar(const YAML::Node&, std::string_view what);
  std::optional<std::int64_t> integer(const YAML::Node&, std::string_view what);
  std::vector<std::string> scalars(const YAML::Node& list, std::string_view what);

  std::vector<Error> errors;

 private:
  std::string_view text_;
  std::string file_;
};

}  // namespace ako
