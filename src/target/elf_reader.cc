// Headers and tables of an ELF file, each checked against the file's length before it is read.
#include "target/elf_reader.h"

namespace kw {
namespace {

constexpr size_t kMaxNameBytes = 4096;  // names of a large table may overlap, so each one is bounded

}  // namespace

std::string ElfReader::load_sections(uint16_t machine, uint16_t type) {
  const auto header = read<Elf64_Ehdr>(0);
  if (!header) return "shorter than an ELF header";
  if (std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return "not an ELF file";
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
    return "not 64-bit little-endian";
  if (header->e_machine != machine) return machine == EM_X86_64 ? "not for x86-64" : "for another machine";
  if (header->e_type != type) return type == ET_REL ? "not a relocatable object" : "not linked";
  if (header->e_shentsize != sizeof(Elf64_Shdr)) return "odd section header size";
  if (header->e_shnum == 0) return "no sections";
  for (uint64_t i = 0; i < header->e_shnum; ++i) {
    if (header->e_shoff > file_.size()) return "section table outside the file";
    const auto section = read<Elf64_Shdr>(header->e_shoff + i * sizeof(Elf64_Shdr));
    if (!section) return "section table outside the file";
    sections_.push_back(*section);
  }
  name_table_ = header->e_shstrndx;
  return {};
}

std::optional<std::string_view> ElfReader::contents(const Elf64_Shdr& section) const {
  if (section.sh_type == SHT_NOBITS) return std::string_view();
  if (section.sh_offset > file_.size() || file_.size() - section.sh_offset < section.sh_size)
    return std::nullopt;
  return file_.substr(section.sh_offset, section.sh_size);
}

std::optional<std::string> ElfReader::text(uint64_t table_index, uint64_t offset) const {
  if (table_index >= sections_.size() || sections_[table_index].sh_type != SHT_STRTAB) return std::nullopt;
  const auto table = contents(sections_[table_index]);
  if (!table || offset >= table->size()) return std::nullopt;
  const std::string_view start = table->substr(offset, kMaxNameBytes + 1);
  const size_t end = start.find('\0');
  if (end == std::string_view::npos) return std::nullopt;
  return std::string(start.substr(0, end));
}

}  // namespace kw
