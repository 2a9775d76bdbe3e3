// SPDX-License-Identifier: Apache-2.0
// The device interface over the stand-in HIP library: that the right calls are made, in the right order.
#include <gtest/gtest.h>

#include "target/gpu/facts.h"
#include "target/gpu/lease.h"
#include "target/standin_fixture.h"

namespace ako::gpu {
namespace {

using ako::testing::standin_device;
using ako::testing::standin_driver;
using ako::testing::standin_image;

class GpuDevice : public ::testing::Test {
 protected:
  void SetUp() override { device = Device::open(standin_driver(), standin_device()).value(); }
  void TearDown() override { ako::testing::reset_standin(); }

  Module module_of(const std::string& source) {
    image = standin_image(source).value();
    return std::move(*device->load(std::as_bytes(std::span(image))));
  }

  std::unique_ptr<Device> device;
  std::string image;
};

constexpr const char* kScale = R"(
using namespace ako;
AKO_KERNEL(64) scale(f32* x, f32 by, i64 n) {
  for (i64 i = global_x(); i < n; i += stride_x()) x[i] *= by;
}
)";

TEST_F(GpuDevice, IsDescribedByItsDriver) {
  auto info = standin_device();
  EXPECT_EQ(info.target, "gfx942");
  EXPECT_EQ(info.wave, 64);
  EXPECT_EQ(info.compute_units, 2);
  EXPECT_EQ(info.bus, "0000:00:00.0");
}

TEST_F(GpuDevice, CarriesBytesThereAndBack) {
  std::vector<std::byte> sent(1000, std::byte{7}), got(1000);
  auto memory = std::move(*device->allocate({1000}));
  ASSERT_TRUE(device->upload(memory.address(), sent));
  ASSERT_TRUE(device->download(got, memory.address()));
  ASSERT_TRUE(device->wait(Seconds(1)));
  EXPECT_EQ(sent, got);
}

TEST_F(GpuDevice, LaunchesAKernelOfALoadedModuleWithItsArguments) {
  auto module = module_of(kScale);
  auto kernel = module.kernel("scale").value();
  std::vector<float> values(100, 3);
  auto memory = std::move(*device->allocate({400}));
  ASSERT_TRUE(device->upload(memory.address(), std::as_bytes(std::span(values))));
  ASSERT_TRUE(device->launch(kernel, {{2, 1, 1}, {32, 1, 1}, 0},
                             Arguments().add(memory.address()).add(2.0f).add(std::int64_t{100})));
  ASSERT_TRUE(device->download(std::as_writable_bytes(std::span(values)), memory.address()));
  ASSERT_TRUE(device->wait(Seconds(1)));
  EXPECT_EQ(values, std::vector<float>(100, 6));
}

TEST_F(GpuDevice, RefusesSizesBeyondTheDevices) {
  auto module = module_of(kScale);
  auto kernel = module.kernel("scale").value();
  for (LaunchSize size :
       {LaunchSize{{1, 1, 1}, {2048, 1, 1}, 0}, LaunchSize{{0, 1, 1}, {1, 1, 1}, 0},
        LaunchSize{{1, 70000, 1}, {1, 1, 1}, 0}, LaunchSize{{1, 1, 1}, {1, 1, 1}, 1 << 20}}) {
    auto launched = device->launch(kernel, size, Arguments());
    ASSERT_FALSE(launched);
    EXPECT_EQ(launched.error().kind, Fault::Kind::refused);
    EXPECT_FALSE(launched.error().context_lost);
  }
}

TEST_F(GpuDevice, SaysWhichKernelACodeObjectLacks) {
  auto module = module_of(kScale);
  auto kernel = module.kernel("scales");
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().kind, Fault::Kind::no_such_kernel);
  EXPECT_NE(kernel.error().reason.find("scales"), std::string::npos);
}

TEST_F(GpuDevice, SaysThatSomethingIsNoCodeObject) {
  std::vector<std::byte> junk(4096);
  auto loaded = device->load(junk);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().kind, Fault::Kind::wrong_code);
}

TEST_F(GpuDevice, LosesItsContextWithAKernelThatReadsWhereNothingIs) {
  auto module = module_of(std::string(kScale) + "extern \"C\" int standin_status_scale = 700;\n");
  auto kernel = module.kernel("scale").value();
  ASSERT_TRUE(device->launch(kernel, {}, Arguments().add(Address{0}).add(1.0f).add(std::int64_t{0})));
  auto waited = device->wait(Seconds(1));
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().kind, Fault::Kind::illegal_address);
  EXPECT_TRUE(waited.error().context_lost);
}

TEST_F(GpuDevice, GivesUpOnAKernelThatDoesNotEnd) {
  auto module = module_of(std::string(kScale) + "extern \"C\" int standin_status_scale = 600;\n");
  auto kernel = module.kernel("scale").value();
  ASSERT_TRUE(device->launch(kernel, {}, Arguments().add(Address{0}).add(1.0f).add(std::int64_t{0})));
  auto waited = device->wait(Seconds(0.01));
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().kind, Fault::Kind::endless);
  EXPECT_TRUE(waited.error().context_lost);
}

TEST_F(GpuDevice, SaysThatMemoryIsNotThere) {
  auto memory = device->allocate(gibibytes(100));
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().kind, Fault::Kind::out_of_memory);
  EXPECT_FALSE(memory.error().context_lost);
}

TEST_F(GpuDevice, HasPeaksFromItsDataSheetAndClock) {
  auto facts = look_up(standin_device());
  EXPECT_EQ(facts.id, "gfx942");
  ASSERT_TRUE(facts.fact("peak_flops_f16"));
  EXPECT_DOUBLE_EQ(*facts.fact("peak_flops_f16"), 2 * 2048 * 2.1e9);
  EXPECT_NE(facts.facts["peak_flops_f16"].source.find("CDNA 3"), std::string::npos);
}

TEST(GpuDriver, SaysWhatToInstallWhenItIsNotThere) {
  ::setenv("AKO_CUDA_LIBRARY", "/nowhere/libcuda.so.1", 1);
  auto driver = Driver::open(Api::cuda);
  ::unsetenv("AKO_CUDA_LIBRARY");
  ASSERT_FALSE(driver);
  EXPECT_EQ(driver.error().kind, ErrorKind::not_found);
  EXPECT_NE(driver.error().advice.find("driver"), std::string::npos);
}

TEST(GpuLease, IsHeldByOneAtATime) {
  auto folder = TemporaryFolder::create("lease").value();
  auto info = standin_device();
  {
    auto mine = Lease::take(info, folder.path());
    ASSERT_TRUE(mine);
    auto theirs = Lease::take(info, folder.path());
    ASSERT_FALSE(theirs);
    EXPECT_EQ(theirs.error().kind, ErrorKind::conflict);
    EXPECT_NE(theirs.error().what.find("process"), std::string::npos);
    EXPECT_NE(Lease::holder(info, folder.path()), "");
  }
  EXPECT_EQ(Lease::holder(info, folder.path()), "");
  EXPECT_TRUE(Lease::take(info, folder.path()));
}

TEST(GpuLease, IsForOneDevice) {
  auto folder = TemporaryFolder::create("lease").value();
  auto one = standin_device(), other = one;
  other.bus = "0000:99:00.0";
  auto mine = Lease::take(one, folder.path());
  EXPECT_TRUE(Lease::take(other, folder.path()));
}

}  // namespace
}  // namespace ako::gpu
