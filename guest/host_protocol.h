// SPDX-License-Identifier: Apache-2.0
// What the judge and a run guest say to each other, all of it in shared memory. The guest reads Orders and
// Plan, which are sealed against its writing, and writes Notes. The judge believes nothing in Notes: it
// decides by what waitid, the clock and the buffers say, and uses Notes only to explain.
#pragma once

#include <atomic>
#include <cstdint>

namespace ako::guest {

constexpr std::uint32_t kProtocolVersion = 2;

/// Descriptors that the guest is started with.
constexpr int kOrdersDescriptor = 3;   // memory file: Orders, read-only
constexpr int kNotesDescriptor = 4;    // memory file: Notes
constexpr int kChannelDescriptor = 5;  // SOCK_SEQPACKET: memory files of an attach arrive here
constexpr int kFirstOwnDescriptor = 6;

constexpr std::uint32_t kOrdersBytes = 1u << 20;
constexpr std::uint32_t kNotesBytes = 4096;
constexpr std::uint32_t kMostFiles = 64;  // in one attach, the plan's included

/// The name under which the guest finds its own empty kernel, which takes no arguments.
constexpr const char* kEmptyKernel = "ako_empty";

enum class Order : std::uint32_t {
  load,    // given at start: install filters, load the library, find the symbols
  attach,  // receive a plan and the files of its mappings
  run,     // the launches of every listed slot
};

/// A piece of the orders' file.
struct Piece {
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
};

/// The first word changes with every order; the guest waits on it.
struct Orders {
  std::atomic<std::uint32_t> sequence;
  std::uint32_t version;
  Order order;
  std::uint32_t slot_count;  // of run
  std::uint64_t memory_limit;
  Piece load_filter, run_filter;  // BPF programs, empty: none
  Piece library;                  // path with a terminating zero, empty: none
  Piece symbols;                  // names, each with a terminating zero; `symbol_count` of them
  std::uint32_t symbol_count;
  Piece slots;  // std::int32_t each; ~slot: take the slot's buffers away when its launches have returned
};

enum class Answer : std::uint32_t {
  ok,
  cannot_load,     // message: what dlopen said
  missing_symbol,  // message: its name
  address_taken,   // the plan's reservation is in use here: draw another
  failed,          // message: which call
};

/// What the guest's signal handler saw.
struct Sighting {
  std::uint32_t signal;
  std::int32_t code;           // si_code
  std::uint64_t address;       // si_addr
  std::uint64_t instruction;   // program counter
  std::uint64_t stack;         // stack pointer
  std::uint32_t writing;       // of a memory fault
  std::int32_t system_call;    // SIGSYS; -1 otherwise
  std::uint32_t memory_short;  // an allocation failed shortly before
};

struct Notes {
  std::atomic<std::uint32_t> done;  // sequence of the last order carried out; the judge waits on it
  Answer answer;
  std::uint32_t memory_short;  // operator new found nothing
  Sighting sighting;
  char message[1024];
};

/// A plan is a file of its own: this header, then `mappings`, `launches` and values, packed. Every slot has
/// the same number of mappings; a slot's mappings follow each other.
struct Plan {
  std::uint64_t reservation, reservation_bytes;  // all mappings lie in it; the rest of it is unmapped guard
  std::uint32_t mapping_count, launch_count;
  std::uint32_t slot_count, values_per_slot;
};
struct Mapping {
  std::uint64_t address, bytes, offset;
  std::uint32_t file;  // index of the descriptor received, the plan being 0
  std::uint32_t writable;
};
struct PlannedLaunch {
  std::uint32_t symbol;
  std::uint32_t first_value;  // of the slot's values
  std::uint32_t value_count;
};
/// Then slot_count × values_per_slot cells. A kernel's wrapper gets pointers to its cells: void (*)(void**
/// arguments).
using Value = std::uint64_t;

}  // namespace ako::guest
