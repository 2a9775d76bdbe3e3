// SPDX-License-Identifier: Apache-2.0
// The instructions of a code object, counted by class. Disassemblers are others' programs and are run in a
// guest, for the code object may come from anywhere: LLVM's llvm-objdump for AMD, NVIDIA's nvdisasm for CUDA.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/error.h"
#include "sandbox/sandbox.h"

namespace ako {

/// How often each class of instruction stands in a kernel's code (not how often it runs).
struct InstructionMix {
  /// "matrix", "vector", "scalar", "global", "lds", "scratch", "scalar_memory", "atomic", "barrier", "wait",
  /// "branch", "exchange" (between lanes), "other".
  std::map<std::string, std::int64_t> classes;
  /// Bytes that one thread moves with one instruction → how many such: of loads from and stores to global
  /// memory.
  std::map<int, std::int64_t> global_load_bytes, global_store_bytes;

  std::int64_t total() const;
  void add(const struct Instruction&);
};

struct Instruction {
  std::string_view kind;  // one of the classes
  int bytes = 0;          // global memory: moved by each thread
  bool store = false;
};

/// By the mnemonic: "v_mfma_f32_32x32x8_f16", "global_load_dwordx4" (AMD CDNA ISA guides, chapter
/// "Instructions").
Instruction classify_amd(std::string_view mnemonic);
/// "HMMA.16816.F32", "LDG.E.128" (CUDA Binary Utilities, "Instruction Set Reference").
Instruction classify_sass(std::string_view mnemonic);

/// What llvm-objdump -d or nvdisasm printed, by kernel.
std::map<std::string, InstructionMix> read_objdump(std::string_view text);
std::map<std::string, InstructionMix> read_nvdisasm(std::string_view text);

class Disassembler {
 public:
  using Run = std::function<Result<Exit>(const Command&, const Policy&)>;
  explicit Disassembler(Run run = run_confined) : run_(std::move(run)) {}

  /// By kernel. Errors: no program that reads this target (not_found, with advice), or it failed.
  Result<std::map<std::string, InstructionMix>> mixes(std::string_view code_object,
                                                      const std::string& target) const;

 private:
  Run run_;
};

}  // namespace ako
