// Attacks by hand-made objects, as a compiler would never write them: each is a change of one plain kernel's
// parts, and the loader's refusal.
#include "base/random.h"
#include "selftest/attack.h"
#include "selftest/attack_object.h"

namespace kw {
namespace {

using Change = std::function<void(ObjectParts&)>;

Attack make_object_attack(std::string name, const std::string& expected, const std::string& says,
                          const Change& change) {
  return {std::move(name), expected, "loader", says, [change](AttackBench& bench) {
            ObjectParts parts = make_plain_parts();
            change(parts);
            return bench.judge_object(write_object(parts));
          }};
}

Attack make_section_attack(std::string name, const std::string& reason, const ObjectSection& section) {
  return make_object_attack(std::move(name), "illegal/" + reason, "section " + section.name,
                            [section](ObjectParts& parts) { parts.sections.push_back(section); });
}

Attack make_symbol_attack(std::string name, const std::string& expected, const std::string& says,
                          const ObjectSymbol& symbol) {
  return make_object_attack(std::move(name), expected, says,
                            [symbol](ObjectParts& parts) { parts.symbols.push_back(symbol); });
}

Attack make_relocation_attack(std::string name, const std::string& expected, const std::string& says,
                              const ObjectRelocation& relocation) {
  return make_object_attack(std::move(name), expected, says, [relocation](ObjectParts& parts) {
    parts.sections[0].content = std::string(16, '\xc3');
    parts.relocations = {relocation};
  });
}

// The plain object's bytes, changed.
Attack make_bytes_attack(std::string name, const std::string& says,
                         const std::function<std::string(std::string)>& change) {
  return {std::move(name), "illegal/object_format", "loader", says, [change](AttackBench& bench) {
            return bench.judge_object(change(write_object(make_plain_parts())));
          }};
}

std::string draw_bytes(size_t count) {
  Random random(make_secret_seed());
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random.next());
  return bytes;
}

std::vector<Attack> list_section_attacks() {
  constexpr uint64_t kWritable = SHF_ALLOC | SHF_WRITE, kCode = SHF_ALLOC | SHF_EXECINSTR;
  const std::string word(8, '\1');
  return {
      make_section_attack("writable_data", "writable_static_data", {".data", kWritable, word}),
      make_section_attack("zeroed_data", "writable_static_data",
                          {".bss", kWritable, "", SHT_NOBITS, 8, 4096}),
      make_section_attack("writable_constants", "writable_static_data", {".rodata", kWritable, word}),
      make_section_attack("writable_code", "writable_static_data", {".text.hot", kCode | SHF_WRITE, "\xc3"}),
      make_section_attack("code_in_constants_after_linking", "unknown_section",
                          {".data.rel.ro", kWritable | SHF_EXECINSTR, "\xc3"}),
      make_section_attack("thread_local_data", "writable_static_data", {".tdata", kWritable | SHF_TLS, word}),
      make_section_attack("initialiser_by_type", "static_initialiser",
                          {".rodata.x", SHF_ALLOC, word, SHT_INIT_ARRAY}),
      make_section_attack("initialiser_by_name", "static_initialiser", {".init_array.5", SHF_ALLOC, word}),
      make_section_attack("constructors_of_old", "static_initialiser", {".ctors", kWritable, word}),
      make_section_attack("finaliser", "static_initialiser", {".fini", kCode, "\xc3"}),
      make_section_attack("section_of_unknown_name", "unknown_section", {".plugin", SHF_ALLOC, word}),
      make_section_attack("code_in_a_note", "unknown_section", {".note.code", kCode, "\xc3", SHT_NOTE}),
      make_section_attack("code_in_unwind_tables", "unknown_section", {".eh_frame", kCode, "\xc3"}),
      make_section_attack("compressed_section", "unknown_section",
                          {".rodata.z", SHF_ALLOC | SHF_COMPRESSED, word}),
      make_section_attack("constants_that_are_not_there", "unknown_section",
                          {".rodata.b", SHF_ALLOC, "", SHT_NOBITS, 1, uint64_t{1} << 40}),
      make_object_attack("section_beyond_the_file", "illegal/object_format", "lies outside the file",
                         [](ObjectParts& parts) { parts.sections[0].size_bytes = uint64_t{1} << 60; }),
      make_object_attack("alignment_of_a_gigabyte", "illegal/object_format", "alignment",
                         [](ObjectParts& parts) { parts.sections[0].alignment = uint64_t{1} << 30; }),
      make_object_attack("alignment_of_three", "illegal/object_format", "alignment",
                         [](ObjectParts& parts) { parts.sections[0].alignment = 3; }),
      make_object_attack(
          "sixty_thousand_pages", "illegal/object_format", "MiB of code",
          [](ObjectParts& parts) {
            parts.sections.resize(60'000, {".text.x", SHF_ALLOC | SHF_EXECINSTR, "\xc3", SHT_PROGBITS, 4096});
          }),
  };
}

std::vector<Attack> list_symbol_attacks() {
  return {
      make_symbol_attack("undefined_symbol", "illegal/undefined_symbol", "system",
                         {"system", SHN_UNDEF, STT_NOTYPE}),
      make_symbol_attack("undefined_weak_symbol", "illegal/undefined_symbol", "__libc_system",
                         {"__libc_system", SHN_UNDEF, STT_NOTYPE, STB_WEAK}),
      make_symbol_attack("common_symbol", "illegal/writable_static_data", "symbol state",
                         {"state", SHN_COMMON, STT_OBJECT}),
      make_symbol_attack("thread_local_symbol", "illegal/writable_static_data", "symbol state",
                         {"state", 1, STT_TLS}),
      make_symbol_attack("resolver", "illegal/ifunc", "chosen", {"chosen", 1, STT_GNU_IFUNC}),
      make_symbol_attack("symbol_outside_its_section", "illegal/object_format", "lies outside its section",
                         {"far", 1, STT_FUNC, STB_GLOBAL, 1 << 20}),
      make_symbol_attack("symbol_in_no_section", "illegal/object_format", "not there", {"lost", 77}),
      make_object_attack("kernel_outside_all_sections", "launch_error/missing_kernel", "gemm",
                         [](ObjectParts& parts) { parts.symbols[0].section = SHN_ABS; }),
      make_object_attack("kernel_points_to_data", "launch_error/missing_kernel", "gemm",
                         [](ObjectParts& parts) {
                           parts.sections.push_back({".rodata", SHF_ALLOC, "\xc3"});
                           parts.symbols[0].section = 2;
                         }),
      make_object_attack("kernel_at_the_end_of_the_code", "launch_error/missing_kernel", "gemm",
                         [](ObjectParts& parts) { parts.symbols[0].value = 1; }),
      make_object_attack("kernel_of_local_name", "launch_error/missing_kernel", "gemm",
                         [](ObjectParts& parts) { parts.symbols[0].binding = STB_LOCAL; }),
      make_object_attack("hundred_thousand_symbols", "illegal/object_format", "symbol table",
                         [](ObjectParts& parts) { parts.symbols.resize(100'000, {"x"}); }),
      make_object_attack("two_symbol_tables", "illegal/object_format", "two symbol tables",
                         [](ObjectParts& parts) { parts.symbol_tables = 2; }),
      make_object_attack("no_symbol_table", "illegal/object_format", "no symbol table",
                         [](ObjectParts& parts) { parts.symbol_tables = 0; }),
  };
}

std::vector<Attack> list_relocation_attacks() {
  return {
      make_relocation_attack("relocation_beyond_its_section", "illegal/relocation", "outside its section",
                             {13}),
      make_relocation_attack("relocation_far_away", "illegal/relocation", "outside its section",
                             {UINT64_MAX - 2}),
      make_relocation_attack("relocation_to_no_symbol", "illegal/relocation", "no place",
                             {0, R_X86_64_PC32, 4'000'000'000}),
      make_relocation_attack("relocation_of_unknown_kind", "illegal/relocation", "not supported",
                             {0, R_X86_64_TPOFF32}),
      make_relocation_attack("address_in_32_bits", "illegal/relocation", "does not fit", {0, R_X86_64_32}),
      make_relocation_attack("distance_beyond_32_bits", "illegal/relocation", "does not fit",
                             {0, R_X86_64_PC32, 1, int64_t{1} << 40}),
      make_object_attack("relocations_without_addends", "illegal/relocation", "without addends",
                         [](ObjectParts& parts) {
                           parts.relocations = {{}};
                           parts.relocation_type = SHT_REL;
                         }),
      make_object_attack("relocations_of_no_section", "illegal/object_format", "not there",
                         [](ObjectParts& parts) {
                           parts.relocations = {{}};
                           parts.relocated_section = 999;
                         }),
      make_object_attack("two_million_relocations", "illegal/object_format", "million relocations",
                         [](ObjectParts& parts) {
                           parts.relocations.resize(2'000'000, {0, R_X86_64_NONE});
                         }),
  };
}

std::vector<Attack> list_format_attacks() {
  return {
      make_bytes_attack("no_object_at_all", "ELF header", [](const std::string&) { return std::string(); }),
      make_bytes_attack("random_bytes", "not an ELF", [](const std::string&) { return draw_bytes(1 << 16); }),
      make_bytes_attack("cut_in_the_header", "ELF header",
                        [](const std::string& object) { return object.substr(0, 40); }),
      make_bytes_attack("cut_in_the_section_table", "section table",
                        [](const std::string& object) { return object.substr(0, object.size() - 10); }),
      make_bytes_attack("object_of_100_MB", "MiB",
                        [](std::string object) { return object += std::string(100 << 20, '\0'); }),
      make_object_attack("object_for_another_machine", "illegal/object_format", "x86-64",
                         [](ObjectParts& parts) { parts.machine = EM_AARCH64; }),
      make_object_attack("object_of_32_bits", "illegal/object_format", "64-bit",
                         [](ObjectParts& parts) { parts.bits = ELFCLASS32; }),
      make_object_attack("shared_library", "illegal/object_format", "not a relocatable",
                         [](ObjectParts& parts) { parts.file_type = ET_DYN; }),
      make_object_attack("program", "illegal/object_format", "not a relocatable",
                         [](ObjectParts& parts) { parts.file_type = ET_EXEC; }),
      make_object_attack("no_code", "illegal/object_format", "no code",
                         [](ObjectParts& parts) { parts.sections[0].content.clear(); }),
  };
}

}  // namespace

std::vector<Attack> list_object_attacks() {
  std::vector<Attack> attacks;
  for (const auto& list :
       {list_section_attacks(), list_symbol_attacks(), list_relocation_attacks(), list_format_attacks()})
    attacks.insert(attacks.end(), list.begin(), list.end());
  return attacks;
}

}  // namespace kw
