// SPDX-License-Identifier: Apache-2.0
// Code objects made here by whatever compilers are there, held against what LLVM's own tools say of them.
#include "toolchain/code_object/code_object.h"

#include <algorithm>
#include <cstdlib>

#include "base/random.h"
#include "base/subprocess.h"
#include "toolchain/cuda/cuda_toolchain.h"
#include "toolchain/device_fixture.h"
#include "toolchain/hip/hip_toolchain.h"

namespace ako {
namespace {
namespace fs = std::filesystem;
using testing::device_candidate;

class CodeObjectTest : public testing::DeviceTest {
 protected:
  /// Empty when no compiler for it is here.
  std::string amd_object() {
    HipToolchain toolchain(find_hip_compilers(), counting_options());
    if (!toolchain.builds(Language::hip, "gfx942")) return {};
    return read_file(built(toolchain, device_candidate(Language::hip), "gfx942").code).value();
  }
  std::string cubin() {
    auto compiler = find_cuda_compiler(counting_options());
    if (!compiler) return {};
    CudaToolchain toolchain(*compiler, counting_options());
    return read_file(built(toolchain, device_candidate(Language::cuda), "sm_90").code).value();
  }
};

void survive_damage(const std::string& whole) {
  for (std::size_t size = 0; size < whole.size(); size += 97) {
    auto members = code_object_members(std::string_view(whole).substr(0, size));
    if (members)
      for (const CodeObjectMember& member : *members) (void)read_code_object(member.bytes);
  }
  Random random(1);
  for (int i = 0; i < 500; ++i) {
    std::string damaged = whole;
    for (int j = 0; j < 4; ++j) damaged[random.below(damaged.size())] = static_cast<char>(random());
    (void)read_code_object(damaged);
  }
  EXPECT_FALSE(read_code_object(whole.substr(0, 100)));
}

TEST_F(CodeObjectTest, OfAmdSurvivesDamage) {
  std::string whole = amd_object();
  if (whole.empty()) GTEST_SKIP() << "no compiler for gfx942 is here";
  survive_damage(whole);
}

TEST_F(CodeObjectTest, OfNvidiaSurvivesDamage) {
  std::string whole = cubin();
  if (whole.empty()) GTEST_SKIP() << "no CUDA compiler is here";
  survive_damage(whole);
}

/// A kernel's own number in what llvm-readelf prints: "    .vgpr_count:     12".
std::optional<std::int64_t> printed(const std::string& text, const std::string& key) {
  std::size_t at = text.find("." + key + ":");
  if (at == std::string::npos) return std::nullopt;
  return std::strtoll(text.c_str() + at + key.size() + 2, nullptr, 10);
}

/// Whether a code object with one kernel reads as llvm-readelf reads it.
::testing::AssertionResult agrees_with_readelf(const fs::path& readelf, const fs::path& file) {
  auto object = read_code_object(read_file(file).value());
  if (!object) return ::testing::AssertionFailure() << file << ": " << to_text(object.error());
  Command command;
  command.argv = {readelf.string(), "--notes", file.string()};
  std::string text = run(command).value().output;
  if (object->kernels.size() != 1)
    return ::testing::AssertionFailure()
           << file << ": " << object->kernels.size() << " kernels, expected one";
  const KernelFacts& kernel = object->kernels[0];
  const std::pair<const char*, std::optional<std::int64_t>> all[] = {
      {"agpr_count", kernel.agprs},
      {"sgpr_count", kernel.sgprs},
      {"vgpr_spill_count", kernel.vgpr_spills},
      {"sgpr_spill_count", kernel.sgpr_spills},
      {"group_segment_fixed_size", kernel.lds_bytes},
      {"private_segment_fixed_size", kernel.scratch_bytes},
      {"kernarg_segment_size", kernel.kernarg_bytes},
      {"max_flat_workgroup_size", kernel.max_threads},
      {"wavefront_size", kernel.wave_size}};
  for (const auto& [key, value] : all)
    if (auto expected = printed(text, key); expected && expected != value)
      return ::testing::AssertionFailure()
             << file << ": " << key << " is " << *expected << ", read " << value.value_or(-1);
  return ::testing::AssertionSuccess();
}

TEST_F(CodeObjectTest, ReadsWhatReadelfReads) {
  auto readelf = find_program("llvm-readelf-19");
  std::string whole = amd_object();
  if (!readelf || whole.empty()) GTEST_SKIP() << "llvm-readelf-19 or a compiler for gfx942 is not here";
  ASSERT_TRUE(write_file(folder_.path() / "code.hsaco", whole));
  EXPECT_TRUE(agrees_with_readelf(*readelf, folder_.path() / "code.hsaco"));
}

TEST_F(CodeObjectTest, ReadsTheHandWrittenOnesOfAiter) {
  const char* checkout = std::getenv("AKO_AITER");
  auto readelf = find_program("llvm-readelf-19");
  if (!checkout || !readelf)
    GTEST_SKIP() << "set AKO_AITER to a checkout of ROCm/aiter; llvm-readelf-19 is needed too";
  int read = 0;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(checkout) / "hsa"))
    if (entry.path().extension() == ".co") {
      EXPECT_TRUE(agrees_with_readelf(*readelf, entry.path()));
      ++read;
    }
  EXPECT_GT(read, 0);
}

