// SPDX-License-Identifier: Apache-2.0
// GPU targets on the command line where there is no GPU: what works without one, and what is said of the
// rest.
#include <gmock/gmock.h>

#include <cstdlib>

#include "program.h"

namespace ako::testing_program {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Of machines without a GPU, wherever it runs.
class GpuTargets : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("AKO_CUDA_LIBRARY", "/nowhere/libcuda.so.1", 1);
    ::setenv("AKO_HIP_LIBRARY", "/nowhere/libamdhip64.so", 1);
  }
  void TearDown() override {
    ::unsetenv("AKO_CUDA_LIBRARY");
    ::unsetenv("AKO_HIP_LIBRARY");
  }
};

TEST_F(GpuTargets, KernelsAreWrittenWithoutADevice) {
  for (const char* target : {"sm_90", "gfx942", "gfx950"}) {
    Exit exit = ako({"synth", "softmax", "--target", target});
    EXPECT_EQ(exit.code, 0) << exit.errors;
    EXPECT_THAT(exit.output, AllOf(HasSubstr("AKO_KERNEL"), HasSubstr("ako_device.h"))) << target;
  }
}

TEST_F(GpuTargets, ATargetOfNoKnownDeviceIsRefusedWithThoseThatAre) {
  Exit exit = ako({"synth", "softmax", "--target", "gfx1"});
  EXPECT_EQ(exit.code, 4);
  EXPECT_THAT(exit.errors, AllOf(HasSubstr("gfx1"), HasSubstr("gfx942")));
}

TEST_F(GpuTargets, OptimizingWithoutADeviceSaysWhatIsMissingAndMakesNoFolder) {
  auto home = TemporaryFolder::create("ako-no-gpu");
  Exit exit = ako({"optimize", "softmax", "--target", "sm_90", "--workspace", "w", "--yes"}, home->path());
  EXPECT_EQ(exit.code, 4);
  EXPECT_THAT(exit.errors, AllOf(HasSubstr("no device of target sm_90 is here"), HasSubstr("ako doctor")));
  EXPECT_FALSE(std::filesystem::exists(home->path() / "w"));
}

TEST_F(GpuTargets, AnUnknownTargetIsRefused) {
  Exit exit = ako({"optimize", "softmax", "--target", "toaster", "--yes"});
  EXPECT_EQ(exit.code, 4);
  EXPECT_THAT(exit.errors, AllOf(HasSubstr("toaster"), HasSubstr("sm_90")));
}

}  // namespace
}  // namespace ako::testing_program
