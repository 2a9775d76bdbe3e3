// SPDX-License-Identifier: Apache-2.0
#include "profile/disassembly.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.h"
#include "base/text.h"
#include "toolchain/compile_guest.h"
#include "toolchain/cuda/compilers.h"

namespace ako {
namespace fs = std::filesystem;
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> starts) {
  return std::any_of(starts.begin(), starts.end(),
                     [&](std::string_view start) { return text.starts_with(start); });
}

/// "…_dwordx4" 16, "…_ushort" 2, "…_b128" 16; lanes' own width where nothing is said.
int amd_bytes(std::string_view mnemonic) {
  struct Suffix {
    std::string_view text;
    int bytes;
  };
  constexpr Suffix suffixes[] = {{"dwordx4", 16}, {"dwordx3", 12}, {"dwordx2", 8}, {"b128", 16}, {"b96", 12},
                                 {"b64", 8},      {"xyzw", 16},    {"dword", 4},   {"b32", 4},   {"short", 2},
                                 {"b16", 2},      {"byte", 1},     {"u8", 1},      {"i8", 1}};
  for (const Suffix& suffix : suffixes)
    if (contains(mnemonic, suffix.text)) return suffix.bytes;
  return 4;
}

Instruction amd_memory(std::string_view mnemonic, std::string_view kind) {
  if (contains(mnemonic, "atomic")) return {"atomic"};
  if (contains(mnemonic, "_load")) return {kind, amd_bytes(mnemonic), false};
  if (contains(mnemonic, "_store")) return {kind, amd_bytes(mnemonic), true};
  return {"other"};  // cache control
}

Instruction amd_lds(std::string_view mnemonic) {
  if (starts_with_any(mnemonic, {"ds_bpermute", "ds_permute", "ds_swizzle"})) return {"exchange"};
  if (starts_with_any(mnemonic, {"ds_read", "ds_write", "ds_load", "ds_store"})) return {"lds"};
  return {"atomic"};
}

Instruction amd_scalar(std::string_view mnemonic) {
  if (mnemonic == "s_barrier") return {"barrier"};
  if (starts_with_any(mnemonic, {"s_waitcnt", "s_nop", "s_sleep", "s_wait_"})) return {"wait"};
  if (starts_with_any(mnemonic, {"s_branch", "s_cbranch", "s_setpc", "s_swappc", "s_endpgm", "s_call"}))
    return {"branch"};
  if (starts_with_any(mnemonic, {"s_load", "s_store", "s_buffer", "s_dcache", "s_scratch"}))
    return {"scalar_memory"};
  return {"scalar"};
}

std::string_view first_word(std::string_view line) {
  std::size_t start = line.find_first_not_of(" \t");
  if (start == std::string_view::npos) return {};
  line.remove_prefix(start);
  return line.substr(0, line.find_first_of(" \t;,"));
}

template <class Each>
void for_each_line(std::string_view text, Each each) {
  while (!text.empty()) {
    std::size_t end = std::min(text.find('\n'), text.size());
    each(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
}

int sass_bytes(std::string_view mnemonic) {
  if (contains(mnemonic, ".128")) return 16;
  if (contains(mnemonic, ".64")) return 8;
  if (contains(mnemonic, ".U16") || contains(mnemonic, ".S16")) return 2;
  if (contains(mnemonic, ".U8") || contains(mnemonic, ".S8")) return 1;
  return 4;
}

std::optional<fs::path> first_program(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (auto path = find_program(name)) return path;
  return std::nullopt;
}

struct Tool {
  fs::path path;
  std::vector<std::string> options;
  std::vector<fs::path> readable;
};

Result<Tool> tool_for(const std::string& target) {
  if (target.starts_with("gfx")) {
    // Without the colours and addresses of each word; symbols as labels.
    std::vector<std::string> options = {"-d", "--no-show-raw-insn", "--no-leading-addr", "--mcpu=" + target};
    for (const char* path : {"/opt/rocm/llvm/bin/llvm-objdump"})
      if (std::error_code code; fs::exists(path, code)) return Tool{path, options, {"/opt/rocm"}};
    if (auto path = first_program({"llvm-objdump-23", "llvm-objdump-22", "llvm-objdump-21", "llvm-objdump-20",
                                   "llvm-objdump-19", "llvm-objdump"}))
      return Tool{*path, options, {}};
    return fail(ErrorKind::not_found, "there is no llvm-objdump", "apt-get install llvm-19");
  }
  for (const fs::path& folder : cuda_folders())
    if (std::error_code code; fs::exists(folder / "bin/nvdisasm", code))
      return Tool{folder / "bin/nvdisasm", {"-c"}, {folder}};
  return fail(ErrorKind::not_found, "there is no nvdisasm",
              "it comes with the CUDA toolkit, or: pip install nvidia-cuda-nvcc nvidia-cuda-cuobjdump");
}

}  // namespace

std::int64_t InstructionMix::total() const {
  std::int64_t sum = 0;
  for (const auto& [name, count] : classes) sum += count;
  return sum;
}

void InstructionMix::add(const Instruction& instruction) {
  ++classes[std::string(instruction.kind)];
  if (instruction.kind == "global" && instruction.bytes > 0)
    ++(instruction.store ? global_store_bytes : global_load_bytes)[instruction.bytes];
}

Instruction classify_amd(std::string_view mnemonic) {
  if (starts_with_any(mnemonic, {"v_mfma", "v_smfmac", "v_wmma"})) return {"matrix"};
  if (starts_with_any(mnemonic, {"v_readlane", "v_writelane", "v_readfirstlane", "v_permlane"}))
    return {"exchange"};
  if (mnemonic.starts_with("v_")) return {"vector"};
  if (starts_with_any(mnemonic, {"global_", "buffer_", "flat_", "tbuffer_"}))
    return amd_memory(mnemonic, "global");
  if (mnemonic.starts_with("scratch_")) return amd_memory(mnemonic, "scratch");
  if (mnemonic.starts_with("ds_")) return amd_lds(mnemonic);
  if (mnemonic.starts_with("s_")) return amd_scalar(mnemonic);
  return {"other"};
}

Instruction classify_sass(std::string_view mnemonic) {
  std::string_view operation = mnemonic.substr(0, mnemonic.find('.'));
  auto is = [&](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), operation) != names.end();
  };
  if (contains(operation, "MMA")) return {"matrix"};
  if (is({"LDG", "LD"})) return {"global", sass_bytes(mnemonic), false};
  if (is({"STG", "ST"})) return {"global", sass_bytes(mnemonic), true};
  if (operation == "LDGSTS") return {"global", sass_bytes(mnemonic), false};
  if (is({"UTMALDG", "UTMASTG", "UBLKCP"})) return {"global"};  // bulk copies, of no thread's width
  if (is({"LDS", "STS", "LDSM", "STSM", "LDSM"})) return {"lds"};
  if (is({"LDL", "STL"})) return {"scratch"};
  if (is({"LDC", "LDCU", "ULDC"})) return {"scalar_memory"};
  if (starts_with_any(operation, {"ATOM", "RED"}) && operation != "REDUX") return {"atomic"};
  if (is({"BAR", "UCGABAR", "SYNCS", "WARPSYNC"})) return {"barrier"};
  if (is({"SHFL", "VOTE", "REDUX", "MATCH"})) return {"exchange"};
  if (is({"DEPBAR", "LDGDEPBAR", "NOP", "YIELD", "WARPGROUP", "ERRBAR", "MEMBAR"})) return {"wait"};
  if (is({"BRA", "BRX", "JMP", "EXIT", "CALL", "RET", "BSSY", "BSYNC", "BREAK", "KILL", "BPT"}))
    return {"branch"};
  if (operation.starts_with('U') || is({"R2UR", "S2UR", "CS2R"})) return {"scalar"};
  if (operation.empty()) return {"other"};
  return {"vector"};
}

