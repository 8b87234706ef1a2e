// Lays an object out: file header, contents of all sections, section table. See attack_object.h.
#include "selftest/attack_object.h"

#include <cstring>

namespace kw {
namespace {

template <class T>
void append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Zero-terminated names behind an empty first one.
class NameTable {
 public:
  uint32_t add(const std::string& name) {
    const auto at = static_cast<uint32_t>(bytes_.size());
    bytes_ += name + '\0';
    return at;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_ = std::string(1, '\0');
};

// Section headers with their contents placed behind the file header.
class SectionWriter {
 public:
  SectionWriter() : bytes_(sizeof(Elf64_Ehdr), '\0'), headers_(1) {}
  Elf64_Shdr& add(const std::string& name, uint32_t type, const std::string& content,
                  uint64_t entry_bytes = 0) {
    Elf64_Shdr header{};
    header.sh_name = names_.add(name);
    header.sh_type = type;
    header.sh_offset = bytes_.size();
    header.sh_size = content.size();
    header.sh_addralign = 1;
    header.sh_entsize = entry_bytes;
    bytes_ += content;
    return headers_.emplace_back(header);
  }
  size_t count() const { return headers_.size(); }

  std::string finish(const ObjectParts& parts) {
    Elf64_Shdr& names = add(".shstrtab", SHT_STRTAB, "");
    names.sh_size = names_.bytes().size();
    bytes_ += names_.bytes();
    Elf64_Ehdr file{};
    std::memcpy(file.e_ident, ELFMAG, SELFMAG);
    file.e_ident[EI_CLASS] = parts.bits;
    file.e_ident[EI_DATA] = ELFDATA2LSB;
    file.e_ident[EI_VERSION] = EV_CURRENT;
    file.e_type = parts.file_type;
    file.e_machine = parts.machine;
    file.e_version = EV_CURRENT;
    file.e_shoff = bytes_.size();
    file.e_ehsize = sizeof file;
    file.e_shentsize = sizeof(Elf64_Shdr);
    file.e_shnum = static_cast<uint16_t>(headers_.size());
    file.e_shstrndx = static_cast<uint16_t>(headers_.size() - 1);
    std::memcpy(bytes_.data(), &file, sizeof file);
    for (const Elf64_Shdr& header : headers_) append(bytes_, header);
    return std::move(bytes_);
  }

 private:
  std::string bytes_;
  std::vector<Elf64_Shdr> headers_;
  NameTable names_;
};

}  // namespace

ObjectParts make_plain_parts(std::string code) {
  ObjectParts parts;
  parts.sections = {{".text", SHF_ALLOC | SHF_EXECINSTR, std::move(code)}};
  parts.symbols = {{"gemm"}};
  return parts;
}

std::string write_object(const ObjectParts& parts) {
  SectionWriter writer;
  for (const ObjectSection& section : parts.sections) {
    Elf64_Shdr& header = writer.add(section.name, section.type, section.content);
    header.sh_flags = section.flags;
    header.sh_addralign = section.alignment;
    if (section.size_bytes) header.sh_size = *section.size_bytes;
  }
  NameTable names;
  std::string symbols(sizeof(Elf64_Sym), '\0'), relocations;
  for (const ObjectSymbol& symbol : parts.symbols) {
    Elf64_Sym raw{};
    raw.st_name = names.add(symbol.name);
    raw.st_info = static_cast<unsigned char>(ELF64_ST_INFO(symbol.binding, symbol.type));
    raw.st_shndx = symbol.section;
    raw.st_value = symbol.value;
    append(symbols, raw);
  }
  for (const ObjectRelocation& relocation : parts.relocations)
    append(relocations, Elf64_Rela{relocation.offset, ELF64_R_INFO(relocation.symbol, relocation.type),
                                   relocation.addend});
  writer.add(".strtab", SHT_STRTAB, names.bytes());
  const auto name_table = static_cast<uint32_t>(writer.count() - 1);
  for (int i = 0; i < parts.symbol_tables; ++i)
    writer.add(".symtab", SHT_SYMTAB, symbols, sizeof(Elf64_Sym)).sh_link = name_table;
  if (!relocations.empty())
    writer.add(".rela.text", parts.relocation_type, relocations, sizeof(Elf64_Rela)).sh_info =
        parts.relocated_section;
  return writer.finish(parts);
}

}  // namespace kw
