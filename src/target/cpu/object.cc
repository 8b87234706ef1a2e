// The loader's judgement: which sections, symbols and relocations a kernel may have.
#include "target/cpu/object.h"

#include <algorithm>
#include <map>

#include "target/elf_reader.h"
#include "target/shared_memory.h"

namespace kw {
namespace {

constexpr uint64_t kNotPlaced = UINT64_MAX;
constexpr std::string_view kEmptySlot("\0\0\0\0\0\0\0\0", 8);
constexpr uint64_t kStubBytes = 8;  // jmp *slot(%rip), padded
constexpr size_t kMaxSymbols = 1 << 16;
constexpr size_t kMaxRelocations = 1 << 20;

using Refusal = tl::expected<void, Verdict>;

auto refuse_format(const std::string& detail) {
  return refuse(VerdictClass::kIllegal, "object_format", detail);
}

struct Symbol {
  std::string name;
  uint64_t offset = kNotPlaced;  // in the image
  std::optional<Import> import;
  bool is_code = false, is_global = false;
};

class ObjectParser {
 public:
  ObjectParser(std::string_view object, std::span<const std::string> kernels)
      : elf_(object), kernels_(kernels) {}

  tl::expected<CodeImage, Verdict> parse() {
    const std::string wrong = elf_.load_sections(EM_X86_64, ET_REL);
    if (!wrong.empty()) return refuse_format(wrong);
    for (const auto step :
         {&ObjectParser::place_sections, &ObjectParser::read_symbols, &ObjectParser::place_imports,
          &ObjectParser::read_relocations, &ObjectParser::find_entries})
      if (auto done = (this->*step)(); !done) return tl::unexpected(std::move(done).error());
    return std::move(image_);
  }

 private:
  Refusal place_sections();
  Refusal place_section(size_t index, const Elf64_Shdr& section);
  Refusal read_symbols();
  tl::expected<Symbol, Verdict> judge_symbol(const Elf64_Sym& raw, const std::string& name) const;
  Refusal place_imports();
  Refusal read_relocations();
  Refusal add_fixup(const Elf64_Rela& raw, const Elf64_Shdr& section, uint64_t section_offset);
  uint64_t find_slot(uint64_t symbol_index);
  Refusal find_entries();
  uint64_t append(std::string_view content, uint64_t alignment);

  ElfReader elf_;
  std::span<const std::string> kernels_;
  CodeImage image_;
  std::vector<uint64_t> section_offset_;
  size_t relocations_ = 0;
  std::vector<Symbol> symbols_;
  std::map<uint64_t, uint64_t> slots_;  // symbol index -> address table slot
};

bool begins_with_any(std::string_view name, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view p) { return name.substr(0, p.size()) == p; });
}

// What a loaded section would be: empty = may be loaded, "ignore" = needs no loading, else the reason of
// refusal.
std::string judge_section(const Elf64_Shdr& section, std::string_view name) {
  if (section.sh_type == SHT_INIT_ARRAY || section.sh_type == SHT_FINI_ARRAY ||
      section.sh_type == SHT_PREINIT_ARRAY ||
      begins_with_any(name, {".init", ".fini", ".ctors", ".dtors", ".preinit_array"}))
    return "static_initialiser";
  if ((section.sh_flags & SHF_TLS) != 0) return "writable_static_data";
  const bool constant_after_linking =
      begins_with_any(name, {".data.rel.ro"}) && section.sh_type == SHT_PROGBITS;
  if ((section.sh_flags & SHF_WRITE) != 0 && !constant_after_linking) return "writable_static_data";
  const bool is_code = (section.sh_flags & SHF_EXECINSTR) != 0;
  if (!is_code && (section.sh_type == SHT_NOTE || begins_with_any(name, {".eh_frame"}))) return "ignore";
  if (section.sh_type != SHT_PROGBITS || (section.sh_flags & SHF_COMPRESSED) != 0) return "unknown_section";
  const bool known = is_code ? begins_with_any(name, {".text"})
                             : constant_after_linking || begins_with_any(name, {".rodata"});
  return known ? "" : "unknown_section";
}

uint64_t ObjectParser::append(std::string_view content, uint64_t alignment) {
  image_.bytes.resize(round_up(image_.bytes.size(), alignment), '\xcc');
  const uint64_t offset = image_.bytes.size();
  image_.bytes.append(content);
  return offset;
}

Refusal ObjectParser::place_sections() {
  section_offset_.assign(elf_.sections().size(), kNotPlaced);
  for (size_t i = 0; i < elf_.sections().size(); ++i)
    if (auto placed = place_section(i, elf_.sections()[i]); !placed) return placed;
  return {};
}

