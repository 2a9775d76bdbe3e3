// SPDX-License-Identifier: Apache-2.0
#include "toolchain/cuda/cuda_toolchain.h"

#include "toolchain/device_fixture.h"

namespace ako {
namespace {
using testing::device_candidate;
using ::testing::HasSubstr;
using ::testing::Not;

class CudaToolchainTest : public testing::DeviceTest {
 protected:
  void SetUp() override {
    auto compiler = find_cuda_compiler(counting_options());
    if (!compiler) GTEST_SKIP() << compiler.error().what << ": " << compiler.error().advice;
    toolchain_ = std::make_unique<CudaToolchain>(*compiler, counting_options());
    compilations_ = 0;
  }
  Candidate candidate(std::string_view source = testing::device_scale_source) {
    return device_candidate(Language::cuda, source);
  }
  std::unique_ptr<CudaToolchain> toolchain_;
};

TEST_F(CudaToolchainTest, BuildsACubinForItsTarget) {
  Artifact artifact = built(*toolchain_, candidate(), "sm_90");
  auto object = read_code_object(read_file(artifact.code).value());
  ASSERT_TRUE(object) << to_text(object.error());
  EXPECT_EQ(object->target, "sm_90");
  ASSERT_TRUE(object->find("scale"));
  EXPECT_EQ(object->find("scale")->max_threads, 256);
  EXPECT_GT(artifact.resources.values.at("registers"), 0);
  EXPECT_EQ(artifact.resources.values.at("lds_bytes"), 0);
  EXPECT_EQ(artifact.log, "");
}

TEST_F(CudaToolchainTest, BuildsForTheSpecialInstructionsOfHopper) {
  auto object = read_code_object(read_file(built(*toolchain_, candidate(), "sm_90a").code).value());
  ASSERT_TRUE(object) << to_text(object.error());
  EXPECT_EQ(object->target, "sm_90a");
}

TEST_F(CudaToolchainTest, CountsSharedMemoryThatTheKernelDeclares) {
  Artifact artifact = built(
      *toolchain_, candidate(R"(extern "C" __global__ void scale(const float* x, float* y, float a, long n) {
  __shared__ float tile[256];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = a * tile[255 - threadIdx.x];
}
)"),
      "sm_90");
  EXPECT_EQ(artifact.resources.values.at("lds_bytes"), 1024);
}

TEST_F(CudaToolchainTest, TakesTheSecondBuildFromTheCache) {
  built(*toolchain_, candidate(), "sm_90");
  EXPECT_EQ(compilations_, 1);
  EXPECT_TRUE(built(*toolchain_, candidate(), "sm_90").cached);
  EXPECT_EQ(compilations_, 1);
}

TEST_F(CudaToolchainTest, PointsAtTheCandidatesOwnLine) {
  std::string log = refused(
      *toolchain_, candidate("extern \"C\" __global__ void scale() {\n\n  undeclared = 1;\n}\n"), "sm_90");
  EXPECT_THAT(log, HasSubstr("scale.cu:3: error: identifier \"undeclared\" is undefined"));
  EXPECT_THAT(log, HasSubstr("^"));
  EXPECT_THAT(log, Not(HasSubstr("/tmp")));
  EXPECT_THAT(log, Not(HasSubstr("detected in the compilation")));
}

TEST_F(CudaToolchainTest, AsksForCLinkage) {
  EXPECT_THAT(
      refused(*toolchain_,
              candidate(
                  "__global__ void scale(const float* x, float* y, float a, long n) { y[n] = a * x[n]; }\n"),
              "sm_90"),
      HasSubstr("the kernel of this name has no C linkage\n  help: define it as extern \"C\" __global__ void "
                "scale("));
}

TEST_F(CudaToolchainTest, RefusesAKernelWhoseParametersDiffer) {
  EXPECT_THAT(
      refused(
          *toolchain_,
          candidate(
              "extern \"C\" __global__ void scale(const float* x, float* y, float a) { y[0] = a * x[0]; }\n"),
          "sm_90"),
      HasSubstr("the plan passes 4 arguments to 'scale', which takes 3"));
}

TEST_F(CudaToolchainTest, CompilesSeveralSourcesTogether) {
  Candidate several = candidate("__device__ float twice(float x) { return 2 * x; }\n");
  several.sources[0].path = "a.cu";
  several.sources.push_back({"b.cu",
                             "extern \"C\" __global__ void scale(const float* x, float* y, float a, long n) "
                             "{ y[0] = a * twice(x[n]); }\n"});
  built(*toolchain_, several, "sm_90");
}

TEST_F(CudaToolchainTest, SaysHowLongItTook) {
  EXPECT_GT(built(*toolchain_, candidate(), "sm_90").compile_seconds, 0);
}

TEST_F(CudaToolchainTest, BuildsOnlyWhatTheCompilerKnows) {
  EXPECT_TRUE(toolchain_->builds(Language::cuda, "sm_90a"));
  EXPECT_FALSE(toolchain_->builds(Language::cuda, "sm_52"));
  EXPECT_FALSE(toolchain_->builds(Language::cuda, "sm_"));
  EXPECT_FALSE(toolchain_->builds(Language::cuda, "gfx942"));
  EXPECT_FALSE(toolchain_->builds(Language::hip, "sm_90"));
}

}  // namespace
}  // namespace ako
