// SPDX-License-Identifier: Apache-2.0
#include "toolchain/code_object/cubin.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace ako {
namespace {

// Attributes of .nv.info sections.
constexpr std::uint8_t max_threads = 0x05, required_threads = 0x10, frame_size = 0x11, min_stack_size = 0x12,
                       parameter_info = 0x17, parameter_bytes = 0x19, register_count = 0x2F;
// How an attribute's value is stored: in the 16 bits after it, or in as many bytes as those say.
constexpr std::uint8_t sized_value = 4;
constexpr std::string_view text_prefix = ".text.";

struct Attribute {
  std::uint8_t format = 0, id = 0;
  std::uint16_t value = 0;   // of the unsized formats
  std::string_view content;  // of the sized one
};

Result<std::vector<Attribute>> read_attributes(std::string_view bytes) {
  std::vector<Attribute> all;
  for (std::size_t at = 0; at < bytes.size();) {
    Attribute next;
    if (!read_value(bytes, at, next.format) || !read_value(bytes, at + 1, next.id) ||
        !read_value(bytes, at + 2, next.value) ||
        (next.format == sized_value && next.value > bytes.size() - at - 4))
      return fail(ErrorKind::corrupt, "the cubin is damaged: an attribute lies outside of its section",
                  "compile it again");
    at += 4;
    if (next.format == sized_value) {
      next.content = bytes.substr(at, next.value);
      at += next.value;
    }
    all.push_back(next);
  }
  return all;
}

std::int64_t word(std::string_view bytes, std::size_t index) {
  std::uint32_t value = 0;
  read_value(bytes, 4 * index, value);
  return value;
}

std::int64_t block_threads(std::string_view content) {
  std::int64_t threads = 1;
  for (std::size_t axis = 0; axis < 3; ++axis)
    threads *= std::min<std::int64_t>(word(content, axis), 1 << 16);
  return threads;
}

class CubinReader {
 public:
  explicit CubinReader(const ElfFile& elf) : elf_(elf) {}

  Result<CodeObject> read() {
    AKO_CHECK(read_target());
    AKO_TRY(symbols_, elf_.symbols());
    for (const ElfSection& section : elf_.sections()) {
      sections_.emplace(section.name, &section);
      if (section.name.starts_with(text_prefix)) add_kernel(section);
    }
    for (KernelFacts& kernel : object_.kernels) kernels_.emplace(kernel.name, &kernel);
    if (const ElfSection* info = section(".nv.info"); info && info->content)
      AKO_CHECK(read_info(*info->content));
    // The first KiB of a block's shared memory belongs to the system on compute capability 8.0 and later; it
    // is part of the sections' sizes where this symbol is.
    bool reserved = std::any_of(symbols_.begin(), symbols_.end(), [](const ElfSymbol& symbol) {
      return symbol.name == ".nv.reservedSmem.offset0";
    });
    for (KernelFacts& kernel : object_.kernels) AKO_CHECK(read_kernel(kernel, reserved ? 1024 : 0));
    return std::move(object_);
  }

 private:
  Result<void> read_target() {
    const Elf64_Ehdr& header = elf_.header();
    int abi = header.e_ident[EI_ABIVERSION];
    // ABI version 8 (CUDA 13) moved the architecture from the lowest byte of the flags to the next.
    unsigned sm = abi >= 8 ? header.e_flags >> 8 & 0xFF : header.e_flags & 0xFF;
    constexpr unsigned accelerators = 0x800, accelerators_8 = 0x8;
    bool special = header.e_flags & (abi >= 8 ? accelerators_8 : accelerators);
    object_.target = fmt::format("sm_{}{}", sm, special ? "a" : "");
    object_.format = fmt::format("cubin, ABI version {}", abi);
    AKO_TRY(auto notes, elf_.notes());
    for (const ElfNote& note : notes)  // how ptxas was called: "-arch sm_90a -m 64"
      if (note.content.find(fmt::format("-arch sm_{}a ", sm)) != std::string_view::npos)
        object_.target = fmt::format("sm_{}a", sm);
    return {};
  }

  void add_kernel(const ElfSection& section) {
    KernelFacts kernel;
    kernel.name = section.name.substr(text_prefix.size());
    kernel.code_bytes = static_cast<std::int64_t>(section.header.sh_size);
    kernel.wave_size = 32;
    object_.kernels.push_back(std::move(kernel));
  }

  KernelFacts* kernel_of_symbol(std::int64_t index) {
    if (index < 0 || static_cast<std::size_t>(index) >= symbols_.size()) return nullptr;
    auto found = kernels_.find(symbols_[static_cast<std::size_t>(index)].name);
    return found == kernels_.end() ? nullptr : found->second;
  }

  const ElfSection* section(std::string_view name) const {
    auto found = sections_.find(name);
    return found == sections_.end() ? nullptr : found->second;
  }

  /// Of the whole module: attributes that name a function by its symbol's index.
  Result<void> read_info(std::string_view bytes) {
    AKO_TRY(auto attributes, read_attributes(bytes));
    for (const Attribute& each : attributes) {
      if (each.format != sized_value || each.content.size() < 8) continue;
      KernelFacts* kernel = kernel_of_symbol(word(each.content, 0));
      if (!kernel) continue;
      std::int64_t value = word(each.content, 1);
      if (each.id == register_count) kernel->registers = value;
      if (each.id == frame_size || each.id == min_stack_size)
        kernel->scratch_bytes = std::max(kernel->scratch_bytes.value_or(0), value);
    }
    return {};
  }

  Result<void> read_kernel(KernelFacts& kernel, std::int64_t reserved_shared) {
    kernel.lds_bytes = 0;
    if (const ElfSection* shared = section(".nv.shared." + kernel.name))
      kernel.lds_bytes =
          std::max<std::int64_t>(0, static_cast<std::int64_t>(shared->header.sh_size) - reserved_shared);
    const ElfSection* info = section(".nv.info." + kernel.name);
    if (!info || !info->content) return {};
    kernel.describes_parameters = true;
    AKO_TRY(auto attributes, read_attributes(*info->content));
    for (const Attribute& each : attributes) {
      if (each.id == parameter_bytes && each.format != sized_value) kernel.kernarg_bytes = each.value;
      if ((each.id == max_threads || each.id == required_threads) && each.content.size() >= 12)
        kernel.max_threads = block_threads(each.content);
      // Index, then ordinal and offset in 16 bits each, then flags whose bits from 18 on are the size.
      if (each.id == parameter_info && each.content.size() >= 12) {
        std::int64_t place = word(each.content, 1);
        parameters_.push_back({place & 0xFFFF, {place >> 16, word(each.content, 2) >> 18, ""}});
      }
    }
    std::sort(parameters_.begin(), parameters_.end(),
              [](const Ordered& a, const Ordered& b) { return a.ordinal < b.ordinal; });
    for (Ordered& each : parameters_) kernel.parameters.push_back(std::move(each.parameter));
    parameters_.clear();
    return {};
  }

  struct Ordered {
    std::int64_t ordinal;
    KernelParameter parameter;
  };

  const ElfFile& elf_;
  std::vector<ElfSymbol> symbols_;
  std::map<std::string_view, const ElfSection*> sections_;
  std::map<std::string_view, KernelFacts*> kernels_;
  std::vector<Ordered> parameters_;
  CodeObject object_;
};

}  // namespace

Result<CodeObject> read_cubin(const ElfFile& elf) { return CubinReader(elf).read(); }

}  // namespace ako