Refusal ObjectParser::place_section(size_t index, const Elf64_Shdr& section) {
  if ((section.sh_flags & SHF_ALLOC) == 0 || section.sh_size == 0) return {};
  const auto name = elf_.section_name(section);
  if (!name) return refuse_format("a section's name lies outside the name table");
  const std::string judgement = judge_section(section, *name);
  if (judgement == "ignore") return {};
  if (!judgement.empty())
    return refuse(VerdictClass::kIllegal, judgement,
                  fmt::format("section {} of {} bytes", *name, section.sh_size));
  const auto content = elf_.contents(section);
  if (!content) return refuse_format("section " + *name + " lies outside the file");
  const uint64_t alignment = std::max<uint64_t>(section.sh_addralign, 1);
  if ((alignment & (alignment - 1)) != 0 || alignment > kPageBytes)
    return refuse_format(fmt::format("section {} wants alignment {}", *name, alignment));
  if (content->size() > kMaxCodeBytes || image_.bytes.size() + content->size() + kPageBytes > kMaxCodeBytes)
    return refuse_format(fmt::format("more than {} MiB of code and constants", kMaxCodeBytes >> 20));
  section_offset_[index] = append(*content, alignment);
  return {};
}

tl::expected<Symbol, Verdict> ObjectParser::judge_symbol(const Elf64_Sym& raw,
                                                         const std::string& name) const {
  Symbol symbol{name};
  const auto type = ELF64_ST_TYPE(raw.st_info);
  symbol.is_global = ELF64_ST_BIND(raw.st_info) != STB_LOCAL;
  if (type == STT_GNU_IFUNC) return refuse(VerdictClass::kIllegal, "ifunc", name);
  if (type == STT_TLS || raw.st_shndx == SHN_COMMON)
    return refuse(VerdictClass::kIllegal, "writable_static_data", "symbol " + name);
  if (raw.st_shndx == SHN_UNDEF) {
    if (name == "memcpy") symbol.import = Import::kMemcpy;
    if (name == "memset") symbol.import = Import::kMemset;
    if (!symbol.import && name != "_GLOBAL_OFFSET_TABLE_")
      return refuse(VerdictClass::kIllegal, "undefined_symbol", name);
    return symbol;
  }
  if (raw.st_shndx == SHN_ABS) return symbol;
  if (raw.st_shndx >= elf_.sections().size())
    return refuse_format("symbol " + name + " names a section that is not there");
  const Elf64_Shdr& section = elf_.sections()[raw.st_shndx];
  if (section_offset_[raw.st_shndx] == kNotPlaced) return symbol;
  if (raw.st_value > section.sh_size) return refuse_format("symbol " + name + " lies outside its section");
  symbol.offset = section_offset_[raw.st_shndx] + raw.st_value;
  symbol.is_code = (section.sh_flags & SHF_EXECINSTR) != 0 && raw.st_value < section.sh_size &&
                   (type == STT_FUNC || type == STT_NOTYPE);
  return symbol;
}

Refusal ObjectParser::read_symbols() {
  const Elf64_Shdr* table = nullptr;
  for (const Elf64_Shdr& section : elf_.sections()) {
    if (section.sh_type != SHT_SYMTAB) continue;
    if (table != nullptr) return refuse_format("two symbol tables");
    table = &section;
  }
  if (table == nullptr) return refuse_format("no symbol table");
  const auto content = elf_.contents(*table);
  if (!content || table->sh_entsize != sizeof(Elf64_Sym) || content->size() / sizeof(Elf64_Sym) > kMaxSymbols)
    return refuse_format("odd symbol table");
  symbols_.emplace_back();  // index 0 is no symbol
  for (size_t i = 1; i < content->size() / sizeof(Elf64_Sym); ++i) {
    const auto raw = elf_.read<Elf64_Sym>(table->sh_offset + i * sizeof(Elf64_Sym));
    const auto name = raw ? elf_.text(table->sh_link, raw->st_name) : std::nullopt;
    if (!name) return refuse_format("a symbol's name lies outside the string table");
    auto symbol = judge_symbol(*raw, *name);
    if (!symbol) return tl::unexpected(std::move(symbol).error());
    symbols_.push_back(*std::move(symbol));
  }
  return {};
}

// Gives each import that occurs a slot for its address and a stub that jumps through it.
Refusal ObjectParser::place_imports() {
  if (image_.bytes.empty()) return refuse_format("no code");  // so that offset 0 is never a slot
  for (Symbol& symbol : symbols_) {
    if (!symbol.import) continue;
    uint64_t& slot = image_.import_slots[static_cast<size_t>(*symbol.import)];
    if (slot == 0) slot = append(kEmptySlot, sizeof(uint64_t));
    symbol.offset = append(std::string_view("\xff\x25\0\0\0\0\xcc\xcc", kStubBytes), kStubBytes);
    image_.fixups.push_back({Fixup::Kind::kRelative32, symbol.offset + 2, slot, -4});
  }
  return {};
}

