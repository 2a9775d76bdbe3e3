// SPDX-License-Identifier: Apache-2.0
// The problems that come with ako, and what is done to them: printed and read again, cut short, garbled.
#include <fmt/format.h>

#include <filesystem>

#include "base/files.h"
#include "base/random.h"
#include "problem/cost.h"
#include "problem/language_fixture.h"

namespace ako {
namespace {

std::vector<std::filesystem::path> shipped() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(AKO_SOURCE_DIR "/problems"))
    if (entry.path().extension() == ".yaml") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

class Shipped : public ::testing::TestWithParam<std::filesystem::path> {};
INSTANTIATE_TEST_SUITE_P(Problems, Shipped, ::testing::ValuesIn(shipped()),
                         [](const auto& one) { return one.param.stem().string(); });

TEST_P(Shipped, IsSoundAndNamedAfterItsFile) {
  Parsed<Problem> problem = load_problem(GetParam());
  ASSERT_TRUE(problem) << errors_of(problem);
  EXPECT_EQ(problem->name, GetParam().stem().string());
  EXPECT_FALSE(problem->summary.empty());
}

TEST_P(Shipped, HasRoomForItsTensorsOnASmallMachine) {
  Parsed<Problem> problem = load_problem(GetParam());
  ASSERT_TRUE(problem);
  for (const Shape& shape : problem->shapes)
    for (TensorId id : kernel_tensors(*problem)) {
      const Tensor& tensor = problem->tensor(id);
      EXPECT_LE(storage_bytes(tensor.type, element_count(*problem, tensor, shape)), mebibytes(128))
          << shape.label;
    }
}

TEST_P(Shipped, HasACostOnEveryShape) {
  Parsed<Problem> problem = load_problem(GetParam());
  ASSERT_TRUE(problem);
  for (const Shape& shape : problem->shapes) {
    Cost cost = cost_of(*problem, shape);
    EXPECT_GT(cost.compulsory.count, 0);
    EXPECT_LE(cost.contraction_flops, cost.flops);
    EXPECT_LE(cost.transcendental, cost.flops);
  }
}

/// The file with its math replaced by what the printer makes of it.
std::string reprinted(const Problem& problem) {
  std::string text = problem.source.substr(0, problem.source.find("\nmath: |") + 9);
  for (const Statement& statement : problem.statements) text += "  " + to_text(problem, statement) + "\n";
  return text + problem.source.substr(problem.source.find("\nshapes:") + 1);
}

void expect_same(const Problem& a, const Problem& b) {
  ASSERT_EQ(a.exprs.size(), b.exprs.size());
  for (std::size_t i = 0; i < a.exprs.size(); ++i) {
    const Expr &x = a.exprs[i], &y = b.exprs[i];
    EXPECT_TRUE(x.kind == y.kind && x.type == y.type && x.op == y.op && x.reduce == y.reduce &&
                x.scan == y.scan && x.cast == y.cast && x.ref == y.ref && x.integer == y.integer &&
                x.real == y.real && x.args == y.args && x.condition == y.condition &&
                x.fallback == y.fallback && x.bounds.size() == y.bounds.size())
        << to_text(a, static_cast<ExprId>(i)) << " / " << to_text(b, static_cast<ExprId>(i));
  }
  EXPECT_EQ(statements_of(a), statements_of(b));
}

TEST_P(Shipped, IsTheSameAfterPrintingAndReading) {
  Parsed<Problem> problem = load_problem(GetParam());
  ASSERT_TRUE(problem);
  Parsed<Problem> again = parse_problem(reprinted(*problem), "again.yaml");
  ASSERT_TRUE(again) << errors_of(again);
  expect_same(*problem, *again);
}

/// Every error must be fit to be shown: a message, and a place within the file.
void expect_presentable(const Parsed<Problem>& parsed) {
  if (parsed) return;
  ASSERT_FALSE(parsed.error().empty());
  for (const Error& error : parsed.error()) {
    EXPECT_FALSE(error.what.empty());
    EXPECT_TRUE(error.place.has_value());
  }
}

TEST_P(Shipped, NeverCrashesTheParserWhenCutShort) {
  std::string text = *read_file(GetParam());
  for (std::size_t length = 0; length < text.size(); length += 7)
    expect_presentable(parse_problem(text.substr(0, length), "cut.yaml"));
}

TEST_P(Shipped, NeverCrashesTheParserWhenGarbled) {
  std::string text = *read_file(GetParam());
  Random random(hash_text(text).bytes[0]);
  const std::string bits[] = {
      "(",    ")",    "[",  "]",  ",", ":", "-",   "+",   "*",  "/",    "%",       "^",   "=",     "<",
      ">=",   " ",    "\n", "\t", "0", "9", "1e9", "t",   "D",  "sum(", "k < D: ", "or ", "scan ", "where(",
      "\xc3", "\x01", "#",  "{",  "}", "'", "\"",  "&a ", "*a", "!",    "|",       "inf", "- "};
  for (int round = 0; round < 60; ++round) {
    std::string garbled = text;
    for (std::uint64_t change = 0; change <= random.below(3); ++change) {
      std::size_t at = random.below(garbled.size()), length = random.below(4);
      garbled.replace(at, length, bits[random.below(std::size(bits))]);
    }
    Parsed<Problem> parsed = parse_problem(garbled, "garbled.yaml");
    expect_presentable(parsed);
    if (parsed) cost_of(*parsed, parsed->shapes[0]);
  }
}

TEST(Guide, BeginsWithAProblemThatParses) {
  std::string guide = *read_file(AKO_SOURCE_DIR "/docs/problems.md");
  std::size_t begin = guide.find("```yaml\n") + 8;
  Parsed<Problem> problem =
      parse_problem(guide.substr(begin, guide.find("```", begin) - begin), "guide.yaml");
  EXPECT_TRUE(problem) << errors_of(problem);
}

TEST(Patterns, AreThoseOfTheirProblems) {
  std::map<std::string, Pattern> expected = {{"adamw", Pattern::elementwise},
                                             {"argmax", Pattern::row_reduction},
                                             {"attention_causal", Pattern::attention},
                                             {"conv2d", Pattern::contraction},
                                             {"cumsum", Pattern::scan},
                                             {"embedding", Pattern::elementwise},
                                             {"gelu", Pattern::elementwise},
                                             {"layernorm", Pattern::row_reduction},
                                             {"log_softmax_xent", Pattern::row_reduction},
                                             {"matmul", Pattern::contraction},
                                             {"matmul_bf16", Pattern::contraction},
                                             {"matmul_bias_gelu", Pattern::contraction},
                                             {"matmul_fp8_block", Pattern::contraction},
                                             {"max_pool", Pattern::other},
                                             {"quantize_mxfp4", Pattern::other},
                                             {"rmsnorm", Pattern::row_reduction},
                                             {"rope", Pattern::elementwise},
                                             {"scatter_add", Pattern::other},
                                             {"selective_scan", Pattern::scan},
                                             {"silu_mul", Pattern::elementwise},
                                             {"softmax", Pattern::row_reduction},
                                             {"transpose", Pattern::elementwise}};
  for (const auto& [name, pattern] : expected) {
    Parsed<Problem> problem = load_problem(AKO_SOURCE_DIR "/problems/" + name + ".yaml");
    ASSERT_TRUE(problem) << errors_of(problem);
    EXPECT_EQ(name_of(pattern_of(*problem)), name_of(pattern)) << name;
  }
}

TEST(Patterns, FindGroupedContractions) {
  for (const char* math : {"y[t, d] = sum(k < D: x[t, k] * v[idx[t], k, d])",
                           "y[t, d] = sum(off[t] <= k < off[t + 1]: x[t, k] * v[0, k, d])"}) {
    ProblemText text{math, "  - {T: 6, D: 8}\n", "  v: {type: f32, shape: [D, D, D]}\n"};
    Parsed<Problem> problem = text.parse();
    ASSERT_TRUE(problem) << errors_of(problem);
    EXPECT_EQ(pattern_of(*problem), Pattern::grouped_contraction) << math;
  }
}

TEST(Limits, RefuseWhatIsTooDeep) {
  for (int depth : {201, 5000, 100000}) {
    std::string open(static_cast<std::size_t>(depth), '('), close(static_cast<std::size_t>(depth), ')');
    EXPECT_THAT(errors_in("y[t, d] = " + open + "x[t, d]" + close), ::testing::HasSubstr("nest deeper"));
  }
  std::string minuses(100000, '-'), sum = "x[t, d]", powers = "x[t, d]";
  for (int i = 0; i < 20000; ++i) sum += "+1", powers += "^2";
  EXPECT_THAT(errors_in("y[t, d] = " + minuses + "x[t, d]"), ::testing::HasSubstr("nests deeper"));
  EXPECT_THAT(errors_in("y[t, d] = " + sum), ::testing::HasSubstr("nests deeper"));
  EXPECT_THAT(errors_in("y[t, d] = " + powers), ::testing::HasSubstr("nests deeper"));
}

TEST(Limits, RefuseMathThatGrowsWithoutEnd) {
  std::string chain = "d";  // the middle of a chain is evaluated on both sides: doubled at each level
  for (int i = 0; i < 60; ++i) chain = "0 < where(" + chain + " < 2, 1, 0)";
  EXPECT_THAT(errors_in("y[t, d] = where(" + chain + " < 2, x[t, d], 0)"),
              ::testing::HasSubstr("more than 65536 expressions"));
}

/// A random real expression in the language's notation.
std::string random_expression(Random& random, int depth) {
  auto part = [&] { return random_expression(random, depth - 1); };
  if (depth == 0) {
    const char* leaves[] = {
        "x[t, d]", "w[d]", "eps", "2.5", "1e-9", "3", "t", "inf", "(x[t, d + 1] or -1.0)"};
    return leaves[random.below(9)];
  }
  switch (random.below(9)) {
    case 0:
      return "(" + part() + ")";
    case 1:
      return "(" + part() + ") - (" + part() + ")";
    case 2:
      return "(" + part() + ") * (" + part() + ")";
    case 3:
      return "(" + part() + ") / (" + part() + " + eps)";
    case 4:
      return "-(" + part() + ")";
    case 5:
      return "(" + part() + ")^(" + part() + ")";
    case 6:
      return "where(" + part() + " < " + part() + " and not " + part() + " >= " + part() + ", " + part() +
             ", eps)";
    case 7:
      return fmt::format("sum(k{0} <= d, j{0} < 3 if k{0} != 2: x[t, k{0}] + {1})", random.below(1u << 30),
                         part());
    default:
      return "exp(" + part() + ")";
  }
}

TEST(Printing, OfRandomExpressionsReadsBackTheSame) {
  Random random(5);
  int accepted = 0;
  for (int round = 0; round < 400; ++round) {
    ProblemText text{"y[t, d] = x[t, d] * w[d] * eps + " + random_expression(random, 3)};
    Parsed<Problem> first = text.parse();
    if (!first) continue;  // two integers divided, and the like
    ++accepted;
    text.math = to_text(*first, first->statements[0]);
    Parsed<Problem> second = text.parse();
    ASSERT_TRUE(second) << text.math << "\n" << errors_of(second);
    expect_same(*first, *second);
  }
  EXPECT_GT(accepted, 200);
}

}  // namespace
}  // namespace ako
