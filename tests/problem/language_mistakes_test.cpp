// SPDX-License-Identifier: Apache-2.0
// Every mistake is found where it is, and the message says what to do.
#include "problem/language_fixture.h"

namespace ako {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string errors_of_file(const std::string& text) { return errors_of(parse_problem(text, "file.yaml")); }

const std::string whole_file = R"(problem: small
dims: {T: rows, D: columns}
tensors:
  x: {type: f32, shape: [T, D]}
  y: {type: f32, shape: [T, D]}
math: |
  y[t, d] = x[t, d] * 2
shapes:
  - {T: 3, D: 4}
tolerance: {snr_db: 100}
)";

std::string changed(const std::string& from, const std::string& to) {
  std::string text = whole_file;
  std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

struct Mistake {
  const char* math;
  const char* message;
  const char* advice;
};

class Mistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, AreNamedWithAdvice) {
  EXPECT_THAT(errors_in(GetParam().math), AllOf(HasSubstr(GetParam().message), HasSubstr(GetParam().advice)));
}

INSTANTIATE_TEST_SUITE_P(
    Language, Mistakes,
    ::testing::Values(
        Mistake{"y[t, d] = 1 / D * x[t, d]", "floored, but is used as a real", "1.0 / D"},
        Mistake{"y[t, d] = x[t, d]^(1/2)", "floored, but is used as a real", "1.0 / D"},
        Mistake{"y[t, d] = x[t, dd]", "`dd` is not known here", "sum(dd < …: …)"},
        Mistake{"y[t, d] = x[t, d] + epps\nr[t] = eps", "`epps` is not known here", "did you mean `eps`?"},
        Mistake{"y[t, d] = sgmoid(x[t, d])", "there is no function `sgmoid`", "did you mean `sigmoid`?"},
        Mistake{"y[t, d] = x(t, d)", "x is a tensor, not a function", "square brackets"},
        Mistake{"y[t, d] = x[t]", "x has 2 axes, not 1", "one subscript for each axis"},
        Mistake{"y[t] = x[t, 0]", "y has 2 axes, but 1 subscript here", "one index for each axis"},
        Mistake{"y[t, d] = exp(x[t, d], 2)", "exp takes 1 argument, not 2", ""},
        Mistake{"y[t, d] = x[t, d] > 0", "y holds real numbers, the value is of truth values",
             "where(condition, 1.0, 0.0)"},
        Mistake{"n[t] = x[t, 0]", "n holds integers, the value is of real numbers", "int(…)"},
        Mistake{"y[t, d] = where(x[t, d], 1, 0)", "first argument of where must be a truth value", "x > 0"},
        Mistake{"y[t, d] = x[t, d] + (d > 0)", "`+` needs a number, this is a truth value",
             "where(condition, 1, 0)"},
        Mistake{"y[t, d] = x[t, 0.5]", "a subscript must be an integer, this is real", "int(…)"},
        Mistake{"y[t, d] = not x[t, d]", "`not` needs a truth value", "compare first"},
        Mistake{"y[t, d] = x[t, d-1] or w[d]", "`or` needs truth values", "must be a literal: `x[i-1] or 0`"},
        Mistake{"y[t, d] = sum(x[t, d])", "sum needs a bound", "sum(k < K: …)"},
        Mistake{"y[t, d] = sum(k < D, x[t, k])", "sum needs a bound", "sum(k < K: …)"},
        Mistake{"y[t, d] = sum(d < D: x[t, d])", "the index d is bound already", "another letter"},
        Mistake{"y[t, d] = sum(k > 0: x[t, k])", "bounds are written with `<` and `<=`", "a <= k < b"},
        Mistake{"y[t, t] = x[t, t]", "the index t stands twice", "diagonal"},
        Mistake{"y[t, D] = x[t, 0]", "D is declared above and cannot be an index", ""},
        Mistake{"y[t, 2*d] = x[t, d]", "the left side of `=` takes indices only", "`+=`"},
        Mistake{"y[t, d < 3] = x[t, d]", "y is declared: its indices run over its shape", "remove the bound"},
        Mistake{"y[t, d] = x[t, d]\ny[t, d] = 0", "y is assigned already, in line", "defined once"},
        Mistake{"y[t, d] = s[t]\ns[t] = x[t, 0]", "s is read before it is assigned, in line 8",
             "move its definition up"},
        Mistake{"r[t] = y[t, 0]\ny[t, d] = x[t, d]", "y is read before it is assigned", "in the order written"},
        Mistake{"y[t, d] = y[t, d] + x[t, d]", "y is defined by itself", "steps back by one"},
        Mistake{"y[t, d] = y[t-1, d] + x[t, d]", "no value before its first", "y[-1, …] = 0.0"},
        Mistake{"y[t, d] = (y[t-2, d] or 0) + x[t, d]", "other than one step back", "y[t-1, …]"},
        Mistake{"h[-1, d] = 0\ny[t, d] = x[t, d]", "no recurrence of h follows", "h[t-1, …]"},
        Mistake{"h[-1, d] = 0\nh[t, d] = x[t, d]\ny[t, d] = h[t, d]", "but no recurrence uses it", "h[t-1]"},
        Mistake{"s[q] = q\ny[t, d] = x[t, d] + s[0]", "the range of the index q is not clear", "s[q < …]"},
        Mistake{"s[i] = x[i, 0] + w[i]\ny[t, d] = s[t]", "the index i runs over T in x, but over D in w",
             "s[i < D]"},
        Mistake{"s[t] += x[t, 0]\ny[t, d] = s[t]", "s has no value to update", "define it first"},
        Mistake{"s[t < T] = 0\ns[idx[t] % T] += x[t, 0]\nr[t] = s[t]", "s holds integers", "with `0.0` reals"},
        Mistake{"y[t, d] -= x[t, d]", "`-=` is not an update", "+= -(…)"},
        Mistake{"n[idx[t] % T] max= idx[t]", "n has no value to compare with", "define it first"},
        Mistake{"y[t, d] = scan sum(k <= D: x[t, k])", "a scan ends at an index of the left side", "k <= t"},
        Mistake{"y[t, d] = scan sum(k <= d: x[t, d] * x[t, k])", "must not depend on where it ends", ""},
        Mistake{"y[t, d] = sum(j < D: scan sum(k <= d: x[t, k]))", "cannot stand inside a reduction", ""},
        Mistake{"y[t, d] = scan any(k <= d: x[t, k] > 0)", "scan is of sum, prod, max or min", ""},
        Mistake{"y[t, d] = argmax(i < D, j < D: x[t, i])", "argmax is over one index", ""},
        Mistake{"m[t] = max(d < D: x[t, d])\ny[t, d] = x[t, d]", "m is computed but never read", "remove it"},
        Mistake{"y[t, d] = x[t, d", "`[` is never closed", ""},
        Mistake{"y[t, d] = (x[t, d]]", "`]` does not close the `(`", ""},
        Mistake{"y[t, d] = x[t, d] && 1", "has no meaning in math", "`and`, `or`, `not`"},
        Mistake{"y[t, d] = 2x[t, d]", "followed by a letter", "multiplication"},
        Mistake{"y[t, d] = x[t, d] = 2", "`=` inside an expression", "`==`"},
        Mistake{"y(t, d) = x[t, d]", "cannot be assigned", "square brackets"},
        Mistake{"y[t, d] = 99999999999999999999", "does not fit in 64 bits", "1e20"},
        Mistake{"y[t, d] = x[t, d] + 1 / 0", "division by zero", ""},
        Mistake{"y[t, d] = x[t, 1 / d]", "the integer divisor d may be 0", "certainly not 0"},
        Mistake{"double[t] = x[t, 0]\nr[t] = double[t]", "cannot be a temporary", "another name"}));

