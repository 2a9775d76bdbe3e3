// SPDX-License-Identifier: Apache-2.0
// Every shipped problem, under schedules drawn from its space, on small and awkward shapes.
#include <gtest/gtest.h>

#include "synth/emitted_fixture.h"

namespace ako::testing {
namespace {

struct Case {
  const char* problem;
  const char* shapes;
};

class EmittedKernels : public ::testing::TestWithParam<Case> {};

TEST_P(EmittedKernels, AgreeWithTheReferenceUnderEverySampledSchedule) {
  const Problem problem = shipped(GetParam().problem, GetParam().shapes);
  EXPECT_EQ(check_samples(problem, sample_schedules(problem, 3, 11)), "");
}

INSTANTIATE_TEST_SUITE_P(
    Shipped, EmittedKernels,
    ::testing::Values(
        Case{"adamw", "N=1;N=37;N=20000"}, Case{"argmax", "T=1,V=1;T=7,V=53"},
        Case{"attention_causal", "H=1,S=1,E=1;H=2,S=37,E=24"},
        Case{"conv2d", "B=1,C=1,F=1,H=1,W=1,R=3,S=3;B=2,C=3,F=5,H=9,W=11,R=3,S=3"},
        Case{"cumsum", "R=1,T=1;R=5,T=77"}, Case{"embedding", "T=5,V=9,D=35"},
        Case{"gelu", "N=1;N=50;N=20011"}, Case{"layernorm", "T=1,D=1;T=5,D=77;T=300,D=64"},
        Case{"log_softmax_xent", "T=1,V=2;T=9,V=101"},
        Case{"matmul", "M=1,N=1,K=1;M=17,N=35,K=19;M=64,N=96,K=300"},
        Case{"matmul_bf16", "M=1,N=1,K=1;M=17,N=35,K=19;M=64,N=96,K=301"},
        Case{"matmul_bias_gelu", "M=1,N=1,K=1;M=17,N=35,K=19;M=50,N=70,K=130"},
        Case{"matmul_fp8_block", "M=3,N=5,K=7;M=17,N=135,K=259"},
        Case{"max_pool", "B=1,C=1,H=1,W=1;B=2,C=3,H=7,W=10"}, Case{"quantize_mxfp4", "M=1,K=32;M=5,K=96"},
        Case{"rmsnorm", "T=1,D=1;T=5,D=77;T=40,D=640"}, Case{"rope", "T=1,H=1,D=2;T=5,H=3,D=32"},
        Case{"scatter_add", "T=9,V=5,D=37"}, Case{"selective_scan", "L=1,D=1,N=1;L=13,D=37,N=4"},
        Case{"silu_mul", "T=1,D=1;T=5,D=77;T=33,D=640"}, Case{"add_rmsnorm", "T=1,D=1;T=5,D=77;T=40,D=640"},
        Case{"rmsnorm_f32", "T=1,D=1;T=5,D=77;T=40,D=640"}, Case{"softmax", "T=1,D=1;T=5,D=77;T=40,D=640"},
        Case{"transpose", "M=1,N=1;M=19,N=37"}),
    [](const auto& made) { return std::string(made.param.problem); });

struct Narrow {
  int vector_bits;
  const char* march;
};

class OnNarrowVectors : public ::testing::TestWithParam<Narrow> {};

/// Kernels for processors without AVX-512 run here as well: they use a part of what there is.
TEST_P(OnNarrowVectors, EmittedKernelsAgreeWithTheReference) {
  const TargetFacts target = narrow_target(GetParam().vector_bits);
  for (const Case& which :
       {Case{"softmax", "T=5,D=77"}, Case{"rmsnorm", "T=5,D=77"}, Case{"gelu", "N=101"},
        Case{"cumsum", "R=3,T=77"}, Case{"argmax", "T=7,V=53"}, Case{"transpose", "M=19,N=37"}}) {
    const Problem problem = shipped(which.problem, which.shapes);
    EXPECT_EQ(check_samples(problem, sample_schedules(problem, 1, 5, target), GetParam().march), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, OnNarrowVectors,
                         ::testing::Values(Narrow{128, "x86-64-v2"}, Narrow{256, "x86-64-v3"}),
                         [](const auto& made) { return std::to_string(made.param.vector_bits); });

}  // namespace
}  // namespace ako::testing
