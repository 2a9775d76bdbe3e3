// SPDX-License-Identifier: Apache-2.0
#include "judge/library.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "judge/judge.h"
#include "judge/library_openblas.h"
#include "judge/library_product.h"
#include "judge/request_json.h"

namespace ako {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// C = A times B with the given axes, e.g. {"M, K", "K, N", "M, N"}; indices are the axes in lower case.
struct Form {
  std::string a, b, c, type = "f32";
};

std::string lower(std::string text) {
  for (char& letter : text) letter = static_cast<char>(std::tolower(letter));
  return text;
}

void PrintTo(const Form& form, std::ostream* out) {
  *out << form.type << " [" << form.a << "] [" << form.b << "] [" << form.c << "]";
}

/// The axes that occur, each bound by `value`: "M: 5, K: 9".
std::string each_axis(const Form& form, const std::function<std::string(char)>& value) {
  std::string text;
  for (char axis : std::string("MNKGH"))
    if ((form.a + form.b + form.c).find(axis) != std::string::npos)
      text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", axis, value(axis));
  return text;
}

std::string problem_text(const Form& form, const std::string& body = "", const std::string& sums = "k < K") {
  std::string product = body.empty() ? fmt::format("A[{}] * B[{}]", lower(form.a), lower(form.b)) : body;
  auto some = [](char axis) { return std::to_string(std::string("GH....MNK").find(axis) + 2); };
  return fmt::format(
      "problem: product\nsummary: A product.\ndims: {{{7}}}\n"
      "tensors:\n  A: {{type: {3}, shape: [{0}]}}\n  B: {{type: {3}, shape: [{1}]}}\n"
      "  C: {{type: {3}, shape: [{2}]}}\nmath: |\n  C[{4}] = sum({5}: {6})\n"
      "shapes:\n  - {{{8}}}\n  - {{{9}}}\ntolerance: {{snr_db: 100}}\n",
      form.a, form.b, form.c, form.type, lower(form.c), sums, product,
      each_axis(form, [](char) { return "an axis"; }), each_axis(form, some),
      each_axis(form, [](char) { return "1"; }));
}

Problem parsed(const std::string& text) {
  auto problem = parse_problem(text, "product.yaml");
  EXPECT_TRUE(problem) << to_text(problem.error()) << text;
  return problem ? *problem : Problem{};
}

Problem shipped(const std::string& name) {
  auto problem = load_problem(std::filesystem::path(AKO_SOURCE_DIR) / "problems" / (name + ".yaml"));
  EXPECT_TRUE(problem) << name;
  return problem ? *problem : Problem{};
}

std::string source_for(const Problem& problem) {
  auto kernel = OpenBlas().kernel(problem);
  return kernel ? kernel->sources[0].text : kernel.error().what;
}

TEST(MatrixProduct, TakesIndicesThatAlwaysStandTogetherAsOne) {
  auto product = match_matrix_product(parsed(problem_text({"G, M, K", "K, N", "G, M, N"})));
  ASSERT_TRUE(product);
  EXPECT_TRUE(product->batch.empty());
  EXPECT_EQ(product->extents[static_cast<std::size_t>(*product->rows)].size(), 2u);
}

TEST(MatrixProduct, KeepsAnIndexOfAllThreeAsABatch) {
  auto product = match_matrix_product(parsed(problem_text({"G, M, K", "G, K, N", "G, M, N"})));
  ASSERT_TRUE(product);
  EXPECT_EQ(product->batch.size(), 1u);
}

TEST(MatrixProduct, IsNothingMoreThanASumOfProducts) {
  Form plain{"M, K", "K, N", "M, N"};
  ASSERT_TRUE(match_matrix_product(parsed(problem_text(plain))));
  for (const char* body : {"A[m, k] * B[k, n] * 2.0", "A[m, k] + B[k, n]", "exp(A[m, k]) * B[k, n]",
                           "-A[m, k] * B[k, n]", "A[m, k] * (B[k + 1, n] or 0)"})
    EXPECT_FALSE(match_matrix_product(parsed(problem_text(plain, body)))) << body;
  EXPECT_FALSE(match_matrix_product(parsed(problem_text(plain, "", "k < K if k <= m")))) << "a condition";
  EXPECT_FALSE(match_matrix_product(parsed(problem_text(plain, "", "k < max(K - 1, 1)"))))
      << "not the whole axis";
  EXPECT_FALSE(match_matrix_product(parsed(problem_text({"M, K", "K", "M, N"})))) << "columns in C alone";
  EXPECT_FALSE(match_matrix_product(parsed(problem_text({"M, K, G", "K, N, G", "M, N, G"}))))
      << "no axis of a matrix has a stride of one";
}

TEST(OpenBlasCalls, ExistForShippedProductsOfFloats) {
  EXPECT_THAT(source_for(shipped("matmul")), HasSubstr("cblas_sgemm(101, 111, 111,"));
  EXPECT_THAT(source_for(shipped("gemm_nt")), HasSubstr("cblas_sgemm(101, 111, 112,"));
  EXPECT_THAT(source_for(shipped("gemm_tn")), HasSubstr("cblas_sgemm(101, 112, 111,"));
  EXPECT_THAT(source_for(shipped("matvec")), HasSubstr("cblas_sgemv(101, 111,"));
  EXPECT_THAT(source_for(shipped("batched_matmul")), HasSubstr("for (int64_t"));
  for (const char* name : {"softmax", "matmul_bf16", "matmul_bias_gelu", "conv2d", "attention_causal"}) {
    auto kernel = OpenBlas().kernel(shipped(name));
    ASSERT_FALSE(kernel) << name;
    EXPECT_EQ(kernel.error().what, "no library for this pattern");
  }
}

TEST(Libraries, AreFoundByNameOrTheirNamesAreTold) {
  EXPECT_TRUE(choose_library("openblas"));
  auto wrong = choose_library("mkl");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().advice, HasSubstr("openblas"));
}

