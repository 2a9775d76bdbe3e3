// SPDX-License-Identifier: Apache-2.0
// A run guest: the confined process that holds one host candidate, and the memory it shares with the judge.
//
// The guest is stopped (SIGSTOP, every thread confirmed stopped) whenever the judge writes inputs or reads
// outputs. A batch is timed from the moment the judge releases it to the moment the guest is confirmed
// stopped again, so work hidden in background threads is either on the clock or does not happen. Inputs are
// sealed: the guest can map them only for reading.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "kernel/artifact.h"
#include "sandbox/sandbox.h"
#include "target/facts.h"

namespace ako::host {

enum class Access : std::uint8_t { read_only, read_write };

struct BufferSpec {
  std::string name;
  Bytes size;
  Access access = Access::read_only;
};

/// Memory for `slots` launches: every buffer once per slot. Judge's side: plain writable memory. Guest's
/// side: each (slot, buffer) alone between unmapped guard pages, at an address fresh for each attach, ending
/// exactly at a guard (even slots) or starting exactly at one (odd slots); the bytes between the buffer and
/// its page's edge are poison that red_zone_damage inspects.
class SharedBuffers {
 public:
  /// read_only buffers are sealed against writing by anyone who receives the descriptor.
  static Result<SharedBuffers> create(std::vector<BufferSpec> buffers, int slots);
  SharedBuffers(SharedBuffers&&) noexcept;
  SharedBuffers& operator=(SharedBuffers&&) noexcept;
  ~SharedBuffers();

  int slots() const;
  std::span<const BufferSpec> buffers() const;
  std::span<std::byte> bytes(int slot, std::size_t buffer);
  Bytes total() const;
  /// Fills one buffer (payload and surroundings) with poison: 0xFF… patterns that are NaN in every float
  /// type.
  void poison(int slot, std::size_t buffer);
  struct Damage {
    std::size_t buffer = 0;
    std::int64_t offset = 0;  // bytes from the buffer's start; negative is before it
  };
  std::optional<Damage> red_zone_damage(int slot) const;

 private:
  friend class RunGuest;
  struct State;
  explicit SharedBuffers(std::unique_ptr<State>);
  std::unique_ptr<State> state_;
};

/// One argument of a launch as the guest is told: a buffer of a group, or a value.
struct GuestArgument {
  enum class Kind : std::uint8_t { buffer, integer, f64, f32, bits16, bits8, i32 } kind = Kind::integer;
  int group = 0;  // which SharedBuffers of attach()
  std::size_t buffer = 0;
  std::int64_t integer = 0;
  double real = 0;
};
struct GuestLaunch {
  std::string symbol;
  std::vector<GuestArgument> arguments;
};

struct GuestFault {
  enum class Kind : std::uint8_t { crashed, exited, timed_out, out_of_memory } kind = Kind::crashed;
  int signal = 0;
  std::string reason;  // with the buffer that was hit, when the address says so
  std::string errors;  // tail of its stderr
};

struct BatchTime {
  std::chrono::nanoseconds wall{0};  // release to confirmed stop
  double cpu_seconds = 0;            // of the guest
  double steal_seconds = 0;          // of the machine, while it ran
  std::int64_t major_faults = 0, minor_faults = 0, involuntary_switches = 0;
};
using BatchResult = std::variant<BatchTime, GuestFault>;

/// Shared libraries that a guest has beside the C and C++ runtime: a baseline library's own guest. A
/// candidate's has none.
struct Preload {
  std::vector<std::filesystem::path> files;  // readable there; the first is loaded before the kernel
  std::map<std::string, std::string> environment;
};

struct GuestOptions {
  int threads = 0;              // OMP_NUM_THREADS; 0: all cores
  Bytes memory = gibibytes(8);  // beyond the shared buffers
  Seconds batch_limit{10};      // wall time of one batch; silent or busy makes no difference
  Preload preload = {};
};

/// Not thread-safe. The guest dies with the thread that started it.
class RunGuest {
 public:
  /// Checks the artifact's hash, starts ako-guest-host confined, loads the shared object in it, freezes it.
  /// A GuestFault: the candidate's constructors misbehaved, or a symbol is missing.
  static Result<std::variant<RunGuest, GuestFault>> start(const Artifact&, const GuestOptions&);
  /// A guest with an empty kernel of ako's own, attached to slot 0: what a release costs.
  static Result<RunGuest> start_empty(const GuestOptions&);
  RunGuest(RunGuest&&) noexcept;
  RunGuest& operator=(RunGuest&&) noexcept;
  ~RunGuest();

  /// Gives it buffers (all groups have the same number of slots) and the launches to make for each slot,
  /// replacing the earlier ones. Maps at fresh addresses. The groups must outlive their use here. The guest
  /// runs while it maps, off the clock: write the inputs of a measurement after this.
  Result<std::variant<std::monostate, GuestFault>> attach(std::span<SharedBuffers* const> groups,
                                                          std::span<const GuestLaunch> launches);
  /// Runs the launches once for each listed slot, in order. After a fault the guest is gone.
  Result<BatchResult> run(std::span<const int> slots);
  /// As run, but takes the buffers of a secret part of the slots away from the guest the moment their
  /// launches have returned: a kernel that left work to another thread faults. Not for measuring; attach
  /// again before the next run.
  Result<BatchResult> run_withdrawing(std::span<const int> slots);
  /// As run, but frozen once on the way, so long after its release, for `meanwhile` to be called; not at all
  /// when the batch ends before. Not for measuring.
  Result<BatchResult> run_interrupted(std::span<const int> slots, std::chrono::nanoseconds after,
                                      const std::function<void()>& meanwhile);
  bool alive() const;
  Trust trust() const;

 private:
  struct State;
  explicit RunGuest(std::unique_ptr<State>);
  std::unique_ptr<State> state_;
};

}  // namespace ako::host
