// SPDX-License-Identifier: Apache-2.0
// Units in types: sizes are Bytes, durations std::chrono with a double microsecond for measured times.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>

namespace ako {

struct Bytes {
  std::int64_t count = 0;
  friend auto operator<=>(const Bytes&, const Bytes&) = default;
  friend Bytes operator+(Bytes a, Bytes b) { return {a.count + b.count}; }
  Bytes& operator+=(Bytes b) {
    count += b.count;
    return *this;
  }
};
constexpr Bytes kibibytes(std::int64_t n) { return {n << 10}; }
constexpr Bytes mebibytes(std::int64_t n) { return {n << 20}; }
constexpr Bytes gibibytes(std::int64_t n) { return {n << 30}; }

using Microseconds = std::chrono::duration<double, std::micro>;
using Seconds = std::chrono::duration<double>;

/// For people: "12.3 us", "4.56 ms", "1.2 s"; "64.0 MiB"; three significant digits.
std::string to_text(Microseconds);
std::string to_text(Bytes);

}  // namespace ako
