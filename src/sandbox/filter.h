// SPDX-License-Identifier: Apache-2.0
// System-call filters: allow-lists compiled to BPF by libseccomp. What is on no list does not happen.
//
// A compute guest gets three, each only ever tightening the one before: `start` from its first instruction,
// `load` before the candidate's shared object is mapped, `run` before any kernel is called. Forbidden calls
// trap (SECCOMP_RET_TRAP) instead of killing, so that the guest's handler can write down which call it was;
// the call itself never happens, whatever the handler does.
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace ako {

enum class FilterStage : std::uint8_t {
  compile,  // a compiler: files, fork, exec; no sockets, no new namespaces, no tracing
  start,    // a run guest until its main(): the one exec, the dynamic loader
  load,     // while the candidate is loaded: files may be opened for reading, code may be mapped
  run,      // kernels: memory, threads, futexes, clocks; nothing else
};

using FilterProgram = std::vector<sock_filter>;

/// Descriptors that a run guest is started with, which `run` must know: docs/sandbox.md.
struct FilterDescriptors {
  int channel = 5;    // recvmsg is allowed on this one only
  int first_own = 6;  // close is allowed from here on
};

/// Empty when this kernel has no filters. Thread-safe.
Result<FilterProgram> filter_program(FilterStage, const FilterDescriptors& = {});

/// "openat" for 257 on x86-64; "system call 9999" when there is no such.
std::string system_call_name(int number);

}  // namespace ako
