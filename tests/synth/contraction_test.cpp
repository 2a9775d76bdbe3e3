// SPDX-License-Identifier: Apache-2.0
// Packed contractions: every way to pack an operand, on extents that divide nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "synth/emitted_fixture.h"

namespace ako::testing {
namespace {

std::string checked_contraction(const Problem& problem, int wanted = 3) {
  std::vector<Sample> tiled;
  for (Sample& sample : sample_schedules(problem, 60, 3)) {
    if (sample.label.find("algorithm=tiled") == std::string::npos) continue;
    tiled.push_back(std::move(sample));
    if (static_cast<int>(tiled.size()) == wanted) break;
  }
  return tiled.empty() ? "no schedule is tiled" : check_samples(problem, tiled);
}

TEST(Contraction, MultipliesAllFourTransposes) {
  for (const char* name : {"gemm_nn", "gemm_nt", "gemm_tn", "gemm_tt"})
    EXPECT_EQ(checked_contraction(shipped(name, "M=1,N=1,K=1;M=19,N=35,K=67;M=70,N=130,K=301"), 2), "") << name;
}

TEST(Contraction, MultipliesBytesExactly) {
  EXPECT_EQ(checked_contraction(shipped("matmul_int8", "M=1,N=1,K=1;M=19,N=35,K=67;M=33,N=70,K=301")), "");
}

TEST(Contraction, SharesColumnsAmongThreadsWhereThereAreFewRows) {
  EXPECT_EQ(checked_contraction(shipped("batched_matmul", "B=1,M=1,N=1,K=1;B=3,M=5,N=333,K=65")), "");
}

TEST(Contraction, PacksImagesWithTheirBorders) {
  EXPECT_EQ(
      checked_contraction(shipped(
          "conv2d", "B=1,C=1,F=1,H=1,W=1,R=3,S=3;B=2,C=3,F=5,H=9,W=11,R=5,S=3;B=1,C=4,F=7,H=6,W=41,R=3,S=7")),
      "");
}

}  // namespace
}  // namespace ako::testing
