// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <climits>

#include "base/random.h"
#include "kernel/launch_plan.h"

namespace ako {
namespace {

std::int64_t value_of(const std::string& text, const Bindings& bindings = {}) {
  auto value = evaluate({text}, bindings);
  EXPECT_TRUE(value) << text << ": " << (value ? "" : value.error().what);
  return value.value_or(INT64_MIN);
}
Error error_of(const std::string& text, const Bindings& bindings = {}) {
  auto value = evaluate({text}, bindings);
  EXPECT_FALSE(value) << text << " = " << value.value_or(0);
  return value ? Error{} : value.error();
}

TEST(IntegerExpression, FollowsTheUsualPrecedence) {
  EXPECT_EQ(value_of("2 + 3 * 4"), 14);
  EXPECT_EQ(value_of("(2 + 3) * 4"), 20);
  EXPECT_EQ(value_of("10 - 4 - 3"), 3);
  EXPECT_EQ(value_of("-2 * -(3)"), 6);
}

TEST(IntegerExpression, DividesTowardMinusInfinity) {
  EXPECT_EQ(value_of("-7 / 2"), -4);
  EXPECT_EQ(value_of("-7 % 2"), 1);
  EXPECT_EQ(value_of("7 % -2"), -1);
  EXPECT_EQ(value_of("ceil_div(7, 2)"), 4);
  EXPECT_EQ(value_of("ceil_div(-7, 2)"), -3);
}

TEST(IntegerExpression, BindsNames) {
  EXPECT_EQ(value_of("ceil_div(T, BLOCK) + min(T, 3) * max(T, 3)", {{"T", 1000}, {"BLOCK", 128}}),
            8 + 3 * 1000);
}

TEST(IntegerExpression, ListsEachNameOnce) {
  EXPECT_EQ(*names_in({"T * D + ceil_div(T, B)"}), (std::vector<std::string>{"T", "D", "B"}));
}

TEST(IntegerExpression, SuggestsTheNameThatWasMeant) {
  EXPECT_EQ(error_of("BLOK * 2", {{"BLOCK", 128}, {"T", 1}}).advice, "did you mean 'BLOCK'?");
}

TEST(IntegerExpression, PointsAtTheColumnOfAMistake) {
  Error error = error_of("T + * 2", {{"T", 1}});
  EXPECT_NE(error.what.find("column 5"), std::string::npos) << error.what;
  EXPECT_EQ(error.excerpt, "  T + * 2\n      ^");
}

TEST(IntegerExpression, RefusesWhatIsNoExpression) {
  for (std::string text :
       {"", " ", "1 2", "(1", "1)", "1.5", "2x", "f(1, 2)", "min(1)", "min(1, 2, 3)", "T +", "=1", "1;2",
        "a.b", "\xff", "1 + \x1b[31m", "\x01"})
    EXPECT_FALSE(evaluate({text}, {{"T", 1}})) << text;
  EXPECT_FALSE(evaluate({std::string("4\0 5", 4)}, {}));
}

TEST(IntegerExpression, RefusesToDivideByZero) {
  for (const char* text : {"1 / 0", "1 % 0", "ceil_div(1, T - T)"})
    EXPECT_NE(error_of(text, {{"T", 4}}).what.find("division by zero"), std::string::npos) << text;
}

TEST(IntegerExpression, RefusesValuesBeyond64Bits) {
  for (const char* text : {"9223372036854775808", "9223372036854775807 + 1", "-9223372036854775807 - 2",
                           "4611686018427387904 * 2", "L / -1", "-L"})
    EXPECT_FALSE(evaluate({text}, {{"L", INT64_MIN}})) << text;
  EXPECT_EQ(value_of("L % -1", {{"L", INT64_MIN}}), 0);
}

TEST(IntegerExpression, RefusesHostileTexts) {
  EXPECT_FALSE(evaluate({std::string(100'000, '(')}, {}));
  EXPECT_FALSE(evaluate({std::string(900, '-') + "1"}, {}));
  EXPECT_FALSE(evaluate({std::string(5000, '1')}, {}));
}

/// A random expression and its value, worked out beside it in 128 bits.
struct Sample {
  std::string text;
  __int128 value;
  bool valid = true;
};
Sample random_expression(Random& random, int depth) {
  if (depth == 0 || random.below(4) == 0) {
    auto number = static_cast<std::int64_t>(random.below(random.below(2) ? 20 : 3'000'000'000));
    return {std::to_string(number), number};
  }
  Sample a = random_expression(random, depth - 1), b = random_expression(random, depth - 1);
  Sample out{"", 0, a.valid && b.valid};
  auto floor_div = [](__int128 x, __int128 y) { return x / y - (x % y != 0 && (x < 0) != (y < 0)); };
  switch (random.below(6)) {
    case 0:
      out.text = "(" + a.text + " + " + b.text + ")", out.value = a.value + b.value;
      break;
    case 1:
      out.text = "(" + a.text + " - " + b.text + ")", out.value = a.value - b.value;
      break;
    case 2:
      out.text = "(" + a.text + "*" + b.text + ")", out.value = a.value * b.value;
      break;
    case 3:
      out.text = "(" + a.text + " / " + b.text + ")";
      out.valid &= b.value != 0;
      out.value = b.value == 0 ? 0 : floor_div(a.value, b.value);
      break;
    case 4:
      out.text = "(" + a.text + " % " + b.text + ")";
      out.valid &= b.value != 0;
      out.value = b.value == 0 ? 0 : a.value - b.value * floor_div(a.value, b.value);
      break;
    default:
      out.text = "max(-" + a.text + ", " + b.text + ")", out.value = -a.value > b.value ? -a.value : b.value;
  }
  if (out.value > INT64_MAX || out.value < INT64_MIN) out.valid = false, out.value = 0;
  return out;
}

TEST(IntegerExpression, AgreesWithWiderArithmetic) {
  Random random(1);
  int valid = 0;
  for (int i = 0; i < 20'000; ++i) {
    Sample sample = random_expression(random, 4);
    if (sample.text.size() > 900) continue;
    auto value = evaluate({sample.text}, {});
    ASSERT_EQ(value.has_value(), sample.valid) << sample.text;
    if (sample.valid) {
      ASSERT_EQ(*value, static_cast<std::int64_t>(sample.value)) << sample.text;
    }
    valid += sample.valid;
  }
  EXPECT_GT(valid, 5'000);
}

}  // namespace
}  // namespace ako
