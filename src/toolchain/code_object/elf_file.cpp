// SPDX-License-Identifier: Apache-2.0
#include "toolchain/code_object/elf_file.h"

#include <algorithm>
#include <cstring>

namespace ako {
namespace {

std::unexpected<Error> damaged_elf(std::string_view what) {
  return fail(ErrorKind::corrupt, "the object file is damaged: " + std::string(what), "compile it again");
}

/// The text at `offset`. Names of templates are long; this is beyond any of them.
std::optional<std::string_view> text_at(std::string_view strings, std::uint64_t offset) {
  constexpr std::size_t longest = 1 << 16;
  if (offset >= strings.size()) return std::nullopt;
  std::string_view rest = strings.substr(offset, longest);
  std::size_t end = rest.find('\0');
  if (end == std::string_view::npos) return std::nullopt;
  return rest.substr(0, end);
}

/// Notes of one section or segment: three 32-bit words, then owner and content, each padded to four bytes.
Result<void> read_notes(std::string_view bytes, std::vector<ElfNote>& out) {
  for (std::uint64_t at = 0; at < bytes.size();) {
    Elf64_Nhdr header;
    if (!read_value(bytes, at, header)) return damaged_elf("a note ends early");
    at += sizeof(header);
    auto padded = [](std::uint64_t size) { return (size + 3) / 4 * 4; };
    std::uint64_t content = at + padded(header.n_namesz);
    if (header.n_namesz > bytes.size() - at || content > bytes.size() ||
        header.n_descsz > bytes.size() - content)
      return damaged_elf("a note lies outside of it");
    std::string_view owner = bytes.substr(at, header.n_namesz);
    out.push_back({owner.substr(0, owner.find('\0')), header.n_type, bytes.substr(content, header.n_descsz)});
    at = content + padded(header.n_descsz);
  }
  return {};
}

}  // namespace

bool ElfFile::is_elf(std::string_view bytes) { return bytes.starts_with(std::string_view(ELFMAG, SELFMAG)); }

Result<ElfFile> ElfFile::read(std::string_view bytes) {
  ElfFile file(bytes);
  if (!is_elf(bytes) || !read_value(bytes, 0, file.header_) || file.header_.e_ident[EI_CLASS] != ELFCLASS64 ||
      file.header_.e_ident[EI_DATA] != ELFDATA2LSB)
    return fail(ErrorKind::invalid_input, "it is no 64-bit little-endian ELF file");
  AKO_CHECK(file.read_tables());
  return file;
}

std::optional<std::string_view> ElfFile::slice(std::uint64_t offset, std::uint64_t size) const {
  if (offset > bytes_.size() || size > bytes_.size() - offset) return std::nullopt;
  return bytes_.substr(offset, size);
}

Result<void> ElfFile::read_tables() {
  if (header_.e_shnum > 0) {
    auto table = slice(header_.e_shoff, std::uint64_t{header_.e_shnum} * sizeof(Elf64_Shdr));
    if (!table) return damaged_elf("its section table lies outside of it");
    sections_.resize(header_.e_shnum);
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      ElfSection& section = sections_[i];
      read_value(*table, i * sizeof(Elf64_Shdr), section.header);
      section.content = section.header.sh_type == SHT_NOBITS
                            ? std::string_view()
                            : slice(section.header.sh_offset, section.header.sh_size);
    }
    if (header_.e_shstrndx < sections_.size())
      if (auto names = sections_[header_.e_shstrndx].content)
        for (ElfSection& section : sections_)
          section.name = text_at(*names, section.header.sh_name).value_or("");
  }
  if (header_.e_phnum > 0) {
    auto table = slice(header_.e_phoff, std::uint64_t{header_.e_phnum} * sizeof(Elf64_Phdr));
    if (!table) return damaged_elf("its segment table lies outside of it");
    segments_.resize(header_.e_phnum);
    std::memcpy(segments_.data(), table->data(), table->size());
  }
  return {};
}

const ElfSection* ElfFile::section(std::string_view name) const {
  auto found = std::find_if(sections_.begin(), sections_.end(),
                            [&](const ElfSection& each) { return each.name == name; });
  return found == sections_.end() ? nullptr : &*found;
}

std::optional<std::string_view> ElfFile::text(const ElfSection& section, std::uint64_t offset) const {
  if (section.header.sh_link >= sections_.size()) return std::nullopt;
  auto strings = sections_[section.header.sh_link].content;
  return strings ? text_at(*strings, offset) : std::nullopt;
}

Result<std::vector<ElfSymbol>> ElfFile::symbols(const ElfSection& table) const {
  if (!table.content) return damaged_elf("a symbol table lies outside of it");
  std::vector<ElfSymbol> all(table.content->size() / sizeof(Elf64_Sym));
  std::uint64_t name_bytes = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    read_value(*table.content, i * sizeof(Elf64_Sym), all[i].entry);
    if (i == 0) continue;
    auto name = text(table, all[i].entry.st_name);
    if (!name) return damaged_elf("the name of a symbol lies outside of it");
    // Symbols may share names: without a bound, a small file could make very many long ones.
    if ((name_bytes += name->size()) > 4 * bytes_.size()) return damaged_elf("it has too many long symbols");
    all[i].name = *name;
  }
  return all;
}

Result<std::vector<ElfSymbol>> ElfFile::symbols() const {
  for (auto type : {SHT_SYMTAB, SHT_DYNSYM})
    for (const ElfSection& section : sections_)
      if (section.header.sh_type == static_cast<Elf64_Word>(type)) return symbols(section);
  return std::vector<ElfSymbol>();
}

Result<std::vector<ElfNote>> ElfFile::notes() const {
  std::vector<ElfNote> all;
  for (const ElfSection& section : sections_) {
    if (section.header.sh_type != SHT_NOTE) continue;
    if (!section.content) return damaged_elf("a note section lies outside of it");
    AKO_CHECK(read_notes(*section.content, all));
  }
  if (!all.empty()) return all;
  for (const Elf64_Phdr& segment : segments_) {
    if (segment.p_type != PT_NOTE) continue;
    auto content = slice(segment.p_offset, segment.p_filesz);
    if (!content) return damaged_elf("a note segment lies outside of it");
    AKO_CHECK(read_notes(*content, all));
  }
  return all;
}

std::string_view ElfFile::at_address(std::uint64_t address, std::uint64_t size) const {
  auto within = [&](std::uint64_t start, std::string_view content) {
    if (address < start || address - start > content.size() || size > content.size() - (address - start))
      return std::string_view();
    return content.substr(address - start, size);
  };
  for (const ElfSection& section : sections_)
    if (section.header.sh_flags & SHF_ALLOC && section.content)
      if (auto found = within(section.header.sh_addr, *section.content); !found.empty()) return found;
  for (const Elf64_Phdr& segment : segments_)
    if (segment.p_type == PT_LOAD)
      if (auto content = slice(segment.p_offset, segment.p_filesz))
        if (auto found = within(segment.p_vaddr, *content); !found.empty()) return found;
  return {};
}

}  // namespace ako
