// Hand-made objects: an ELF64 relocatable file from its parts, each of which may be as odd as one likes. In:
// parts. Out: bytes. Used by attack_objects.cc; checks nothing.
#pragma once

#include <elf.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kw {

struct ObjectSection {
  std::string name;
  uint64_t flags = SHF_ALLOC;
  std::string content;
  uint32_t type = SHT_PROGBITS;
  uint64_t alignment = 1;
  std::optional<uint64_t> size_bytes;  // where it is not the content's
};

struct ObjectSymbol {
  std::string name;
  uint16_t section = 1;  // index from 1 into ObjectParts::sections, or SHN_...
  uint8_t type = STT_FUNC, binding = STB_GLOBAL;
  uint64_t value = 0;
};

struct ObjectRelocation {
  uint64_t offset = 0;  // in the first section
  uint32_t type = R_X86_64_PC32;
  uint64_t symbol = 1;  // index from 1 into ObjectParts::symbols
  int64_t addend = 0;
};

struct ObjectParts {
  uint16_t file_type = ET_REL, machine = EM_X86_64;
  unsigned char bits = ELFCLASS64;
  std::vector<ObjectSection> sections;
  std::vector<ObjectSymbol> symbols;
  std::vector<ObjectRelocation> relocations;
  uint32_t relocation_type = SHT_RELA;
  uint16_t relocated_section = 1;
  int symbol_tables = 1;
};

// One section .text with `code`, and a function "gemm" at its start. Without code: one that returns at once.
[[nodiscard]] ObjectParts make_plain_parts(std::string code = "\xc3");

[[nodiscard]] std::string write_object(const ObjectParts& parts);

}  // namespace kw
