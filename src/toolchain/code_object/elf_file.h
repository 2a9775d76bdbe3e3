// SPDX-License-Identifier: Apache-2.0
// Little-endian 64-bit ELF files (ELF-64 Object File Format 1.5): the headers, sections, symbols and notes of
// shared objects and of GPUs' code objects. They come out of compile guests or from anywhere: every offset is
// checked against the file's size, and the work that names cost is bounded.
#pragma once

#include <elf.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace ako {

struct ElfSection {
  std::string_view name;
  Elf64_Shdr header;
  /// Empty for sections without content (SHT_NOBITS), nullopt when it lies outside of the file.
  std::optional<std::string_view> content;
};

struct ElfSymbol {
  std::string_view name;
  Elf64_Sym entry;
  unsigned char type() const { return ELF64_ST_TYPE(entry.st_info); }
  bool defined() const { return entry.st_shndx != SHN_UNDEF; }
};

struct ElfNote {
  std::string_view owner;
  std::uint32_t type = 0;
  std::string_view content;
};

/// A view: the bytes must outlive it and everything it returns.
class ElfFile {
 public:
  /// Errors: not such a file (invalid_input), or a damaged one (corrupt).
  static Result<ElfFile> read(std::string_view bytes);
  static bool is_elf(std::string_view bytes);

  const Elf64_Ehdr& header() const { return header_; }
  const std::vector<ElfSection>& sections() const { return sections_; }
  const ElfSection* section(std::string_view name) const;
  /// Of a symbol table; the first entry, which is no symbol, is there too so that indexes fit.
  Result<std::vector<ElfSymbol>> symbols(const ElfSection& table) const;
  /// Of the static symbol table, else the dynamic one; none when there is neither.
  Result<std::vector<ElfSymbol>> symbols() const;
  /// A text of the string table that `section` links to.
  std::optional<std::string_view> text(const ElfSection& section, std::uint64_t offset) const;
  /// Of note sections; of note segments when there are no sections.
  Result<std::vector<ElfNote>> notes() const;
  /// What is loaded at an address of the object's memory; empty when no section or segment holds all of it.
  std::string_view at_address(std::uint64_t address, std::uint64_t size) const;

 private:
  explicit ElfFile(std::string_view bytes) : bytes_(bytes) {}
  Result<void> read_tables();
  std::optional<std::string_view> slice(std::uint64_t offset, std::uint64_t size) const;

  std::string_view bytes_;
  Elf64_Ehdr header_{};
  std::vector<ElfSection> sections_;
  std::vector<Elf64_Phdr> segments_;
};

/// The T at `offset` of `bytes`, of any alignment.
template <class T>
bool read_value(std::string_view bytes, std::uint64_t offset, T& out) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return false;
  __builtin_memcpy(&out, bytes.data() + offset, sizeof(T));
  return true;
}

}  // namespace ako
