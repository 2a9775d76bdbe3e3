// SPDX-License-Identifier: Apache-2.0
// Inputs that are nearly right: bytes of a sample flipped, cut, repeated, joined with another sample's, and
// words put in that parsers are known to stumble over. A function of the samples and the random numbers
// alone.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/random.h"

namespace ako::fuzzing {

inline constexpr std::string_view kStumblingBlocks[] = {"0",
                                                        "-1",
                                                        "1e308",
                                                        "-9223372036854775808",
                                                        "9223372036854775807",
                                                        "18446744073709551616",
                                                        "nan",
                                                        "inf",
                                                        "null",
                                                        "~",
                                                        "[]",
                                                        "{}",
                                                        "\"",
                                                        "'",
                                                        "\\u0000",
                                                        "\xff\xfe",
                                                        "\n",
                                                        "\r\n",
                                                        "\t",
                                                        "((((((((",
                                                        "]]]]",
                                                        "&a",
                                                        "*a",
                                                        "<<: *a",
                                                        "!!binary",
                                                        "|",
                                                        ">",
                                                        "#",
                                                        ": ",
                                                        ", ",
                                                        "sum(i < ",
                                                        "x[i]",
                                                        " or 0",
                                                        "where(",
                                                        "T",
                                                        "%",
                                                        "/0",
                                                        "..",
                                                        "</script>",
                                                        "--",
                                                        "\xed\xa0\x80",
                                                        "\xf0\x9f\x98\x80",
                                                        "\u2028",
                                                        "4096",
                                                        "1.5",
                                                        "true",
                                                        "false",
                                                        "-"};

class Mutator {
 public:
  Mutator(std::span<const std::string> samples, std::uint64_t seed) : samples_(samples), random_(seed) {}

  std::string next() {
    std::string text = pick();
    for (std::uint64_t left = 1 + random_.below(4); left > 0; --left) change(text);
    return text;
  }

 private:
  const std::string& pick() { return samples_[random_.below(samples_.size())]; }
  std::size_t place(const std::string& text) { return random_.below(text.size() + 1); }
  std::string piece(const std::string& text) {
    std::size_t at = place(text);
    return text.substr(at, random_.below(40) + 1);
  }

  void change(std::string& text) {
    switch (random_.below(7)) {
      case 0:
        if (!text.empty()) text[random_.below(text.size())] ^= static_cast<char>(1u << random_.below(8));
        return;
      case 1:
        return void(text.erase(place(text), random_.below(20) + 1));
      case 2:
        return void(text.insert(place(text), piece(text)));
      case 3:
        return void(text.insert(place(text), piece(pick())));
      case 4:
        return void(text.insert(place(text), kStumblingBlocks[random_.below(std::size(kStumblingBlocks))]));
      case 5: {
        std::size_t at = place(text);  // a word or number becomes another
        std::size_t end = at;
        while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '.'))
          ++end;
        return void(text.replace(at, end - at, kStumblingBlocks[random_.below(std::size(kStumblingBlocks))]));
      }
      default:
        if (random_.below(8) == 0)
          text.resize(place(text));
        else if (std::size_t at = place(text); at < text.size())
          text[at] = static_cast<char>(random_.below(256));
    }
  }

  std::span<const std::string> samples_;
  Random random_;
};

}  // namespace ako::fuzzing
