// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <numeric>

#include "target/run_guest_fixture.h"

namespace ako::host {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using Kind = GuestFault::Kind;

GuestOptions impatient() {
  GuestOptions options;
  options.batch_limit = Seconds(0.3);
  return options;
}

// ---- candidates that keep the rules ----

class HonestGuest : public ::testing::TestWithParam<const char*> {};

TEST_P(HonestGuest, ComputesInEverySlotAndAgainAfterAnotherAttach) {
  GuestRun run;
  ASSERT_TRUE(run.start(GetParam())) << run.fault.reason << run.fault.errors;
  for (int pass = 0; pass < 3; ++pass) {
    ASSERT_TRUE(run.run({0, 1, 2, 3})) << run.fault.reason << run.fault.errors;
    for (int slot = 0; slot < 4; ++slot) {
      EXPECT_TRUE(run.doubled(slot)) << slot;
      EXPECT_FALSE(run.outputs.red_zone_damage(slot));
    }
  }
  EXPECT_TRUE(run.guest->alive());
}

TEST_P(HonestGuest, IsDoneWhenItReturns) {
  GuestRun run;
  ASSERT_TRUE(run.start(GetParam())) << run.fault.reason << run.fault.errors;
  auto ran = run.guest->run_withdrawing(std::vector{0, 1, 2, 3});
  ASSERT_TRUE(ran && std::holds_alternative<BatchTime>(*ran));
  for (int slot = 0; slot < 4; ++slot) EXPECT_TRUE(run.doubled(slot)) << slot;
}

INSTANTIATE_TEST_SUITE_P(Guests, HonestGuest,
                         ::testing::Values("honest/plain", "honest/openmp", "honest/vector_scratch",
                                           "honest/thread_local", "honest/aligned_alloc", "honest/std_thread",
                                           "honest/exceptions"),
                         [](const auto& of) { return std::string(of.param).substr(7); });

TEST(BackgroundGuest, FaultsWhenItsBuffersAreTakenAway) {
  // Whether the thread left behind comes to run before the guest is stopped again is chance.
  for (int attempt = 0; attempt < 100; ++attempt) {
    GuestRun run;
    ASSERT_TRUE(run.start("background"));
    auto ran = run.guest->run_withdrawing(std::vector{1});
    ASSERT_TRUE(ran) << ran.error().what;
    if (auto* fault = std::get_if<GuestFault>(&*ran)) {
      EXPECT_THAT(fault->reason, HasSubstr("after its launch had returned"));
      return;
    }
  }
  FAIL() << "it got away with it a hundred times";
}

// ---- candidates that break one ----

struct Misdeed {
  const char* guest;
  Kind kind;
  const char* reason;  // a part of it
};

class MisbehavingGuest : public ::testing::TestWithParam<Misdeed> {};

TEST_P(MisbehavingGuest, IsEndedAndTheReasonIsTold) {
  if (std::string_view(GetParam().guest) == "constructor_reads" && !confinement().namespaces)
    GTEST_SKIP() << confinement().missing;
  GuestRun run;
  ASSERT_FALSE(run.complete(GetParam().guest, impatient())) << "it got away with it";
  EXPECT_EQ(run.fault.kind, GetParam().kind) << run.fault.reason;
  EXPECT_THAT(run.fault.reason, HasSubstr(GetParam().reason));
  EXPECT_FALSE(run.guest && run.guest->alive());
}

INSTANTIATE_TEST_SUITE_P(
    Guests, MisbehavingGuest,
    ::testing::Values(Misdeed{"fork", Kind::crashed, "system call"},
                      Misdeed{"exec", Kind::crashed, "system call execve"},
                      Misdeed{"socket", Kind::crashed, "system call socket"},
                      Misdeed{"open_file", Kind::crashed, "system call openat"},
                      Misdeed{"open_memory", Kind::crashed, "system call openat"},
                      Misdeed{"kill_parent", Kind::crashed, "system call kill"},
                      Misdeed{"stop_self", Kind::crashed, "system call kill"},
                      Misdeed{"trace_parent", Kind::crashed, "system call ptrace"},
                      Misdeed{"shared_hog", Kind::crashed, "system call mmap"},
                      Misdeed{"makes_code", Kind::crashed, "system call mmap"},
                      Misdeed{"masks_traps", Kind::crashed, "system call"},
                      Misdeed{"write_input", Kind::crashed,
                              "SIGSEGV writing x (slot 0) at byte 0, which is an input and read-only"},
                      Misdeed{"unseal_input", Kind::crashed, "SIGSEGV writing x (slot 0) at byte 0"},
                      Misdeed{"endless", Kind::timed_out, "within 300 ms"},
                      Misdeed{"sleeper", Kind::timed_out, "within 300 ms"},
                      Misdeed{"exit_early", Kind::exited, "exit status 0"},
                      Misdeed{"aborts", Kind::crashed, "abort"}, Misdeed{"throws", Kind::crashed, "abort"},
                      Misdeed{"null_pointer", Kind::crashed, "writing through a null pointer"},
                      Misdeed{"stack_overflow", Kind::crashed, "stack overflow"},
                      Misdeed{"divide_by_zero", Kind::crashed, "division by zero"},
                      Misdeed{"illegal", Kind::crashed, "illegal instruction"},
                      Misdeed{"constructor", Kind::crashed, "null pointer"},
                      Misdeed{"constructor_reads", Kind::crashed, "abort"},
                      Misdeed{"constructor_exec", Kind::crashed, "system call execve"},
                      Misdeed{"constructor_thread", Kind::crashed, "system call openat"}),
    [](const auto& of) { return std::string(of.param.guest); });

TEST(RunGuest, LosesACandidateThatHoardsMemory) {
  GuestOptions options;
  options.memory = mebibytes(512);
  for (const char* name : {"memory_hog", "malloc_hog"}) {
    GuestRun run;
    ASSERT_FALSE(run.complete(name, options)) << name;
    EXPECT_EQ(run.fault.kind, Kind::out_of_memory) << name << ": " << run.fault.reason;
  }
}

TEST(RunGuest, StopsACandidateThatStartsThreadsWithoutEnd) {
  GuestRun run;
  EXPECT_FALSE(run.complete("thread_bomb", impatient()));
  EXPECT_THAT(run.fault.kind, AnyOf(Kind::crashed, Kind::timed_out, Kind::out_of_memory));
}

TEST(RunGuest, NamesTheBufferWhoseEndWasPassed) {
  GuestRun run(1024);
  ASSERT_TRUE(run.start("write_after"));
  EXPECT_FALSE(run.run({2}));
  EXPECT_EQ(run.fault.signal, SIGSEGV);
  EXPECT_EQ(run.fault.reason, "SIGSEGV writing right after the end of y (slot 2)");
}

TEST(RunGuest, NamesTheBufferBeforeWhichWasWritten) {
  GuestRun run(1024);
  ASSERT_TRUE(run.start("write_before"));
  EXPECT_FALSE(run.run({1}));
  EXPECT_EQ(run.fault.reason, "SIGSEGV writing 4 bytes before the start of y (slot 1)");
}

TEST(RunGuest, FaultsReadingPastTheEndOfAnInput) {
  GuestRun run(1024);
  ASSERT_TRUE(run.start("read_after"));
  EXPECT_FALSE(run.run({0}));
  EXPECT_EQ(run.fault.reason, "SIGSEGV reading right after the end of x (slot 0)");
}

TEST(RunGuest, FindsDamageThatNoGuardCaught) {
  GuestRun run(1001);
  ASSERT_TRUE(run.start("write_after"));
  ASSERT_TRUE(run.run({0, 1}));
  for (int slot : {0, 1}) {
    auto damage = run.outputs.red_zone_damage(slot);
    ASSERT_TRUE(damage) << slot;
    EXPECT_EQ(damage->offset, 1001 * 4);
  }
}

TEST(RunGuest, FindsDamageBeforeABuffer) {
  GuestRun run(1001);
  ASSERT_TRUE(run.start("write_before"));
  ASSERT_TRUE(run.run({0}));
  auto damage = run.outputs.red_zone_damage(0);
  ASSERT_TRUE(damage);
  EXPECT_EQ(damage->offset, -1);
}

TEST(RunGuest, FreezesThreadsThatACandidateLeftBehind) {
  GuestRun run(100'000);
  ASSERT_TRUE(run.complete("background"));
  for (int look = 0; look < 20; ++look) {
    run.outputs.poison(0, 0);
    EXPECT_FALSE(run.doubled(0)) << "written while the guest should be frozen";
    auto y = run.outputs.bytes(0, 0);
    for (std::byte b : y) ASSERT_EQ(b, std::byte{0xFF});
  }
}

TEST(RunGuest, CutsAFloodWithoutWaitingForIt) {
  GuestRun run;
  ASSERT_TRUE(run.complete("flood")) << run.fault.reason;
  EXPECT_TRUE(run.doubled(0));
}

TEST(RunGuest, ShowsTheTailOfWhatADyingCandidateSaid) {
  GuestRun run;
  ASSERT_FALSE(run.complete("throws"));
  EXPECT_THAT(run.fault.errors, HasSubstr("not caught"));
}

TEST(RunGuest, RefusesAnArtifactThatWasChanged) {
  auto artifact = guest_artifact("honest/plain");
  ASSERT_TRUE(artifact);
  artifact->code_hash.bytes[0] ^= 1;
  auto started = RunGuest::start(*artifact, {});
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().kind, ErrorKind::corrupt);
}

TEST(RunGuest, SaysWhichSymbolIsMissing) {
  auto artifact = guest_artifact("honest/plain");
  ASSERT_TRUE(artifact);
  artifact->symbols = {"thrice"};
  auto started = RunGuest::start(*artifact, {});
  ASSERT_TRUE(started);
  ASSERT_TRUE(std::holds_alternative<GuestFault>(*started));
  EXPECT_THAT(std::get<GuestFault>(*started).reason, HasSubstr("thrice"));
}

TEST(RunGuest, ReadsInputsWrittenAfterAttach) {
  GuestRun run;
  ASSERT_TRUE(run.complete("honest/plain"));
  auto* x = reinterpret_cast<float*>(run.inputs.bytes(3, 0).data());
  x[7] = 1e6f;
  ASSERT_TRUE(run.run({3}));
  EXPECT_EQ(reinterpret_cast<const float*>(run.outputs.bytes(3, 0).data())[7], 2e6f);
}

TEST(RunGuest, MeasuresABatchByAClockOfItsOwn) {
  GuestRun run(1 << 20, 2);
  ASSERT_TRUE(run.complete("honest/plain"));
  EXPECT_GT(run.time.wall.count(), 0);
  EXPECT_GT(run.time.cpu_seconds, 0);
  EXPECT_EQ(run.time.major_faults, 0);
  EXPECT_LT(run.time.minor_faults, 16) << "buffers were not mapped beforehand";
}

TEST(RunGuest, RunsAnEmptyKernel) {
  auto guest = RunGuest::start_empty({});
  ASSERT_TRUE(guest) << to_text(guest.error());
  int slot = 0;
  auto result = guest->run({&slot, 1});
  ASSERT_TRUE(result) << to_text(result.error());
  ASSERT_TRUE(std::holds_alternative<BatchTime>(*result));
  EXPECT_GT(std::get<BatchTime>(*result).wall.count(), 0);
}

// ---- buffers ----

TEST(SharedBuffers, StartAtAMultipleOf64AndTouchAGuardAtOneEnd) {
  for (std::int64_t size : {0, 1, 4, 63, 64, 65, 4000, 4096, 4097, 100'000}) {
    auto buffers = SharedBuffers::create({{"a", Bytes{size}, Access::read_write}}, 2);
    ASSERT_TRUE(buffers);
    for (int slot : {0, 1}) {
      auto bytes = buffers->bytes(slot, 0);
      auto begin = reinterpret_cast<std::uintptr_t>(bytes.data()), end = begin + bytes.size();
      EXPECT_EQ(static_cast<std::int64_t>(bytes.size()), size);
      EXPECT_EQ(begin % 64, 0u) << size;
      bool at_guard = slot == 1 ? begin % 4096 == 0 : (4096 - end % 4096) % 4096 < 64;
      EXPECT_TRUE(at_guard) << size << " bytes in slot " << slot;
    }
  }
}

TEST(SharedBuffers, FindEveryDamagedByteRoundABuffer) {
  auto buffers = SharedBuffers::create(
      {{"in", Bytes{10}, Access::read_only}, {"out", Bytes{100}, Access::read_write}}, 1);
  ASSERT_TRUE(buffers);
  std::byte* out = buffers->bytes(0, 1).data();
  auto page = reinterpret_cast<std::uintptr_t>(out) & ~std::uintptr_t{4095};
  auto first = static_cast<std::int64_t>(page - reinterpret_cast<std::uintptr_t>(out));
  for (std::int64_t at = first; at < first + 4096; ++at) {
    buffers->poison(0, 1);
    ASSERT_FALSE(buffers->red_zone_damage(0));
    out[at] = std::byte{0};
    auto damage = buffers->red_zone_damage(0);
    bool inside = at >= 0 && at < 100;
    ASSERT_EQ(damage.has_value(), !inside) << at;
    if (damage) {
      EXPECT_EQ(damage->offset, at);
      EXPECT_EQ(damage->buffer, 1u);
    }
  }
}

TEST(SharedBuffers, RefuseMoreThanTheMachineHas) {
  auto buffers = SharedBuffers::create({{"a", Bytes{std::int64_t{1} << 50}, Access::read_write}}, 1);
  ASSERT_FALSE(buffers);
  EXPECT_EQ(buffers.error().kind, ErrorKind::limit);
}

TEST(RunGuest, GivesBuffersOfAnyKindAndSizeToAKernel) {
  auto empty =
      SharedBuffers::create({{"none", Bytes{0}, Access::read_write}, {"in", Bytes{0}, Access::read_only}}, 3);
  ASSERT_TRUE(empty);
  auto guest = RunGuest::start_empty({});
  ASSERT_TRUE(guest);
  SharedBuffers* group = &*empty;
  GuestLaunch launch{"ako_empty",
                     {{GuestArgument::Kind::buffer, 0, 0, 0, 0}, {GuestArgument::Kind::f32, 0, 0, 0, 1.5}}};
  auto attached = guest->attach({&group, 1}, {&launch, 1});
  ASSERT_TRUE(attached) << to_text(attached.error());
  std::vector<int> slots{2, 1, 0, 2};
  auto result = guest->run(slots);
  ASSERT_TRUE(result);
  EXPECT_TRUE(std::holds_alternative<BatchTime>(*result));
}

TEST(RunGuest, RefusesASlotThatDoesNotExist) {
  auto guest = RunGuest::start_empty({});
  ASSERT_TRUE(guest);
  int slot = 1;
  EXPECT_FALSE(guest->run({&slot, 1}));
}

}  // namespace
}  // namespace ako::host
