// SPDX-License-Identifier: Apache-2.0
// Untrusted processes. Theory of operation: docs/sandbox.md and the head of sandbox.cpp.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/subprocess.h"
#include "base/units.h"

namespace ako {

enum class Filter : std::uint8_t {
  compute,  // a run guest: memory, threads, futex, clocks; no files beyond start-up, no fork, no exec, no
            // sockets
  compile,  // a compiler: also fork, exec, files inside its folders; no sockets
};

struct Policy {
  Filter filter = Filter::compute;
  std::vector<std::filesystem::path> readable;  // bound read-only at the same path; the rest does not exist
  std::filesystem::path scratch;                // one writable folder (compile), empty: none
  Bytes memory = gibibytes(8);                  // address space (compile) or data (compute) limit
  int processes = 64;                           // and threads
  Bytes file_size = mebibytes(256);
  Seconds cpu_limit{120};  // of each process; 0: none
  std::map<std::string, std::string> environment;
};

/// What the kernel let us do. Asked once per process and remembered.
struct Confinement {
  bool namespaces = false;  // user, mount, pid, net, ipc
  bool seccomp = false;
  std::string missing;  // why not, for people
  bool full() const { return namespaces && seccomp; }
};
const Confinement& confinement();

/// Runs a command confined, to its end (compilers). Its environment is the policy's; its folder, unless
/// given, is the scratch folder. Inside, /tmp is empty and writable. Thread-safe.
Result<Exit> run_confined(const Command&, const Policy&);

/// A confined process that stays and with which the caller shares descriptors (run guests). It is our direct
/// child, so that stops and exits are ours to wait for. Killed with everything it started on destruction, and
/// by the kernel when the thread that started it ends: start it on a thread that stays. Not thread-safe.
class ConfinedProcess {
 public:
  /// `descriptors[i]` becomes descriptor 3+i in the process; every other one is closed.
  static Result<ConfinedProcess> start(const Command&, const Policy&, std::vector<int> descriptors);
  ConfinedProcess(ConfinedProcess&&) noexcept;
  ConfinedProcess& operator=(ConfinedProcess&&) noexcept;
  ~ConfinedProcess();

  int pid() const;
  /// SIGSTOP and wait until every thread is stopped. False when it has ended instead.
  bool freeze();
  void thaw();
  /// nullopt while it lives.
  std::optional<Exit> ended();
  /// Its stderr so far, cut at 64 KiB.
  std::string errors() const;

 private:
  struct State;
  explicit ConfinedProcess(std::unique_ptr<State>);
  std::unique_ptr<State> state_;
};

}  // namespace ako
