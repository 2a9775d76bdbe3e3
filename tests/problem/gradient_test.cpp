// SPDX-License-Identifier: Apache-2.0
// Derived gradients against central differences of the forward math, and against backward problems written by
// hand. All types are made fp64 first, so that only the mathematics is compared.
#include <fmt/format.h>

#include <regex>

#include "base/files.h"
#include "base/random.h"
#include "problem/inputs.h"
#include "problem/interpreter.h"
#include "problem/language_fixture.h"

namespace ako {
namespace {

using Values = std::map<std::string, std::vector<double>>;

std::string in_fp64(const std::string& text) {
  return std::regex_replace(text, std::regex("type: (bf16|f16|f32|f8e4m3|f4e2m1|e8m0)"), "type: f64");
}

std::string shipped_text(const std::string& name) {
  return in_fp64(*read_file(AKO_SOURCE_DIR "/problems/" + name + ".yaml"));
}

Parsed<Problem> derive(const std::string& forward, const std::string& gradients,
                       const std::string& more = "") {
  auto folder = TemporaryFolder::create("gradient");
  EXPECT_TRUE(folder && write_file(folder->path() / "forward.yaml", forward));
  return parse_problem(
      fmt::format("problem: derived\nderive: {{of: forward.yaml, gradients: [{}]{}}}\n", gradients, more),
      folder->path() / "derived.yaml");
}

std::vector<double> declared_values(const Problem& problem, TensorId which, std::uint64_t seed) {
  const Shape& shape = problem.shapes[0];
  const Tensor& tensor = problem.tensor(which);
  const std::int64_t count = element_count(problem, tensor, shape);
  std::vector<std::byte> bytes(static_cast<std::size_t>(storage_bytes(tensor.type, count).count));
  generate_input(problem, which, shape, InputStyle::declared, seed, 0, bytes, 1);
  std::vector<double> values(static_cast<std::size_t>(count));
  decode_array(tensor.type, bytes, values);
  return values;
}

Values run(const Problem& problem, const Values& inputs) {
  testing::Interpreter interpreter(problem, problem.shapes[0]);
  for (TensorId which : kernel_tensors(problem))
    if (auto given = inputs.find(problem.tensor(which).name); given != inputs.end())
      interpreter.set(which, given->second);
  interpreter.run();
  Values outputs;
  for (TensorId which : kernel_tensors(problem))
    if (problem.tensor(which).role != TensorRole::input)
      outputs[problem.tensor(which).name] = interpreter.get(which);
  return outputs;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// Along a random direction of each input, how the weighted outputs change is what the gradient says.
void expect_gradients(const std::string& text, const std::string& gradients, const std::string& dims) {
  Parsed<Problem> forward = parse_problem(text, "forward.yaml");
  ASSERT_TRUE(forward) << errors_of(forward);
  Parsed<Problem> backward = derive(text, gradients);
  ASSERT_TRUE(backward) << errors_of(backward);
  forward = with_shapes(*forward, dims);
  ASSERT_TRUE(forward) << errors_of(forward);
  backward = with_shapes(*backward, dims);
  ASSERT_TRUE(backward) << errors_of(backward);
  SCOPED_TRACE(backward->math);
  Random random(7);
  Values inputs, cotangents;
  for (TensorId which : kernel_tensors(*forward)) {
    const Tensor& tensor = forward->tensor(which);
    if (tensor.role == TensorRole::input) inputs[tensor.name] = declared_values(*forward, which, 11);
  }
  const Values outputs = run(*forward, inputs);
  Values all = inputs;
  for (TensorId which : kernel_tensors(*backward)) {
    const Tensor& tensor = backward->tensor(which);
    if (tensor.role != TensorRole::input || inputs.contains(tensor.name)) continue;
    all[tensor.name] = declared_values(*backward, which, 13);
    for (const auto& [name, values] : outputs)
      if (tensor.name == "d" + name || tensor.name == "d_" + name) cotangents[name] = all[tensor.name];
  }
  const Values found = run(*backward, all);
  const auto weighted = [&](const Values& at) {
    double sum = 0;
    for (const auto& [name, values] : run(*forward, at))
      if (cotangents.contains(name)) sum += dot(values, cotangents.at(name));
    return sum;
  };
  std::stringstream names(gradients);
  for (std::string name; std::getline(names >> std::ws, name, ',');) {
    std::vector<double> direction(inputs.at(name).size());
    for (double& one : direction) one = static_cast<double>(random.below(1000)) / 1000 - 0.5;
    const double step = 1e-5;
    Values ahead = inputs, back = inputs;
    for (std::size_t i = 0; i < direction.size(); ++i) {
      ahead[name][i] += step * direction[i];
      back[name][i] -= step * direction[i];
    }
    const double expected = (weighted(ahead) - weighted(back)) / (2 * step);
    const double got = dot(found.at(found.contains("d" + name) ? "d" + name : "d_" + name), direction);
    EXPECT_NEAR(got, expected, 1e-6 * (1 + std::abs(expected))) << name;
  }
}

struct Case {
  const char *problem, *gradients, *dims;
};

class DerivedGradients : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(
    Shipped, DerivedGradients,
    ::testing::Values(Case{"add_rmsnorm", "x, residual, w", "T=3,D=5"},
                      Case{"attention_causal", "Q, K, V", "H=2,S=5,E=3"},
                      Case{"attention_decode_paged", "Q, keys, vals", "B=2,J=2,G=2,E=3,P=2,N=5,L=3"},
                      Case{"attention_gqa", "Q, K, V", "J=2,G=2,S=4,E=3"},
                      Case{"attention_sliding_window", "Q, K, V", "H=1,S=6,E=2,W=3"},
                      Case{"batched_matmul", "A, W", "B=2,M=3,N=2,K=4"},
                      Case{"conv2d", "x, f", "B=2,C=2,F=2,H=4,W=5,R=3,S=2"}, Case{"cumsum", "x", "R=2,T=6"},
                      Case{"depthwise_conv2d", "x, f", "B=1,C=2,H=4,W=5,R=3,S=3"},
                      Case{"dequantize_mxfp4", "q, scale", "M=2,K=96"},
                      Case{"embedding", "table", "T=5,V=3,D=2"}, Case{"gelu", "x", "N=9"},
                      Case{"gemm_nn", "A, B", "M=2,N=3,K=4"}, Case{"gemm_nt", "A, B", "M=2,N=3,K=4"},
                      Case{"gemm_tn", "A, B", "M=2,N=3,K=4"}, Case{"gemm_tt", "A, B", "M=2,N=3,K=4"},
                      Case{"grouped_gemm", "x, W", "T=7,G=3,N=2,K=3"},
                      Case{"layernorm", "x, w, b", "T=3,D=5"}, Case{"log_softmax_xent", "x", "T=3,V=5"},
                      Case{"matmul", "A, B", "M=3,N=2,K=4"}, Case{"matmul_bf16", "A, B", "M=3,N=2,K=4"},
                      Case{"matmul_bias_gelu", "x, w, b", "M=3,N=2,K=4"},
                      Case{"matmul_fp8_block", "A, B, a_scale, b_scale", "M=2,N=130,K=129"},
                      Case{"matvec", "A, x", "M=3,K=4"}, Case{"max_pool", "x", "B=1,C=2,H=5,W=4"},
                      Case{"quantize_fp8_block", "x", "M=2,K=130"}, Case{"rmsnorm", "x, w", "T=3,D=5"},
                      Case{"rope", "x, cosine, sine", "T=2,H=2,D=6"}, Case{"scatter_add", "g", "T=5,V=3,D=2"},
                      Case{"selective_scan", "u, step, A, B, C, skip", "L=4,D=2,N=3"},
                      Case{"silu_mul", "gate, up", "T=2,D=3"}, Case{"softmax", "x", "T=3,D=5"},
                      Case{"softmax_backward", "y, dy", "T=2,D=4"}, Case{"top1_routing", "x", "T=3,E=4"},
                      Case{"transpose", "x", "M=2,N=3"}),
    [](const auto& one) { return std::string(one.param.problem); });

TEST_P(DerivedGradients, AreThoseThatCentralDifferencesShow) {
  expect_gradients(shipped_text(GetParam().problem), GetParam().gradients, GetParam().dims);
}

/// A problem of vectors x and w and a matrix a, in fp64.
std::string small(const std::string& math, const std::string& extra = "") {
  return "problem: forward\ndims: {N: n, K: k}\ntensors:\n"
         "  x: {type: f64, shape: [N], values: \"uniform(0.2, 0.9)\"}\n"
         "  a: {type: f64, shape: [N, K], values: \"uniform(-0.8, 0.8)\"}\n" +
         extra + "  y: {type: f64, shape: [N]}\nmath: |\n" + math + "shapes:\n  - {N: 5, K: 3}\n" +
         "tolerance: {snr_db: 100}\n";
}

class DerivedRules : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(
    Math, DerivedRules,
    ::testing::Values(
        "exp(x[i]) + exp2(x[i]) + expm1(x[i])", "log(x[i]) * log2(x[i]) - log1p(x[i])",
        "sqrt(x[i]) / rsqrt(x[i] + 1)", "sin(x[i]) * cos(x[i]) + tan(x[i])",
        "sinh(x[i]) - cosh(x[i]) * tanh(x[i])", "asin(x[i]) + acos(x[i]) * atan(x[i])",
        "atan2(x[i], a[i, 0] + 2)", "erf(x[i]) * sigmoid(x[i])", "x[i]^3 + x[i]^2.5 + 2^x[i] + x[i]^x[i]",
        "abs(a[i, 1]) * relu(a[i, 0]) + clamp(a[i, 2], -0.3, x[i])",
        "max(x[i], a[i, 0]^2) * min(x[i], 0.5 + a[i, 1])", "floor(x[i] * 3) * x[i] + sign(a[i, 0]) * a[i, 0]",
        "(x[i] * 5) % (a[i, 0] + 2)", "where(a[i, 0] > 0 and i != 2, x[i]^2, -x[i]) * a[i, 1]",
        "prod(k < K: a[i, k] + x[i])", "max(k < K: a[i, k] * x[i]) + min(k < K if k != 1: a[i, k])",
        "max(j < N, k < K: a[j, k] * x[i])", "sum(j < N, k < K if j > k: a[j, k] * x[j]) * x[i]",
        "sum(j <= i: x[i - j] * x[j])", "x[N - 1 - i] * x[0]", "a[i, i % K] * x[i / 2]",
        "(x[i + 1] or 0) - (x[i - 1] or 2)", "scan sum(k <= i: x[k] * a[k, 0])",
        "x[i] * scan sum(k < i: x[k])", "bf16(1.0) * x[i] * 2 / 4 - -x[i]"));

TEST_P(DerivedRules, HoldAgainstCentralDifferences) {
  const std::string math = GetParam();
  const std::string extra = math.find("a[") == std::string::npos ? " + a[i, 0]" : "";
  const std::string also = math.find("x[") == std::string::npos ? " + x[i]" : "";
  expect_gradients(small("  y[i] = " + math + extra + also + "\n"), "x, a", "N=5,K=3");
}

TEST(DerivedRecurrences, RunBackwards) {
  const std::string start = "  s: {type: f64, shape: []}\n";
  expect_gradients(
      small("  h[-1] = s * 2\n  h[i] = tanh(h[i-1] * a[i, 0] + x[i]) * h[i-1]\n  y[i] = h[i] * x[i]\n",
            start),
      "x, a, s", "N=5,K=3");
  expect_gradients(small("  y[i] = a[i, 1] * (y[i-1] or 0) + x[i]\n"), "x, a", "N=5,K=3");
}

TEST(DerivedUpdates, PassTheirCotangentOn) {
  const std::string index = "  idx: {type: i32, shape: [N], values: \"integers(0, N)\"}\n";
  expect_gradients(small("  t[i] = x[i]^2\n  y[i] = t[i]\n  y[idx[i]] += a[i, 0] * x[idx[i]]\n", index),
                   "x, a", "N=5,K=3");
}

/// The derived problem and the hand-written one make the same of the same inputs.
void expect_like_by_hand(const std::string& forward, const std::string& gradients, const std::string& by_hand,
                         const std::string& dims) {
  Parsed<Problem> derived = derive(shipped_text(forward), gradients);
  ASSERT_TRUE(derived) << errors_of(derived);
  derived = with_shapes(*derived, dims);
  Parsed<Problem> written = parse_problem(shipped_text(by_hand), "hand.yaml");
  ASSERT_TRUE(derived && written);
  written = with_shapes(*written, dims);
  Parsed<Problem> original = parse_problem(shipped_text(forward), "forward.yaml");
  original = with_shapes(*original, dims);
  Values inputs;
  for (TensorId which : kernel_tensors(*derived))
    if (const Tensor& tensor = derived->tensor(which); tensor.role == TensorRole::input)
      inputs[tensor.name] = declared_values(*derived, which, 3);
  const Values found = run(*derived, inputs);
  for (auto& [name, values] : run(*original, inputs)) inputs[name] = values;  // softmax_backward reads y
  const Values expected = run(*written, inputs);
  ASSERT_EQ(found.size(), expected.size());
  for (const auto& [name, values] : expected)
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(found.at(name)[i], values[i], 1e-12) << name;
}

TEST(DerivedGradientsByHand, AgreeForRmsnorm) {
  expect_like_by_hand("rmsnorm", "x, w", "rmsnorm_backward", "T=4,D=9");
}
TEST(DerivedGradientsByHand, AgreeForSoftmax) {
  expect_like_by_hand("softmax", "x", "softmax_backward", "T=4,D=9");
}
TEST(DerivedGradientsByHand, AgreeForLayernorm) {
  expect_like_by_hand("layernorm", "x, w, b", "layernorm_backward", "T=4,D=9");
}

TEST(DerivedMath, IsAsShortAsByHand) {
  Parsed<Problem> derived = derive(shipped_text("matmul"), "A");
  ASSERT_TRUE(derived) << errors_of(derived);
  EXPECT_EQ(derived->math, "dA[m, k] = sum(n < N: dC[m, n] * B[k, n])\n");
  derived = derive(shipped_text("embedding"), "table");
  ASSERT_TRUE(derived) << errors_of(derived);
  EXPECT_EQ(derived->math, "dtable[token[t], d] += dy[t, d]\n");
}

TEST(DerivedMath, DoesNotPassThroughTheMaximumThatASoftmaxSubtracts) {
  for (const auto& [problem, inputs] :
       {std::pair{"softmax", "x"}, {"log_softmax_xent", "x"}, {"attention_gqa", "Q"}}) {
    Parsed<Problem> derived = derive(shipped_text(problem), inputs);
    ASSERT_TRUE(derived) << errors_of(derived);
    EXPECT_THAT(derived->math, ::testing::Not(::testing::HasSubstr("argmax"))) << problem;
  }
  // A maximum on which the result does depend is passed through.
  Parsed<Problem> derived =
      derive(small("  m = max(j < N: x[j] + a[j, 0])\n  y[i] = exp(x[i] - m) * m\n"), "x");
  ASSERT_TRUE(derived) << errors_of(derived);
  EXPECT_THAT(derived->math, ::testing::HasSubstr("argmax"));
}

TEST(DerivedMath, IsAnOrdinaryProblemWithTheTextOfItsOwnFile) {
  Parsed<Problem> derived = derive(shipped_text("softmax"), "x");
  ASSERT_TRUE(derived) << errors_of(derived);
  Parsed<Problem> again = parse_problem(derived->source, "again.yaml");
  ASSERT_TRUE(again) << errors_of(again);
  EXPECT_EQ(again->id, derived->id);
  EXPECT_EQ(statements_of(*again), statements_of(*derived));
}

std::string refusal(const std::string& forward, const std::string& gradients, const std::string& more = "") {
  Parsed<Problem> derived = derive(forward, gradients, more);
  return derived ? "none" : errors_of(derived);
}

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(DerivedRefusals, PointAtTheForwardMath) {
  EXPECT_THAT(refusal(shipped_text("adamw"), "g"),
              AllOf(HasSubstr("forward.yaml:17:3"), HasSubstr("updated in place")));
  EXPECT_THAT(refusal(shipped_text("argmax"), "x"), HasSubstr("the gradient of x is zero everywhere"));
  EXPECT_THAT(refusal(small("  y[i] = scan max(k <= i: x[k] + a[k, 0])\n"), "x"),
              AllOf(HasSubstr("forward.yaml:8:10"), HasSubstr("a scan of prod, max or min")));
  EXPECT_THAT(refusal(small("  y[i] *= x[i] * a[i, 0]\n"), "x"), HasSubstr("an update by `*=`"));
}

TEST(DerivedRefusals, PointAtTheRequest) {
  const std::string softmax = shipped_text("softmax");
  EXPECT_THAT(refusal(softmax, "w"),
              AllOf(HasSubstr("derived.yaml:2:"), HasSubstr("has no input `w`"), HasSubstr("x")));
  EXPECT_THAT(refusal(softmax, "y"), HasSubstr("no input of real numbers"));
  EXPECT_THAT(refusal(softmax, "x, x"), HasSubstr("asked for twice"));
  EXPECT_THAT(refusal(softmax, "x", ", types: {x: i32}"), HasSubstr("no type of real numbers"));
  EXPECT_THAT(refusal(softmax, "x", ", values: {z: \"constant(1)\"}"), HasSubstr("has no input or output `z`"));
  const auto text = [](const std::string& rest) {
    return errors_of(parse_problem("problem: p\n" + rest, "p.yaml"));
  };
  EXPECT_THAT(text("derive: {of: nothing, gradients: [x]}\n"), HasSubstr("there is no problem nothing"));
  EXPECT_THAT(text("derive: {of: softmax}\n"), HasSubstr("does not say by which inputs"));
  EXPECT_THAT(text("derive: {of: softmax, gradients: [x]}\nmath: y = 1\n"),
              HasSubstr("cannot stand beside `derive`"));
}

TEST(DerivedRefusals, EndWhereAFileDerivesFromItself) {
  auto folder = TemporaryFolder::create("gradient");
  ASSERT_TRUE(folder);
  const std::string text = "problem: p\nderive: {of: p.yaml, gradients: [x]}\n";
  ASSERT_TRUE(write_file(folder->path() / "p.yaml", text));
  EXPECT_THAT(errors_of(load_problem(folder->path() / "p.yaml")), HasSubstr("derivations"));
}

TEST(DerivedShapes, TypesAndValuesMayBeSaid) {
  Parsed<Problem> derived = derive(*read_file(AKO_SOURCE_DIR "/problems/rmsnorm.yaml"), "x, w",
                                   ", types: {w: f32}, values: {y: \"constant(1)\"}");
  ASSERT_TRUE(derived) << errors_of(derived);
  EXPECT_EQ(derived->tensor(*derived->find_tensor("dw")).type, ScalarType::f32);
  EXPECT_EQ(derived->tensor(*derived->find_tensor("dx")).type, ScalarType::bf16);
  EXPECT_EQ(derived->tensor(*derived->find_tensor("dy")).values->text, "constant(1)");
}

}  // namespace
}  // namespace ako
