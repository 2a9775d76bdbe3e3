// SPDX-License-Identifier: Apache-2.0
#include "toolchain/host/elf_symbols.h"

#include "base/files.h"
#include "toolchain/code_object/elf_file.h"

namespace ako {
namespace {

std::unexpected<Error> damaged(std::string_view what) {
  return fail(ErrorKind::corrupt, "the shared object is damaged: " + std::string(what), "compile it again");
}

class SymbolReader {
 public:
  explicit SymbolReader(const ElfFile& file) : file_(file) {}

  Result<ElfSymbols> read() {
    for (const ElfSection& section : file_.sections()) AKO_CHECK(read_section(section));
    return std::move(symbols_);
  }

 private:
  Result<void> read_section(const ElfSection& section) {
    if (section.header.sh_flags & SHF_EXECINSTR && section.content)
      symbols_.code_bytes += static_cast<std::int64_t>(section.header.sh_size);
    if (section.header.sh_type == SHT_DYNSYM || section.header.sh_type == SHT_SYMTAB)
      return read_symbols(section);
    if (section.header.sh_type == SHT_DYNAMIC) return read_dynamic(section);
    return {};
  }

  Result<void> read_symbols(const ElfSection& section) {
    bool dynamic = section.header.sh_type == SHT_DYNSYM;
    AKO_TRY(auto all, file_.symbols(section));
    for (const ElfSymbol& symbol : all) {
      std::string name(symbol.name.substr(0, symbol.name.find('@')));
      if (name.empty()) continue;
      if (!symbol.defined()) {
        if (dynamic) symbols_.imported.insert(std::move(name));
        continue;
      }
      bool visible = ELF64_ST_VISIBILITY(symbol.entry.st_other) == STV_DEFAULT &&
                     ELF64_ST_BIND(symbol.entry.st_info) != STB_LOCAL;
      if (dynamic && visible) symbols_.exported.insert(name);
      symbols_.defined.insert(std::move(name));
    }
    return {};
  }

  Result<void> read_dynamic(const ElfSection& section) {
    if (!section.content) return damaged("its dynamic section lies outside of it");
    Elf64_Dyn entry;
    for (std::uint64_t at = 0; read_value(*section.content, at, entry); at += sizeof(entry)) {
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag != DT_NEEDED) continue;
      auto name = file_.text(section, entry.d_un.d_val);
      if (!name) return damaged("the name of a library lies outside of it");
      symbols_.needed.emplace_back(*name);
    }
    return {};
  }

  const ElfFile& file_;
  ElfSymbols symbols_;
};

}  // namespace

Result<ElfSymbols> elf_symbols(std::string_view file) {
  AKO_TRY(ElfFile elf, ElfFile::read(file));
  return SymbolReader(elf).read();
}

Result<std::set<std::string>> imported_symbols(const std::filesystem::path& path) {
  AKO_TRY(std::string file, read_file(path));
  AKO_TRY(ElfSymbols symbols, elf_symbols(file));
  return std::move(symbols.imported);
}

}  // namespace ako
