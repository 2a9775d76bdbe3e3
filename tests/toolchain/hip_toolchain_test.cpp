// SPDX-License-Identifier: Apache-2.0
#include "toolchain/hip/hip_toolchain.h"

#include "toolchain/device_fixture.h"

namespace ako {
namespace {
using testing::device_candidate;
using testing::device_facts;
using ::testing::HasSubstr;
using ::testing::Not;

class HipToolchainTest : public testing::DeviceTest {
 protected:
  void SetUp() override {
    if (!toolchain_.builds(Language::hip, "gfx942"))
      GTEST_SKIP() << "no clang of version 17 or later is here";
  }
  Candidate candidate(std::string_view source = testing::device_scale_source) {
    return device_candidate(Language::hip, source);
  }
  HipToolchain toolchain_{find_hip_compilers(), counting_options()};
};

TEST_F(HipToolchainTest, BuildsACodeObjectForItsTarget) {
  Artifact artifact = built(toolchain_, candidate(), "gfx942");
  auto object = read_code_object(read_file(artifact.code).value());
  ASSERT_TRUE(object) << to_text(object.error());
  EXPECT_EQ(object->target, "gfx942");
  ASSERT_TRUE(object->find("scale"));
  EXPECT_EQ(object->find("scale")->max_threads, 256);
  EXPECT_EQ(artifact.symbols, std::vector<std::string>{"scale"});
  EXPECT_EQ(artifact.log, "");
}

TEST_F(HipToolchainTest, RecordsWhatTheKernelUses) {
  Artifact artifact = built(toolchain_, candidate(), "gfx942");
  EXPECT_GT(artifact.resources.values.at("registers"), 0);
  EXPECT_EQ(artifact.resources.values.at("spills"), 0);
  EXPECT_EQ(artifact.resources.values.at("scratch_bytes"), 0);
  EXPECT_EQ(artifact.resources.values.at("waves_per_simd"), 8);
}

TEST_F(HipToolchainTest, BuildsForGfx950WhereAClangKnowsIt) {
  if (!toolchain_.builds(Language::hip, "gfx950")) GTEST_SKIP() << "no clang of version 20 or later is here";
  auto object = read_code_object(read_file(built(toolchain_, candidate(), "gfx950").code).value());
  ASSERT_TRUE(object) << to_text(object.error());
  EXPECT_EQ(object->target, "gfx950");
}

TEST_F(HipToolchainTest, CompilesPlainHipWithoutRocm) {
  built(toolchain_, candidate(R"(#include <hip/hip_runtime.h>
extern "C" __global__ __launch_bounds__(256) void scale(const float* x, float* y, float a, int64_t n) {
  __shared__ float tile[256];
  int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  tile[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  if (i < n) y[i] = a * tile[threadIdx.x] + 0 * expf(__shfl_xor(tile[0], 1));
}
)"),
        "gfx942");
}

TEST_F(HipToolchainTest, TakesTheSecondBuildFromTheCache) {
  built(toolchain_, candidate(), "gfx942");
  int before = compilations_;
  Artifact again = built(toolchain_, candidate(), "gfx942");
  EXPECT_EQ(compilations_, before);
  EXPECT_TRUE(again.cached);
  EXPECT_GT(again.resources.values.at("registers"), 0);
}

TEST_F(HipToolchainTest, PointsAtTheCandidatesOwnLine) {
  std::string log = refused(
      toolchain_, candidate("#include \"ako_device.h\"\nAKO_KERNEL(64) scale() {\n  undeclared = 1;\n}\n"),
      "gfx942");
  EXPECT_THAT(log, HasSubstr("scale.hip:3:3: error: use of undeclared identifier 'undeclared'"));
  EXPECT_THAT(log, HasSubstr("^"));
  EXPECT_THAT(log, Not(HasSubstr("/tmp")));
  EXPECT_THAT(log, Not(HasSubstr("generated when compiling")));
}

TEST_F(HipToolchainTest, RefusesAKernelWhoseParametersDiffer) {
  EXPECT_THAT(
      refused(toolchain_,
              candidate("#include \"ako_device.h\"\nAKO_KERNEL(64) scale(const float* x, float* y, float "
                        "a, int n) { y[0] = a * x[n]; }\n"),
              "gfx942"),
      HasSubstr("passes 'N' to 'scale' as int64_t (8 bytes), the kernel takes 4 bytes there"));
}

TEST_F(HipToolchainTest, ExplainsAMissingKernel) {
  EXPECT_THAT(refused(toolchain_,
                      candidate("#include \"ako_device.h\"\nAKO_KERNEL(64) other(float* y) { y[0] = 1; }\n"),
                      "gfx942"),
              HasSubstr("the plan launches 'scale', but no source defines a kernel of this name"));
}

TEST_F(HipToolchainTest, RefusesFlagsThatNameFiles) {
  Candidate bad = candidate();
  bad.flags = {"-fplugin=evil.so"};
  EXPECT_THAT(refused(toolchain_, bad, "gfx942"), HasSubstr("is not allowed"));
}

TEST_F(HipToolchainTest, SeesNoFilesOfTheMachine) {
  EXPECT_THAT(refused(toolchain_, candidate("#include \"/etc/passwd\"\n"), "gfx942"),
              HasSubstr("file not found"));
}

TEST_F(HipToolchainTest, DefinesTunables) {
  Candidate tuned = candidate(
      "#include \"ako_device.h\"\nAKO_KERNEL(BLOCK) scale(const float* x, float* y, float a, ako::i64 n) "
      "{ if (ako::thread_x() < n) y[0] = a * x[0]; }\n");
  tuned.plan.tunables = {{"BLOCK", {64, 512}}};
  tuned.tunables = {{"BLOCK", 512}};
  EXPECT_EQ(built(toolchain_, tuned, "gfx942").resources.values.at("max_threads"), 512);
}

TEST(HipCompilers, KnowTargetsByTheirVersion) {
  HipCompiler clang;
  clang.major = 19;
  EXPECT_TRUE(clang.builds("gfx942"));
  EXPECT_FALSE(clang.builds("gfx950"));
  clang.major = 20;
  EXPECT_TRUE(clang.builds("gfx950"));
  EXPECT_FALSE(clang.builds("sm_90"));
}

}  // namespace
}  // namespace ako
