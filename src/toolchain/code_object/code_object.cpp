// SPDX-License-Identifier: Apache-2.0
#include "toolchain/code_object/code_object.h"

#include <fmt/format.h>

#include <algorithm>

#include "toolchain/code_object/amdgpu.h"
#include "toolchain/code_object/cubin.h"
#include "toolchain/code_object/elf_file.h"

namespace ako {
namespace {

constexpr std::string_view bundle_magic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view compressed_magic = "CCOB";

std::unexpected<Error> damaged_bundle() {
  return fail(ErrorKind::corrupt, "the offload bundle is damaged: a member lies outside of it",
              "compile it again");
}

/// Clang Offload Bundler, "Bundled Binary File Layout": magic, count, then offset, size and name of each
/// member. Returns where the bundle ends.
Result<std::size_t> read_bundle(std::string_view bytes, std::vector<CodeObjectMember>& out) {
  std::uint64_t count = 0, at = bundle_magic.size(), end = 0;
  if (!read_value(bytes, at, count)) return damaged_bundle();
  at += sizeof(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t entry[3];  // offset, size, length of the name
    if (!read_value(bytes, at, entry)) return damaged_bundle();
    at += sizeof(entry);
    if (entry[2] > bytes.size() - at || entry[0] > bytes.size() || entry[1] > bytes.size() - entry[0])
      return damaged_bundle();
    if (entry[1] > 0)
      out.push_back({std::string(bytes.substr(at, entry[2])), bytes.substr(entry[0], entry[1])});
    at += entry[2];
    end = std::max(end, entry[0] + entry[1]);
  }
  return std::max<std::size_t>(end, at);
}

/// One bundle after another, as a linker leaves them: each begins on a boundary of its own.
Result<std::vector<CodeObjectMember>> read_bundles(std::string_view bytes) {
  std::vector<CodeObjectMember> members;
  for (std::size_t at = bytes.find(bundle_magic); at != std::string_view::npos;
       at = bytes.find(bundle_magic)) {
    bytes.remove_prefix(at);
    AKO_TRY(std::size_t end, read_bundle(bytes, members));
    bytes.remove_prefix(std::min(end, bytes.size()));
  }
  // A bundle's first member is the host's, and usually empty.
  std::erase_if(members, [](const CodeObjectMember& member) { return member.id.starts_with("host-"); });
  return members;
}

void take_largest(std::map<std::string, std::int64_t>& values, const char* name,
                  std::optional<std::int64_t> value) {
  if (!value) return;
  auto [at, fresh] = values.emplace(name, *value);
  if (!fresh) at->second = std::max(at->second, *value);
}

void take_least(std::map<std::string, std::int64_t>& values, const char* name, std::int64_t value) {
  auto [at, fresh] = values.emplace(name, value);
  if (!fresh) at->second = std::min(at->second, value);
}

}  // namespace

BlockNeeds KernelFacts::needs(std::optional<std::int64_t> threads, std::int64_t dynamic_lds) const {
  return {threads.value_or(max_threads.value_or(wave_size.value_or(1))), registers.value_or(0),
          sgprs.value_or(0), lds_bytes.value_or(0) + dynamic_lds};
}

const KernelFacts* CodeObject::find(std::string_view kernel) const {
  auto found = std::find_if(kernels.begin(), kernels.end(),
                            [&](const KernelFacts& each) { return each.name == kernel; });
  return found == kernels.end() ? nullptr : &*found;
}

Result<std::vector<CodeObjectMember>> code_object_members(std::string_view file) {
  if (file.starts_with(bundle_magic)) return read_bundles(file);
  if (file.starts_with(compressed_magic))
    return fail(ErrorKind::unsupported, "it is a compressed offload bundle",
                "unpack it: clang-offload-bundler --unbundle --type=o --input=FILE --targets=… --output=…; "
                "or compile "
                "with --no-offload-compress");
  if (!ElfFile::is_elf(file))
    return fail(ErrorKind::invalid_input, "it is no code object: neither an ELF file nor an offload bundle",
                "give a .hsaco, .co or .cubin file, an offload bundle, or a host program that holds one");
  AKO_TRY(ElfFile elf, ElfFile::read(file));
  if (const ElfSection* section = elf.section(".hip_fatbin"); section && section->content)
    return read_bundles(*section->content);
  return std::vector<CodeObjectMember>{{"", file}};
}

Result<CodeObject> read_code_object(std::string_view bytes) {
  AKO_TRY(ElfFile elf, ElfFile::read(bytes));
  if (elf.header().e_machine == EM_AMDGPU) return read_amdgpu(elf);
  if (elf.header().e_machine == EM_CUDA) return read_cubin(elf);
  return fail(
      ErrorKind::invalid_input,
      fmt::format("it is an ELF file for machine {}, not for an AMD or NVIDIA GPU", elf.header().e_machine),
      "give a .hsaco, .co or .cubin file, an offload bundle, or a host program that holds one");
}

ResourceUse resource_use(const CodeObject& object, const std::vector<std::string>& kernels) {
  ResourceUse use;
  for (const std::string& name : kernels) {
    const KernelFacts* kernel = object.find(name);
    if (!kernel) continue;
    take_largest(use.values, "registers", kernel->registers);
    take_largest(use.values, "vgprs", kernel->vgprs);
    take_largest(use.values, "agprs", kernel->agprs);
    take_largest(use.values, "sgprs", kernel->sgprs);
    if (kernel->vgpr_spills || kernel->sgpr_spills)
      take_largest(use.values, "spills", kernel->vgpr_spills.value_or(0) + kernel->sgpr_spills.value_or(0));
    take_largest(use.values, "scratch_bytes", kernel->scratch_bytes);
    take_largest(use.values, "lds_bytes", kernel->lds_bytes);
    take_largest(use.values, "max_threads", kernel->max_threads);
    use.values["code_bytes"] += kernel->code_bytes;
    if (auto occupied = occupancy(object.target, kernel->needs())) {
      take_least(use.values, "waves_per_simd", occupied->waves_per_simd);
      take_least(use.values, "blocks_per_cu", occupied->blocks_per_unit);
    }
  }
  return use;
}

}  // namespace ako