TEST(MistakePlaces, PointIntoTheFile) {
  Parsed<Problem> parsed = parse_problem(changed("x[t, d] * 2", "x[t, d] * foo"), "file.yaml");
  ASSERT_FALSE(parsed);
  const Error& error = parsed.error()[0];
  EXPECT_EQ(*error.place, (Place{"file.yaml", 7, 23}));
  EXPECT_EQ(error.excerpt, "      y[t, d] = x[t, d] * foo\n                          ^~~");
}

TEST(MistakePlaces, FollowTheIndentationOfABlock) {
  std::string text =
      changed("math: |\n  y[t, d] = x[t, d] * 2", "math: |\n\n      # note\n      y[t, d] = x[t, d] * foo");
  EXPECT_THAT(errors_of_file(text), HasSubstr("file.yaml:9:27: error"));
}

TEST(MistakePlaces, FollowMathOnOneLine) {
  std::string text = changed("math: |\n  y[t, d] = x[t, d] * 2", "math: \"y[t, d] = x[t, d] * foo\"");
  EXPECT_THAT(errors_of_file(text), HasSubstr("file.yaml:6:28: error"));
}

TEST(MistakePlaces, PointIntoShapesOfTensors) {
  EXPECT_THAT(errors_of_file(changed("x: {type: f32, shape: [T, D]}", "x: {type: f32, shape: [T, D * N]}")),
              HasSubstr("file.yaml:4:33: error: `N` is no dim"));
}

