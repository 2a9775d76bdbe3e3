// SPDX-License-Identifier: Apache-2.0
#include "toolchain/code_object/amdgpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace ako {
using nlohmann::json;
namespace {

constexpr std::uint32_t metadata_note = 32;  // NT_AMDGPU_METADATA

std::unexpected<Error> damaged_metadata(std::string_view what) {
  return fail(ErrorKind::corrupt, fmt::format("the code object is damaged: {}", what), "compile it again");
}

/// Refuses documents that nest so deep that reading them, which recurses, could run out of stack.
class DepthCheck : public nlohmann::json_sax<json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return ++depth_ <= deepest; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return depth_-- > 0; }
  bool start_array(std::size_t) override { return ++depth_ <= deepest; }
  bool end_array() override { return depth_-- > 0; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  static constexpr int deepest = 16;  // metadata needs five
  int depth_ = 0;
};

Result<json> read_metadata(std::string_view bytes) {
  DepthCheck check;
  if (!json::sax_parse(bytes.begin(), bytes.end(), &check, json::input_format_t::msgpack))
    return damaged_metadata("its metadata is no MessagePack document");
  json document = json::from_msgpack(bytes.begin(), bytes.end(), true, false);
  if (!document.is_object()) return damaged_metadata("its metadata is no map");
  return document;
}