std::map<std::string, InstructionMix> read_objdump(std::string_view text) {
  std::map<std::string, InstructionMix> mixes;
  InstructionMix* current = nullptr;
  for_each_line(text, [&](std::string_view line) {
    if (line.starts_with('<') && line.ends_with(">:")) {
      current = &mixes[std::string(line.substr(1, line.size() - 3))];
    } else if (current && !line.empty() && (line[0] == ' ' || line[0] == '\t')) {
      std::string_view word = first_word(line);
      if (!word.empty() && word != "...") current->add(classify_amd(word));
    }
  });
  return mixes;
}

std::map<std::string, InstructionMix> read_nvdisasm(std::string_view text) {
  constexpr std::string_view section = ".section\t.text.";
  std::map<std::string, InstructionMix> mixes;
  InstructionMix* current = nullptr;
  for_each_line(text, [&](std::string_view line) {
    if (std::size_t at = line.find(section); at != std::string_view::npos) {
      std::string_view name = line.substr(at + section.size());
      current = &mixes[std::string(name.substr(0, name.find_first_of(",\t \"")))];
      return;
    }
    // /*0010*/  @!P0 LDG.E.128 R4, [R2] ;
    std::size_t open = line.find("/*"), close = line.find("*/");
    if (!current || open == std::string_view::npos || close == std::string_view::npos || open > close ||
        line.find_first_not_of(" \t") != open)
      return;
    std::string_view rest = line.substr(close + 2);
    std::string_view word = first_word(rest);
    if (word.starts_with('@')) {
      rest.remove_prefix(static_cast<std::size_t>(word.data() - rest.data()) + word.size());
      word = first_word(rest);
    }
    if (!word.empty() && word[0] >= 'A' && word[0] <= 'Z') current->add(classify_sass(word));
  });
  return mixes;
}

Result<std::map<std::string, InstructionMix>> Disassembler::mixes(std::string_view code_object,
                                                                  const std::string& target) const {
  AKO_TRY(Tool tool, tool_for(target));
  AKO_TRY(TemporaryFolder scratch, TemporaryFolder::create("ako-disassemble"));
  AKO_CHECK(write_file(scratch.path() / "code", code_object));
  Policy policy;
  policy.filter = Filter::compile;
  policy.readable = system_folders();
  policy.readable.insert(policy.readable.end(), tool.readable.begin(), tool.readable.end());
  policy.scratch = scratch.path();
  policy.environment = {{"PATH", "/usr/bin:/bin"}, {"LC_ALL", "C"}};
  Command command;
  command.argv = {tool.path.string()};
  command.argv.insert(command.argv.end(), tool.options.begin(), tool.options.end());
  command.argv.emplace_back("code");
  command.folder = scratch.path();
  command.wall_limit = Seconds(30);
  command.output_limit = mebibytes(128);
  AKO_TRY(Exit exit, run_(command, policy));
  if (!exit.ok())
    return fail(ErrorKind::unavailable, fmt::format("{} failed: {}", tool.path.filename().string(),
                                                    printable(exit.errors).substr(0, 300)));
  return target.starts_with("gfx") ? read_objdump(exit.output) : read_nvdisasm(exit.output);
}

}  // namespace ako