Refusal ObjectParser::read_relocations() {
  for (const Elf64_Shdr& table : elf_.sections()) {
    if (table.sh_type != SHT_RELA && table.sh_type != SHT_REL) continue;
    if (table.sh_info >= elf_.sections().size())
      return refuse_format("relocations for a section that is not there");
    if (section_offset_[table.sh_info] == kNotPlaced) continue;
    if (table.sh_type == SHT_REL)
      return refuse(VerdictClass::kIllegal, "relocation", "table without addends");
    const auto content = elf_.contents(table);
    if (!content || table.sh_entsize != sizeof(Elf64_Rela)) return refuse_format("odd relocation table");
    relocations_ += content->size() / sizeof(Elf64_Rela);  // of any kind: tables may overlap
    if (relocations_ > kMaxRelocations) return refuse_format("more than a million relocations");
    for (size_t i = 0; i < content->size() / sizeof(Elf64_Rela); ++i) {
      const auto raw = elf_.read<Elf64_Rela>(table.sh_offset + i * sizeof(Elf64_Rela));
      if (!raw) return refuse_format("odd relocation table");
      auto added = add_fixup(*raw, elf_.sections()[table.sh_info], section_offset_[table.sh_info]);
      if (!added) return added;
    }
  }
  return {};
}

// Slot of the address table that holds the symbol's address; made on first use.
uint64_t ObjectParser::find_slot(uint64_t symbol_index) {
  const auto known = slots_.find(symbol_index);
  if (known != slots_.end()) return known->second;
  const uint64_t slot = append(kEmptySlot, sizeof(uint64_t));
  slots_.emplace(symbol_index, slot);
  image_.fixups.push_back({Fixup::Kind::kAbsolute64, slot, symbols_[symbol_index].offset, 0});
  return slot;
}

Refusal ObjectParser::add_fixup(const Elf64_Rela& raw, const Elf64_Shdr& section, uint64_t section_offset) {
  const uint64_t type = ELF64_R_TYPE(raw.r_info), symbol_index = ELF64_R_SYM(raw.r_info);
  const auto refuse_type = [&](const char* why) {
    return refuse(VerdictClass::kIllegal, "relocation",
                  fmt::format("type {} at {:#x}: {}", type, raw.r_offset, why));
  };
  if (type == R_X86_64_NONE) return {};
  Fixup fixup;
  bool through_slot = false;
  switch (type) {
    case R_X86_64_64:
      fixup.kind = Fixup::Kind::kAbsolute64;
      break;
    case R_X86_64_32:
      fixup.kind = Fixup::Kind::kAbsolute32;
      break;
    case R_X86_64_32S:
      fixup.kind = Fixup::Kind::kSigned32;
      break;
    case R_X86_64_PC64:
      fixup.kind = Fixup::Kind::kRelative64;
      break;
    case R_X86_64_PC32:
    case R_X86_64_PLT32:
      fixup.kind = Fixup::Kind::kRelative32;
      break;
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX:
      through_slot = true;
      break;
    default:
      return refuse_type("not supported");
  }
  const bool wide = fixup.kind == Fixup::Kind::kAbsolute64 || fixup.kind == Fixup::Kind::kRelative64;
  const uint64_t width = wide ? 8 : 4;
  if (section.sh_size < width || raw.r_offset > section.sh_size - width)
    return refuse_type("outside its section");
  if (symbol_index >= symbols_.size() || symbols_[symbol_index].offset == kNotPlaced)
    return refuse_type("to a symbol that has no place");
  fixup.position = section_offset + raw.r_offset;
  fixup.target = through_slot ? find_slot(symbol_index) : symbols_[symbol_index].offset;
  fixup.addend = raw.r_addend;
  image_.fixups.push_back(fixup);
  return {};
}

Refusal ObjectParser::find_entries() {
  for (const std::string& kernel : kernels_) {
    const auto found = std::find_if(symbols_.begin(), symbols_.end(), [&](const Symbol& symbol) {
      return symbol.name == kernel && symbol.is_code && symbol.is_global && !symbol.import;
    });
    if (found == symbols_.end()) return refuse(VerdictClass::kLaunchError, "missing_kernel", kernel);
    image_.entries.push_back(found->offset);
  }
  return {};
}

}  // namespace

tl::unexpected<Verdict> refuse(VerdictClass klass, std::string reason, std::string detail) {
  constexpr size_t kMostCharacters = 200;
  for (char& c : detail)  // names come from the object; records hold readable text only
    if (c < ' ' || c > '~') c = '?';
  if (detail.size() > kMostCharacters) detail.resize(kMostCharacters);
  Verdict verdict;
  verdict.klass = klass;
  verdict.reason = std::move(reason);
  verdict.evidence["detail"] = std::move(detail);
  return tl::unexpected(std::move(verdict));
}

tl::expected<CodeImage, Verdict> parse_object(std::string_view object, std::span<const std::string> kernels) {
  if (object.size() > kMaxObjectBytes)
    return refuse_format(fmt::format("{} MiB, more than {}", object.size() >> 20, kMaxObjectBytes >> 20));
  return ObjectParser(object, kernels).parse();
}

}  // namespace kw