TEST(CodeObjects, ComeOutOfBundles) {
  std::string bundle = "__CLANG_OFFLOAD_BUNDLE__";
  auto put = [&](std::uint64_t value) { bundle.append(reinterpret_cast<const char*>(&value), sizeof value); };
  const std::string host = "host-x86_64-unknown-linux-gnu-", device = "hipv4-amdgcn-amd-amdhsa--gfx942";
  put(2);
  for (const auto& [id, size] : {std::pair(host, 0u), std::pair(device, 4u)}) {
    put(200);
    put(size);
    put(id.size());
    bundle += id;
  }
  bundle.resize(200);
  bundle += "code";
  auto members = code_object_members(bundle);
  ASSERT_TRUE(members) << to_text(members.error());
  ASSERT_EQ(members->size(), 1u);
  EXPECT_EQ((*members)[0].id, device);
  EXPECT_EQ((*members)[0].bytes, "code");
  for (std::size_t size = 0; size < bundle.size(); ++size)
    (void)code_object_members(std::string_view(bundle).substr(0, size));
}

TEST(CodeObjects, SayWhatOtherFilesAre) {
  EXPECT_EQ(code_object_members("text").error().kind, ErrorKind::invalid_input);
  EXPECT_EQ(code_object_members("CCOB compressed").error().kind, ErrorKind::unsupported);
}

TEST(Occupancy, GoesByRegistersOnAmd) {
  EXPECT_EQ(occupancy("gfx942", {256, 64, 32, 0})->waves_per_simd, 8);
  EXPECT_EQ(occupancy("gfx942", {256, 65, 32, 0})->waves_per_simd, 7);  // rounds up to 72
  EXPECT_EQ(occupancy("gfx942", {256, 128, 32, 0})->waves_per_simd, 4);
  EXPECT_EQ(occupancy("gfx942", {256, 512, 32, 0})->waves_per_simd, 1);
  EXPECT_EQ(occupancy("gfx942", {256, 128, 32, 0})->limited_by, "registers");
}

TEST(Occupancy, GoesByLdsInItsGranules) {
  EXPECT_EQ(occupancy("gfx942", {256, 32, 32, 32768})->blocks_per_unit, 2);
  EXPECT_EQ(occupancy("gfx942", {256, 32, 32, 32769})->blocks_per_unit, 1);
  EXPECT_EQ(occupancy("gfx950", {256, 32, 32, 65536})->blocks_per_unit, 2);
  EXPECT_EQ(occupancy("gfx942", {256, 32, 32, 65537})->blocks_per_unit, 0);
}

TEST(Occupancy, GoesByRegistersOfWarpsOnNvidia) {
  EXPECT_EQ(occupancy("sm_90", {256, 32, 0, 0})->waves_per_simd, 16);
  EXPECT_EQ(occupancy("sm_90a", {256, 128, 0, 0})->blocks_per_unit, 2);
  EXPECT_EQ(occupancy("sm_90", {256, 32, 0, 232448})->blocks_per_unit,
            1);  // 227 KiB, the most that a block may have
  EXPECT_FALSE(occupancy("sm_52", {}));
}

}  // namespace
}  // namespace ako