TEST(MistakePlaces, AreReportedTogetherInTheOrderOfTheFile) {
  std::string text = changed("type: f32", "type: f33");
  text.replace(text.find("* 2"), 3, "* foo");
  text += "tolerence: 3\n";
  Parsed<Problem> parsed = parse_problem(text, "file.yaml");
  ASSERT_FALSE(parsed);
  ASSERT_EQ(parsed.error().size(), 3u) << to_text(parsed.error());
  EXPECT_THAT(parsed.error()[0].what, HasSubstr("no type `f33`"));
  EXPECT_THAT(parsed.error()[1].what, HasSubstr("`foo`"));
  EXPECT_THAT(parsed.error()[2].advice, HasSubstr("tolerance"));
}

TEST(MistakePlaces, DoNotCascade) {
  std::string errors =
      errors_in("m[t] = max(d < D: x[t, d] + foo)\ny[t, d] = x[t, d] - m[t]\nr[t] = y[t, 0]");
  EXPECT_EQ(errors.find("error", errors.find("error") + 1), std::string::npos) << errors;
}

TEST(FileMistakes, AreUnderstandable) {
  EXPECT_THAT(errors_of_file(""), HasSubstr("the file is empty"));
  EXPECT_THAT(errors_of_file("\n  \n"), HasSubstr("the file is empty"));
  EXPECT_THAT(errors_of_file("- 1\n- 2\n"), HasSubstr("must be a mapping, this is a list"));
  EXPECT_THAT(errors_of_file("problem: [\n"), HasSubstr("not valid YAML"));
  EXPECT_THAT(errors_of_file("problem: x\n\ttensors: {}\n"), HasSubstr("a tab in the indentation"));
  EXPECT_THAT(errors_of_file(std::string("problem: x\0y", 12)), HasSubstr("not UTF-8"));
  EXPECT_THAT(errors_of_file(std::string(2 << 20, '#')), HasSubstr("more than 1 MiB"));
  EXPECT_THAT(errors_of_file("problem: x\n"), AllOf(HasSubstr("no `tensors`"), HasSubstr("no `math`")));
}

