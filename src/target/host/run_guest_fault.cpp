// SPDX-License-Identifier: Apache-2.0
#include "target/host/run_guest_fault.h"

#include <fmt/format.h>
#include <signal.h>
#include <string.h>

#include <algorithm>

#include "sandbox/filter.h"

namespace ako::host {
namespace {

constexpr std::uint64_t kStackReach = 1 << 20;
constexpr int kFromKernel = 128;  // SI_KERNEL: a general protection fault, which carries no address

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

std::string memory_fault(int signal, const LastWords& last) {
  const guest::Sighting& seen = last.sighting;
  std::string name = signal_name(signal);
  std::string verb = seen.writing ? "writing" : "reading";
  if (seen.signal != static_cast<std::uint32_t>(signal)) return name;
  if (seen.address >= last.begin && seen.address < last.end) {
    std::string place = place_of(seen.address, seen.writing, last.regions);
    bool late = last.withdrawn && std::ranges::any_of(last.regions, [&](const Region& region) {
                  return seen.address >= region.begin && seen.address < region.end &&
                         (region.writable || !seen.writing);
                });
    return fmt::format("{} {}{}", name, place, late ? ", after its launch had returned" : "");
  }
  if (seen.code == kFromKernel)
    return fmt::format("{}: a wild pointer, or an aligned vector access at an address that is not aligned",
                       name);
  if (seen.address == seen.instruction)
    return fmt::format("{}: called {:#x}, where there is no code", name, seen.address);
  std::uint64_t distance = std::max(seen.address, seen.stack) - std::min(seen.address, seen.stack);
  if (distance < kStackReach) return fmt::format("{}: stack overflow; large arrays belong on the heap", name);
  if (seen.address < 65536)
    return fmt::format("{} {} through a null pointer ({:#x})", name, verb, seen.address);
  return fmt::format("{} {} {:#x}, which belongs to no buffer", name, verb, seen.address);
}

std::string reason_of(int signal, const LastWords& last) {
  switch (signal) {
    case SIGSEGV:
    case SIGBUS:
      return memory_fault(signal, last);
    case SIGABRT:
      return "called abort (an uncaught exception, a failed assertion, or corrupted heap)";
    case SIGFPE:
      return "SIGFPE: integer division by zero or overflow";
    case SIGILL:
      return "SIGILL: illegal instruction; compiled for a CPU feature that this machine lacks?";
    case SIGSYS:
      if (last.sighting.signal != SIGSYS || last.sighting.system_call < 0)
        return "used a system call that a kernel may not";
      return fmt::format("used the system call {}, which a kernel may not",
                         system_call_name(last.sighting.system_call));
    default:
      return signal_name(signal);
  }
}

/// A guest that was told of a forbidden call, or aborts, leaves with this status: process 1 of a namespace
/// cannot send itself a deadly signal.
int signal_behind(const Exit& exit, const LastWords& last) {
  if (exit.signal != 0) return exit.signal;
  int seen = static_cast<int>(last.sighting.signal);
  return seen > 0 && exit.code == 128 + seen ? seen : 0;
}

bool ran_out_of_memory(int signal, const Exit& exit, const LastWords& last) {
  if (signal == SIGKILL) return true;  // not ours: the system's last resort
  if (signal == SIGABRT && exit.errors.find("std::bad_alloc") != std::string::npos) return true;
  bool hit_nothing = signal == SIGABRT || (signal == SIGSEGV && last.sighting.address < 65536);
  return hit_nothing && (last.memory_short || last.sighting.memory_short);
}

}  // namespace

std::string place_of(std::uint64_t address, bool writing, std::span<const Region> regions) {
  const Region* nearest = nullptr;
  std::uint64_t least = ~std::uint64_t{0};
  auto distance = [&](const Region& region) {
    if (address < region.begin) return region.begin - address;
    return address < region.end ? 0 : address - region.end;
  };
  auto above = std::ranges::upper_bound(regions, address, {}, &Region::begin);
  for (auto candidate : {above == regions.begin() ? above : above - 1, above})
    if (candidate != regions.end() && distance(*candidate) < least) {
      least = distance(*candidate);
      nearest = &*candidate;
    }
  if (!nearest) return {};
  std::string verb = writing ? "writing" : "reading";
  std::string where = fmt::format("{} (slot {})", nearest->name, nearest->slot);
  if (address < nearest->begin) return fmt::format("{} {} bytes before the start of {}", verb, least, where);
  if (address < nearest->end) {
    std::string rule = writing && !nearest->writable ? ", which is an input and read-only" : "";
    return fmt::format("{} {} at byte {}{}", verb, where, address - nearest->begin, rule);
  }
  if (least == 0) return fmt::format("{} right after the end of {}", verb, where);
  return fmt::format("{} {} bytes after the end of {}", verb, least, where);
}

GuestFault explain_end(const Exit& exit, const LastWords& last) {
  GuestFault fault;
  fault.errors = exit.errors;
  fault.signal = signal_behind(exit, last);
  if (fault.signal == 0) {
    fault.kind = GuestFault::Kind::exited;
    fault.reason = fmt::format("ended the process with exit status {}", exit.code);
  } else if (ran_out_of_memory(fault.signal, exit, last)) {
    fault.kind = GuestFault::Kind::out_of_memory;
    fault.reason =
        fmt::format("needed more than {} of memory besides its buffers", to_text(last.memory_limit));
  } else {
    fault.reason = reason_of(fault.signal, last);
  }
  return fault;
}

}  // namespace ako::host
