// SPDX-License-Identifier: Apache-2.0
// Reading JSON fields that may be missing or of another type, and numbers that JSON cannot say (infinities,
// NaN).
#pragma once

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ako::json_fields {

/// Infinities and NaN become the strings "inf", "-inf" and "nan".
inline nlohmann::json number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}
inline double number_from(const nlohmann::json& value, double otherwise) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return otherwise;
  const auto& text = value.get_ref<const std::string&>();
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  return text == "nan" ? std::numeric_limits<double>::quiet_NaN() : otherwise;
}

inline const nlohmann::json& field(const nlohmann::json& object, const char* name) {
  static const nlohmann::json nothing;
  if (!object.is_object()) return nothing;
  auto found = object.find(name);
  return found == object.end() ? nothing : *found;
}
inline std::string text(const nlohmann::json& object, const char* name, std::string otherwise = {}) {
  const auto& value = field(object, name);
  return value.is_string() ? value.get<std::string>() : otherwise;
}
inline double real(const nlohmann::json& object, const char* name, double otherwise = 0) {
  return number_from(field(object, name), otherwise);
}
inline std::int64_t integer(const nlohmann::json& object, const char* name, std::int64_t otherwise = 0) {
  const auto& value = field(object, name);
  return value.is_number_integer() ? value.get<std::int64_t>() : otherwise;
}
inline std::uint64_t natural(const nlohmann::json& object, const char* name, std::uint64_t otherwise = 0) {
  const auto& value = field(object, name);
  return value.is_number_unsigned() ? value.get<std::uint64_t>() : otherwise;
}
inline bool truth(const nlohmann::json& object, const char* name, bool otherwise = false) {
  const auto& value = field(object, name);
  return value.is_boolean() ? value.get<bool>() : otherwise;
}
inline std::vector<std::string> texts(const nlohmann::json& object, const char* name) {
  std::vector<std::string> result;
  for (const auto& one : field(object, name))
    if (one.is_string()) result.push_back(one.get<std::string>());
  return result;
}
inline std::vector<double> reals(const nlohmann::json& object, const char* name) {
  std::vector<double> result;
  for (const auto& one : field(object, name)) result.push_back(number_from(one, 0));
  return result;
}
inline nlohmann::json numbers(const std::vector<double>& values) {
  auto result = nlohmann::json::array();
  for (double value : values) result.push_back(number(value));
  return result;
}

}  // namespace ako::json_fields