TEST(FileMistakes, InKeysAreNamed) {
  EXPECT_THAT(errors_of_file(changed("shapes:", "shape:")), HasSubstr("did you mean `shapes`?"));
  EXPECT_THAT(errors_of_file(changed("tensors:", "dims: {N: n}\ntensors:")),
              HasSubstr("`dims` is given twice"));
  EXPECT_THAT(errors_of_file(changed("x: {type: f32,", "x: {tpye: f32,")),
              AllOf(HasSubstr("did you mean `type`?"), HasSubstr("tensor x has no type")));
  EXPECT_THAT(errors_of_file(changed("shape: [T, D]", "shape: T")), HasSubstr("a shape must be a list"));
  EXPECT_THAT(errors_of_file(changed("math: |", "math: >")), HasSubstr("math must keep its lines"));
}

TEST(FileMistakes, OfUnquotedValuesAreUnderstood) {
  EXPECT_THAT(errors_of_file(changed("x: {type: f32,", "x: {values: normal(0, 1), type: f32,")),
              HasSubstr("quote them: `values: \"normal(0, 1)\"`"));
}

TEST(FileMistakes, InDeclarationsAreNamed) {
  EXPECT_THAT(errors_of_file(changed("problem: small", "problem: my-kernel")),
              HasSubstr("letters, digits and underscores"));
  EXPECT_THAT(errors_of_file(changed("{T: rows, D: columns}", "{T: rows, D: columns, N: more}")),
              HasSubstr("no value for the dim N"));
  EXPECT_THAT(errors_of_file(changed("  y: {", "  x: {")), HasSubstr("`x` is given twice"));
  EXPECT_THAT(errors_of_file(changed("  y: {", "  T: {")), HasSubstr("T is declared already, in line 2"));
  EXPECT_THAT(errors_of_file(changed("  y: {", "  z: {type: f32, shape: [T]}\n  y: {")),
              HasSubstr("z is declared, but the math neither reads nor assigns it"));
  EXPECT_THAT(errors_of_file(changed("math:", "scalars: {eps: {type: f32, value: 1e-6}}\nmath:")),
              HasSubstr("the scalar eps is never used"));
  EXPECT_THAT(errors_of_file(changed("math:", "scalars: {eps: {type: f32, value: small}}\nmath:")),
              HasSubstr("`small` is not a number"));
  EXPECT_THAT(errors_of_file(changed("tolerance: {snr_db: 100}", "")),
              HasSubstr("no tolerance says how exact y must be"));
  EXPECT_THAT(errors_of_file(changed("snr_db: 100", "snr_db: 100, rtol: 0.1")), HasSubstr("mixes measures"));
}

TEST(FileMistakes, InShapesAreNamed) {
  EXPECT_THAT(errors_of_file(changed("{T: 3, D: 4}", "{T: 3}")), HasSubstr("no value for the dim D"));
  EXPECT_THAT(errors_of_file(changed("{T: 3, D: 4}", "{T: 3, D: 0}")), HasSubstr("D = 0 is not a size"));
  EXPECT_THAT(errors_of_file(changed("{T: 3, D: 4}", "{T: 3, D: 2199023255552}")),
              HasSubstr("is not a size"));
  EXPECT_THAT(errors_of_file(changed("{T: 3, D: 4}", "{T: 3, D: 4, cores: true}")),
              HasSubstr("did you mean `core`?"));
  EXPECT_THAT(errors_of_file(changed("{T: 3, D: 4}", "{T: 4194304, D: 4194304}")),
              HasSubstr("more than 4 TiB"));
  EXPECT_THAT(errors_of_file(changed("- {T: 3, D: 4}", "- {T: 3, D: 4}\n  - {T: 3, D: 4}")),
              HasSubstr("is given twice"));
  EXPECT_THAT(errors_of_file(changed("shape: [T, D]", "shape: [T, D - 4]")),
              HasSubstr("the extent D - 4 of x is 0"));
}

std::string errors_with_values(const std::string& type, const std::string& values) {
  ProblemText text{"y[t, d] = x[t, d] + real(z[t])"};
  text.extra =
      "  z: {type: " + type + ", shape: [T]" + (values.empty() ? "" : ", values: \"" + values + "\"") + "}\n";
  return errors_of(text.parse());
}

