// SPDX-License-Identifier: Apache-2.0
#include "toolchain/host/elf_symbols.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/files.h"

namespace ako {
namespace {

std::unexpected<Error> damaged(std::string_view what) {
  return fail(ErrorKind::corrupt, "the shared object is damaged: " + std::string(what), "compile it again");
}

class ElfFile {
 public:
  explicit ElfFile(std::string_view bytes) : bytes_(bytes) {}

  Result<ElfSymbols> read() {
    Elf64_Ehdr header;
    if (!get(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
      return fail(ErrorKind::invalid_input, "it is no 64-bit little-endian ELF file");
    for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
      Elf64_Shdr section;
      if (!get_entry(header.e_shoff, i, section)) return damaged("its section table lies outside of it");
      sections_.push_back(section);
    }
    for (const Elf64_Shdr& section : sections_) AKO_CHECK(read_section(section));
    return std::move(symbols_);
  }

 private:
  template <class T>
  bool get(std::uint64_t offset, T& out) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return false;
    std::memcpy(&out, bytes_.data() + offset, sizeof(T));
    return true;
  }
  template <class T>
  bool get_entry(std::uint64_t table, std::uint64_t index, T& out) const {
    std::uint64_t offset = 0;
    return !__builtin_mul_overflow(index, sizeof(T), &offset) &&
           !__builtin_add_overflow(table, offset, &offset) && get(offset, out);
  }

  /// A text of the string table that `section` links to.
  std::optional<std::string> text(const Elf64_Shdr& section, std::uint64_t offset) const {
    if (section.sh_link >= sections_.size()) return std::nullopt;
    const Elf64_Shdr& table = sections_[section.sh_link];
    if (table.sh_offset > bytes_.size() || table.sh_size > bytes_.size() - table.sh_offset)
      return std::nullopt;
    std::string_view strings = bytes_.substr(table.sh_offset, table.sh_size);
    if (offset >= strings.size()) return std::nullopt;
    std::size_t end = strings.find('\0', offset);
    if (end == std::string_view::npos) return std::nullopt;
    return std::string(strings.substr(offset, end - offset));
  }

  Result<void> read_section(const Elf64_Shdr& section) {
    if (section.sh_flags & SHF_EXECINSTR && section.sh_size <= bytes_.size())
      symbols_.code_bytes += static_cast<std::int64_t>(section.sh_size);
    if (section.sh_type == SHT_DYNSYM || section.sh_type == SHT_SYMTAB) return read_symbols(section);
    if (section.sh_type == SHT_DYNAMIC) return read_dynamic(section);
    return {};
  }

  Result<void> read_symbols(const Elf64_Shdr& section) {
    for (std::uint64_t i = 1; i < section.sh_size / sizeof(Elf64_Sym); ++i) {
      Elf64_Sym symbol;
      if (!get_entry(section.sh_offset, i, symbol)) return damaged("a symbol table lies outside of it");
      auto name = text(section, symbol.st_name);
      if (!name) return damaged("the name of a symbol lies outside of it");
      // Symbols may share names: without a bound, a small file could make very many long ones.
      if ((name_bytes_ += name->size()) > 4 * bytes_.size()) return damaged("it has too many long symbols");
      name->resize(std::min(name->find('@'), name->size()));
      if (name->empty()) continue;
      bool visible =
          ELF64_ST_VISIBILITY(symbol.st_other) == STV_DEFAULT && ELF64_ST_BIND(symbol.st_info) != STB_LOCAL;
      if (symbol.st_shndx == SHN_UNDEF) {
        if (section.sh_type == SHT_DYNSYM) symbols_.imported.insert(std::move(*name));
        continue;
      }
      if (section.sh_type == SHT_DYNSYM && visible) symbols_.exported.insert(*name);
      symbols_.defined.insert(std::move(*name));
    }
    return {};
  }

  Result<void> read_dynamic(const Elf64_Shdr& section) {
    for (std::uint64_t i = 0; i < section.sh_size / sizeof(Elf64_Dyn); ++i) {
      Elf64_Dyn entry;
      if (!get_entry(section.sh_offset, i, entry)) return damaged("its dynamic section lies outside of it");
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag != DT_NEEDED) continue;
      auto name = text(section, entry.d_un.d_val);
      if (!name) return damaged("the name of a library lies outside of it");
      symbols_.needed.push_back(std::move(*name));
    }
    return {};
  }

  std::string_view bytes_;
  std::vector<Elf64_Shdr> sections_;
  ElfSymbols symbols_;
  std::uint64_t name_bytes_ = 0;
};

}  // namespace

Result<ElfSymbols> elf_symbols(std::string_view file) { return ElfFile(file).read(); }

Result<std::set<std::string>> imported_symbols(const std::filesystem::path& path) {
  AKO_TRY(std::string file, read_file(path));
  AKO_TRY(ElfSymbols symbols, elf_symbols(file));
  return std::move(symbols.imported);
}

}  // namespace ako