TEST(JudgeRequests, NameALibraryInPlaceOfACandidate) {
  JudgeRequest request;
  request.problem_text = "problem: x";
  request.library = "openblas";
  auto json = to_json(request);
  EXPECT_FALSE(json.contains("candidate"));
  auto read = judge_request_from_json(json);
  ASSERT_TRUE(read) << to_text(read.error());
  EXPECT_EQ(read->library, "openblas");
}

TEST(Verdicts, KeepTheLibrarysName) {
  Verdict verdict;
  verdict.library = "OpenBLAS 0.3.21, 2 threads";
  verdict.target = "host";
  auto read = verdict_from_json(to_json(verdict));
  ASSERT_TRUE(read) << to_text(read.error());
  EXPECT_EQ(read->library, verdict.library);
}

/// The real library in a real guest.
class OpenBlasGuest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    ::setenv("AKO_CACHE_DIR", AKO_BINARY_DIR "/test-cache", 1);
    ::setenv("AKO_DATA_DIR", AKO_BINARY_DIR "/test-data", 1);
    if (!OpenBlas().find(0)) return;
    auto made = Judge::create("host", 2);
    ASSERT_TRUE(made) << to_text(made.error());
    judge_ = std::move(*made);
  }
  static void TearDownTestSuite() { judge_.reset(); }
  void SetUp() override {
    if (auto found = OpenBlas().find(0); !found) GTEST_SKIP() << to_text(found.error());
  }

  static JudgeRequest request(const std::string& text) {
    JudgeRequest request;
    request.problem_text = text;
    request.problem_path = "product.yaml";
    request.library = "openblas";
    request.level = Level::full;
    request.effort = Effort::check;
    return request;
  }

  static inline std::unique_ptr<Judge> judge_;
};

class OpenBlasForms : public OpenBlasGuest, public ::testing::WithParamInterface<Form> {};

TEST_P(OpenBlasForms, AgreeWithTheReference) {
  auto verdict = judge_->judge(request(problem_text(GetParam())), {});
  ASSERT_TRUE(verdict) << to_text(verdict.error());
  EXPECT_TRUE(verdict->correct()) << to_text(verdict->outcome)
                                  << source_for(parsed(problem_text(GetParam())));
  EXPECT_THAT(verdict->library, StartsWith("OpenBLAS"));
}

INSTANTIATE_TEST_SUITE_P(Products, OpenBlasForms,
                         ::testing::Values(Form{"M, K", "K, N", "M, N"}, Form{"K, M", "N, K", "M, N"},
                                           Form{"M, K", "N, K", "N, M"}, Form{"K, M", "K, N", "N, M", "f64"},
                                           Form{"G, M, K", "K, N", "G, M, N"},
                                           Form{"G, H, M, K", "H, G, N, K", "G, M, H, N"},
                                           Form{"M, K", "K", "M"}, Form{"G, K", "G, K, N", "N, G", "f64"}),
                         [](const auto& form) { return "number" + std::to_string(form.index); });

TEST_F(OpenBlasGuest, IsTimedBesideAnIncumbent) {
  auto one = request(problem_text({"M, K", "K, N", "M, N"}));
  Problem problem = parsed(one.problem_text);
  Candidate naive;
  naive.plan = default_plan(problem);
  naive.sources = {
      {"product.cpp",
       "#include <cstdint>\n"
       "extern \"C\" void product(const float* A, const float* B, float* C, int64_t M, int64_t N,\n"
       "                        int64_t K) {\n"
       "  for (int64_t m = 0; m < M; ++m)\n    for (int64_t n = 0; n < N; ++n) {\n"
       "      double sum = 0;\n"
       "      for (int64_t k = 0; k < K; ++k) sum += double(A[m * K + k]) * B[k * N + n];\n"
       "      C[m * N + n] = float(sum);\n    }\n}\n"}};
  one.incumbent = naive;
  one.effort = Effort::screen;
  auto verdict = judge_->judge(one, {});
  ASSERT_TRUE(verdict) << to_text(verdict.error());
  ASSERT_TRUE(verdict->correct()) << to_text(verdict->outcome);
  ASSERT_EQ(verdict->timings.size(), 2u);
  EXPECT_GT(verdict->timings[0].candidate_median_us, 0);
  EXPECT_GT(verdict->timings[0].incumbent_median_us, 0);
}

TEST_F(OpenBlasGuest, IsNotThereForCandidates) {
  auto one = request(problem_text({"M, K", "K, N", "M, N"}));
  auto kernel = OpenBlas().kernel(parsed(one.problem_text));
  ASSERT_TRUE(kernel);
  one.library.clear();
  one.candidate = *kernel;
  auto verdict = judge_->judge(one, {});
  ASSERT_TRUE(verdict) << to_text(verdict.error());
  EXPECT_EQ(name_of(verdict->outcome), "crashed") << to_text(verdict->outcome);
}

TEST_F(OpenBlasGuest, HasNoCallForOtherProblems) {
  auto one = request(problem_text({"M, K", "K, N", "M, N"}, "A[m, k] * B[k, n] * 2.0"));
  auto verdict = judge_->judge(one, {});
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().kind, ErrorKind::unsupported);
}

}  // namespace
}  // namespace ako
