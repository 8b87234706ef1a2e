// ElfReader: bounds-checked access to headers, section bytes, symbols and names of an untrusted ELF64 file.
// In: bytes. Out: copies of its structures, or nothing where they would lie outside. Used by cpu/object.cc
// and cuda/cubin.cc.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

class ElfReader {
 public:
  explicit ElfReader(std::string_view file) : file_(file) {}

  // A copy of the structure at an offset; empty when it does not fit into the file.
  template <class T>
  std::optional<T> read(uint64_t offset) const {
    if (offset > file_.size() || file_.size() - offset < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, file_.data() + offset, sizeof(T));
    return value;
  }

  // Checks the file header (machine and type as given: EM_X86_64 and ET_REL, say) and reads the section
  // table; what is wrong, or empty.
  [[nodiscard]] std::string load_sections(uint16_t machine, uint16_t type);
  const std::vector<Elf64_Shdr>& sections() const { return sections_; }

  // Bytes of a section that has bytes; empty option when they lie outside the file.
  std::optional<std::string_view> contents(const Elf64_Shdr& section) const;

  // Zero-terminated text of at most 4,096 bytes at an offset of a string table section.
  std::optional<std::string> text(uint64_t table_index, uint64_t offset) const;
  std::optional<std::string> section_name(const Elf64_Shdr& section) const {
    return text(name_table_, section.sh_name);
  }

 private:
  std::string_view file_;
  std::vector<Elf64_Shdr> sections_;
  uint64_t name_table_ = 0;
};

}  // namespace kw