std::optional<std::int64_t> number_of(const json& map, const char* key) {
  auto found = map.find(key);
  if (found == map.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<std::int64_t>();
}

std::string text_of(const json& map, const char* key) {
  auto found = map.find(key);
  return found != map.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// "amdgcn-amd-amdhsa--gfx942:sramecc+" and the like, whatever stands before the last '-'.
std::string processor_of(std::string_view target) {
  target = target.substr(target.rfind('-') + 1);
  return std::string(target.substr(0, target.find(':')));
}

KernelFacts kernel_from(const json& map) {
  KernelFacts kernel;
  kernel.name = text_of(map, ".name");
  // `.vgpr_count` counts both kinds where they share a file (gfx90a and later).
  kernel.registers = number_of(map, ".vgpr_count");
  kernel.agprs = number_of(map, ".agpr_count");
  kernel.sgprs = number_of(map, ".sgpr_count");
  kernel.vgpr_spills = number_of(map, ".vgpr_spill_count");
  kernel.sgpr_spills = number_of(map, ".sgpr_spill_count");
  kernel.lds_bytes = number_of(map, ".group_segment_fixed_size");
  kernel.scratch_bytes = number_of(map, ".private_segment_fixed_size");
  kernel.kernarg_bytes = number_of(map, ".kernarg_segment_size");
  kernel.max_threads = number_of(map, ".max_flat_workgroup_size");
  kernel.wave_size = number_of(map, ".wavefront_size");
  if (auto args = map.find(".args"); args != map.end() && args->is_array()) {
    for (const json& arg : *args)
      if (arg.is_object())
        kernel.parameters.push_back({number_of(arg, ".offset").value_or(0),
                                     number_of(arg, ".size").value_or(0), text_of(arg, ".value_kind")});
    kernel.describes_parameters = true;
  }
  return kernel;
}

/// amd_kernel_code: what the command processor reads, 64 bytes at the symbol NAME.kd.
struct KernelDescriptor {
  std::uint32_t lds, scratch, kernarg, reserved;
  std::int64_t entry;
  std::uint8_t reserved_2[20];
  std::uint32_t rsrc3, rsrc1, rsrc2;
  std::uint16_t properties, preload;
  std::uint32_t reserved_3;
};
static_assert(sizeof(KernelDescriptor) == 64);

std::int64_t allocated_registers(const KernelDescriptor& descriptor) {
  return (static_cast<std::int64_t>(descriptor.rsrc1 & 0x3F) + 1) * 8;  // GRANULATED_WORKITEM_VGPR_COUNT
}

bool has_unified_registers(std::string_view target) {
  return target == "gfx90a" || target.starts_with("gfx94") || target.starts_with("gfx95");
}

class Reader {
 public:
  explicit Reader(const ElfFile& elf) : elf_(elf) {}

  Result<CodeObject> read() {
    object_.target = amdgpu_processor(elf_.header().e_flags);
    // ELFABIVERSION_AMDGPU_HSA_V3 is 1.
    object_.format = fmt::format("AMD code object version {}", elf_.header().e_ident[EI_ABIVERSION] + 2);
    AKO_TRY(auto notes, elf_.notes());
    for (const ElfNote& note : notes)
      if (note.owner == "AMDGPU" && note.type == metadata_note) AKO_CHECK(add_metadata(note.content));
    AKO_TRY(auto symbols, elf_.symbols());
    for (const ElfSymbol& symbol : symbols) by_name_.emplace(symbol.name, &symbol);
    AKO_CHECK(add_undescribed(symbols));
    for (KernelFacts& kernel : object_.kernels) complete(kernel);
    return std::move(object_);
  }

 private:
  Result<void> add_metadata(std::string_view content) {
    AKO_TRY(json document, read_metadata(content));
    if (std::string target = processor_of(text_of(document, "amdhsa.target")); !target.empty())
      object_.target = target;
    auto kernels = document.find("amdhsa.kernels");
    if (kernels == document.end() || !kernels->is_array()) return {};
    for (const json& each : *kernels) {
      if (!each.is_object()) return damaged_metadata("a kernel's metadata is no map");
      std::string symbol = text_of(each, ".symbol");
      if (symbol.ends_with(".kd")) symbol.resize(symbol.size() - 3);
      object_.kernels.push_back(kernel_from(each));
      // A runtime finds a kernel by its symbol; `.name` is for people where the two differ.
      if (!symbol.empty()) object_.kernels.back().name = symbol;
    }
    return {};
  }

  /// Kernels that have a descriptor and no metadata: written by hand, or stripped.
  Result<void> add_undescribed(const std::vector<ElfSymbol>& symbols) {
    std::map<std::string_view, bool> known;
    for (const KernelFacts& kernel : object_.kernels) known[kernel.name] = true;
    std::vector<KernelFacts> more;
    for (const ElfSymbol& symbol : symbols) {
      if (!symbol.name.ends_with(".kd") || symbol.entry.st_size != sizeof(KernelDescriptor)) continue;
      std::string_view name = symbol.name.substr(0, symbol.name.size() - 3);
      if (!known.emplace(name, true).second) continue;
      more.emplace_back().name = name;
    }
    object_.kernels.insert(object_.kernels.end(), std::make_move_iterator(more.begin()),
                           std::make_move_iterator(more.end()));
    return {};
  }

  void complete(KernelFacts& kernel) {
    if (auto code = by_name_.find(kernel.name); code != by_name_.end())
      kernel.code_bytes = static_cast<std::int64_t>(code->second->entry.st_size);
    auto symbol = by_name_.find(kernel.name + ".kd");
    KernelDescriptor descriptor;
    if (symbol != by_name_.end() &&
        read_value(elf_.at_address(symbol->second->entry.st_value, sizeof(KernelDescriptor)), 0, descriptor))
      compare(kernel, descriptor);
    if (kernel.registers && kernel.agprs && !kernel.vgprs)
      kernel.vgprs = std::max<std::int64_t>(0, *kernel.registers - *kernel.agprs);
  }

  /// The hardware goes by the descriptor. What the metadata counts is kept where it rounds to what is
  /// allocated.
  void compare(KernelFacts& kernel, const KernelDescriptor& descriptor) {
    auto settle = [&](const char* what, std::optional<std::int64_t>& known, std::int64_t real) {
      if (known && *known != real)
        kernel.disagreements.push_back(
            fmt::format("{} is {} in the metadata, {} in the descriptor", what, *known, real));
      known = real;
    };
    settle("LDS size", kernel.lds_bytes, descriptor.lds);
    settle("scratch size", kernel.scratch_bytes, descriptor.scratch);
    if (descriptor.kernarg != 0 || !kernel.kernarg_bytes)
      settle("kernarg size", kernel.kernarg_bytes, descriptor.kernarg);
    if (!has_unified_registers(object_.target)) return;
    std::int64_t allocated = allocated_registers(descriptor);
    std::int64_t first_accumulator =
        (static_cast<std::int64_t>(descriptor.rsrc3 & 0x3F) + 1) * 4;  // ACCUM_OFFSET
    std::int64_t counted = kernel.registers.value_or(allocated);
    if (std::max<std::int64_t>(8, (counted + 7) / 8 * 8) != allocated)
      kernel.disagreements.push_back(
          fmt::format("vector registers are {} in the metadata, {} in the descriptor", counted, allocated));
    kernel.registers = allocated;
    kernel.vgprs = std::min(first_accumulator, allocated);
    if (!kernel.agprs) kernel.agprs = std::max<std::int64_t>(0, allocated - first_accumulator);
  }

  const ElfFile& elf_;
  std::map<std::string, const ElfSymbol*, std::less<>> by_name_;
  CodeObject object_;
};

}  // namespace

std::string_view amdgpu_processor(std::uint32_t flags) {
  switch (flags & 0xFF) {  // EF_AMDGPU_MACH
    case 0x2C:
      return "gfx900";
    case 0x2F:
      return "gfx906";
    case 0x30:
      return "gfx908";
    case 0x3F:
      return "gfx90a";
    case 0x40:
      return "gfx940";
    case 0x4B:
      return "gfx941";
    case 0x4C:
      return "gfx942";
    case 0x4F:
      return "gfx950";
    case 0x36:
      return "gfx1030";
    case 0x41:
      return "gfx1100";
    case 0x49:
      return "gfx1250";
    default:
      return "";
  }
}

Result<CodeObject> read_amdgpu(const ElfFile& elf) { return Reader(elf).read(); }

}  // namespace ako