TEST(ValueMistakes, AreNamed) {
  EXPECT_EQ(errors_with_values("u8", "integers(0, 256)"), "");
  EXPECT_THAT(errors_with_values("u8", "integers(0, 300)"),
              HasSubstr("reaches from 0 to 299, but u8 holds 0 to 255"));
  EXPECT_THAT(errors_with_values("i32", ""), HasSubstr("z holds integers and needs values"));
  EXPECT_THAT(errors_with_values("i32", "normal(0, 1)"), HasSubstr("normal makes real numbers"));
  EXPECT_THAT(errors_with_values("i32", "integers(0)"), HasSubstr("write `integers(low, high)`"));
  EXPECT_THAT(errors_with_values("i32", "integers(5, 5)"), HasSubstr("has an empty range"));
  EXPECT_THAT(errors_with_values("i32", "categoricl(5)"), HasSubstr("did you mean `categorical`?"));
  EXPECT_THAT(errors_with_values("f32", "normal(0, -1)"), HasSubstr("negative standard deviation"));
  EXPECT_THAT(errors_with_values("f32", "normal(0, 1/D)"), HasSubstr("1.0 / D"));
  EXPECT_THAT(errors_with_values("f32", "uniform(1, 0)"), HasSubstr("has an empty range"));
  EXPECT_THAT(errors_with_values("i32", "permutation(2)"), HasSubstr("does not fill an axis of 6"));
  EXPECT_THAT(errors_with_values("i32", "integers(0, x)"), HasSubstr("`x` is no dim"));
}

/// What people who come from other notations write first.
TEST(FirstMistakes, AreAnsweredByWhatToWriteInstead) {
  const std::pair<const char*, const char*> mistakes[] = {
      {"y[t, d] = x[t, d] * q[d]", "there is no tensor `q`"},
      {"s[t] = q[t]\ny[t, d] = x[t, d] * s[t]", "there is no tensor `q`"},
      {"y[t, d] = x[t, d] * sum(k < D: x[t, k]", "add the `)`"},
      {"y[t, d] := x[t, d]", "with `=` alone"},
      {"y[t, d] = mean(k < D: x[t, k])", "a mean is a sum divided by its length"},
      {"y[t, d] = average(k < D: x[t, k])", "there is no reduction `average`"},
      {"y[t, d] = invsqrt(x[t, d])", "`rsqrt(x)` is 1 / sqrt(x)"},
      {"y[t, d] = silu(x[t, d])", "`x * sigmoid(x)`"},
      {"y[t, d] = x[t, d] if d > 0 else 0", "`where(condition, then, else)`"},
      {"y[t, d] = x[t d]", "a comma is missing"},
      {"y[t, d] = x[t, d + 1]", "read `x[…] or 0`"},
  };
  for (const auto& [math, advice] : mistakes)
    EXPECT_THAT(errors_in(math), ::testing::HasSubstr(advice)) << math;
}

TEST(FirstMistakes, OfTheFileSayWhereTheCauseOftenIs) {
  const auto errors = [](const std::string& text) { return errors_of(parse_problem(text, "p.yaml")); };
  EXPECT_THAT(errors("problem: p\nmath:\n  y = sum(k < 2: 1.0)\nshapes:\n  - {}\n"),
              ::testing::HasSubstr("with the bar"));
  EXPECT_THAT(errors("problem: p\ntensors:\n  x: {type: f32, shape: []}\n   y: {type: f32, shape: []}\n"),
              ::testing::HasSubstr("not valid YAML"));
  EXPECT_THAT(errors("problem: p\ndims: {T: t, D: d}\ntensors:\n  x: {type: f32, shape: [H]}\nmath: x = "
                     "1\nshapes: []\n"),
              ::testing::HasSubstr("the dims are T, D"));
}

}  // namespace
}  // namespace ako
