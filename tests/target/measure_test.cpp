// SPDX-License-Identifier: Apache-2.0
#include "target/host/measure.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "target/host/host.h"
#include "target/host/parallel.h"
#include "target/host/system.h"

namespace ako::host {
namespace {

/// Where ako keeps measurements, for one test.
class Measured : public ::testing::Test {
 protected:
  void SetUp() override { ::setenv("AKO_DATA_DIR", folder_.path().c_str(), 1); }
  void TearDown() override { ::unsetenv("AKO_DATA_DIR"); }
  std::filesystem::path store() const { return folder_.path() / "facts/host.json"; }
  TemporaryFolder folder_ = TemporaryFolder::create("ako-test").value();
};

TEST_F(Measured, FactsAreFoundAgainWithTheirSource) {
  ASSERT_TRUE(look_up().facts.empty());
  auto measured = measure({Seconds{0.3}});
  ASSERT_TRUE(measured) << to_text(measured.error());
  TargetFacts found = look_up();
  for (const char* name : {"copy_bandwidth_bytes_per_s", "read_bandwidth_bytes_per_s", "peak_flops_f32",
                           "peak_flops_f64", "timer_resolution_s"}) {
    ASSERT_TRUE(found.fact(name)) << name;
    EXPECT_GT(*found.fact(name), 0) << name;
    EXPECT_EQ(found.fact(name), measured->fact(name)) << name;
    EXPECT_TRUE(found.facts.at(name).source.starts_with("measured 20")) << found.facts.at(name).source;
  }
}

TEST_F(Measured, RoofsNeverSink) {
  ASSERT_TRUE(measure({Seconds{0.2}}));
  auto json = nlohmann::json::parse(read_file(store()).value());
  json["facts"]["peak_flops_f32"] = {{"value", 1e18}, {"source", "a better day"}};
  json["facts"]["peak_flops_f64"] = {{"value", 1}, {"source", "a worse day"}};
  ASSERT_TRUE(write_file(store(), json.dump()));
  auto again = measure({Seconds{0.2}});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->facts.at("peak_flops_f32").source, "a better day");
  EXPECT_GT(again->facts.at("peak_flops_f64").value, 1e6);
}

TEST_F(Measured, FactsOfAnotherMachineAreNotBelieved) {
  ASSERT_TRUE(measure({Seconds{0.2}}));
  std::string text = read_file(store()).value();
  std::size_t at = text.find("\"machine\": \"") + 12;
  ASSERT_TRUE(write_file(store(), text.substr(0, at) + "Another " + text.substr(at)));
  EXPECT_TRUE(look_up().facts.empty());
}

TEST_F(Measured, FactsThatAreDamagedAreNotBelieved) {
  for (const char* text :
       {"", "{", "[]", "{\"version\": 1}", "{\"version\": 99, \"machine\": \"\", \"facts\": {}}"}) {
    ASSERT_TRUE(write_file(store(), text));
    EXPECT_TRUE(look_up().facts.empty()) << text;
  }
}

TEST(Peaks, OrderAsTheWidthOfTheirTypes) {
  auto peaks = measure_peaks(1, Seconds{0.2});
  double ratio = peaks.at("f32") / peaks.at("f64");
  EXPECT_GT(ratio, 1.4);
  EXPECT_LT(ratio, 2.8);
  if (peaks.contains("bf16")) {
    EXPECT_GT(peaks.at("bf16"), 0.7 * peaks.at("f32"));
  }
  EXPECT_GT(peaks.at("f32"), 1e9);
}

TEST(Bandwidth, CountsWhatIsReadAndWritten) {
  auto bandwidth = measure_bandwidth(1, mebibytes(16), Seconds{0.1});
  ASSERT_TRUE(bandwidth);
  EXPECT_GT(bandwidth->read_bytes_per_s, 1e8);
  EXPECT_GT(bandwidth->copy_bytes_per_s, 1e8);
}

TEST(Bandwidth, NeedsMemory) {
  EXPECT_FALSE(measure_bandwidth(1, Bytes{std::int64_t{1} << 60}, Seconds{0.1}));
}

TEST(TimedPasses, RunEveryThreadInEveryPass) {
  std::atomic<int> runs[3] = {};
  auto passes = timed_passes(3, Seconds{10}, 5, [&](int thread, int) { ++runs[thread]; });
  EXPECT_EQ(passes.size(), 5u);
  for (auto& count : runs) EXPECT_EQ(count, 5);
}

TEST(TimedPasses, RunOnceWithoutABudget) {
  EXPECT_EQ(timed_passes(2, Seconds{0}, 5, [](int, int) {}).size(), 1u);
}

TEST(TimedPasses, AreSummedUpByTheSecondBest) {
  EXPECT_EQ(best_sustained({Seconds{3}, Seconds{1}, Seconds{2}}), Seconds{2});
  EXPECT_EQ(best_sustained({Seconds{3}}), Seconds{3});
}

/// A file system of the kernel's, as far as it is read.
class FakeRoot : public ::testing::Test {
 protected:
  void write(std::string_view path, std::string_view text) {
    ASSERT_TRUE(write_file(folder_.path() / path, text));
  }
  TemporaryFolder folder_ = TemporaryFolder::create("ako-test").value();
};
using Caches = FakeRoot;
using Cores = FakeRoot;
using Memory = FakeRoot;

TEST_F(Caches, AreReadFromSysfsWithoutInstructionCaches) {
  auto cache = [&](int index, const char* level, const char* type, const char* size, const char* cpus) {
    std::string folder = fmt::format("devices/system/cpu/cpu0/cache/index{}/", index);
    write(folder + "level", level);
    write(folder + "type", type);
    write(folder + "size", size);
    write(folder + "shared_cpu_list", cpus);
  };
  cache(0, "1\n", "Data\n", "48K\n", "0,64\n");
  cache(1, "1\n", "Instruction\n", "32K\n", "0,64\n");
  cache(2, "3\n", "Unified\n", "32M\n", "0-7,64-71\n");
  cache(3, "2\n", "Unified\n", "2048K\n", "0\n");
  auto caches = data_caches(folder_.path());
  ASSERT_EQ(caches.size(), 3u);
  EXPECT_EQ(caches[0].size, kibibytes(48));
  EXPECT_EQ(caches[0].shared_by, 2);
  EXPECT_EQ(caches[1].level, 2);
  EXPECT_EQ(caches[2].size, mebibytes(32));
  EXPECT_EQ(caches[2].shared_by, 16);
}

TEST_F(Caches, MayBeUnknown) { EXPECT_TRUE(data_caches(folder_.path()).empty()); }

TEST_F(Cores, AreCutByTheQuotaOfAnyGroupAbove) {
  write("proc/self/cgroup", "0::/a/b\n");
  write("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  write("sys/fs/cgroup/a/cpu.max", "150000 100000\n");
  EXPECT_EQ(usable_cores(folder_.path()), 1);
}

TEST_F(Cores, AreCutByTheQuotaOfAVersion1Group) {
  write("proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/b\n");
  write("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "50000\n");
  write("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(usable_cores(folder_.path()), 1);
}

TEST_F(Cores, AreThoseOfTheAffinityWithoutAQuota) {
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_EQ(usable_cores(folder_.path()), usable_cores("/nonexistent"));
}

TEST_F(Memory, IsWhatTheGroupLeaves) {
  write("proc/meminfo", "MemTotal: 4096 kB\nMemAvailable:    2048 kB\n");
  EXPECT_EQ(available_memory(folder_.path()), kibibytes(2048));
  write("proc/self/cgroup", "0::/a\n");
  write("sys/fs/cgroup/a/memory.max", "1048576\n");
  write("sys/fs/cgroup/a/memory.current", "48576\n");
  EXPECT_EQ(available_memory(folder_.path()), Bytes{1'000'000});
}

TEST(LookUp, KnowsThisMachine) {
  TargetFacts facts = look_up();
  EXPECT_EQ(facts.id, "host");
  EXPECT_FALSE(facts.device.empty());
  EXPECT_GE(facts.compute_units, 1);
  EXPECT_EQ(facts.vector_bits >= 256, facts.has("avx2"));
}

}  // namespace
}  // namespace ako::host
