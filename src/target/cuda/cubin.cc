#include "target/cuda/cubin.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "target/elf_reader.h"

namespace kw::cuda {
namespace {

constexpr uint16_t kMachineCuda = 190;  // EM_CUDA
constexpr uint64_t kMostSymbols = 100'000;

Verdict refuse(VerdictClass klass, const char* reason, const std::string& message) {
  Verdict verdict;
  verdict.klass = klass;
  verdict.reason = reason;
  verdict.evidence["message"] = message;
  return verdict;
}
Verdict refuse_object(const std::string& message) {
  return refuse(VerdictClass::kIllegal, "object", message);
}

struct Symbols {
  std::set<std::string> kernels;     // defined functions
  std::vector<std::string> foreign;  // used, not defined
};

std::optional<Verdict> read_symbols(const ElfReader& elf, Symbols& symbols) {
  for (const Elf64_Shdr& section : elf.sections()) {
    if (section.sh_type != SHT_SYMTAB) continue;
    const uint64_t count = section.sh_size / sizeof(Elf64_Sym);
    if (count > kMostSymbols) return refuse_object(fmt::format("{} symbols", count));
    for (uint64_t at = 1; at < count; ++at) {
      const auto symbol = elf.read<Elf64_Sym>(section.sh_offset + at * sizeof(Elf64_Sym));
      if (!symbol) return refuse_object("symbol table outside the file");
      const auto name = elf.text(section.sh_link, symbol->st_name);
      if (!name) return refuse_object("symbol name outside the file");
      const bool is_function = ELF64_ST_TYPE(symbol->st_info) == STT_FUNC;
      // Weak objects that are nowhere are marks of the linker's own (.nv.reservedSmem.offset0).
      const bool is_needed = is_function || ELF64_ST_BIND(symbol->st_info) == STB_GLOBAL;
      if (symbol->st_shndx == SHN_UNDEF && is_needed)
        symbols.foreign.push_back(*name);
      else if (is_function)
        symbols.kernels.insert(*name);
    }
  }
  return std::nullopt;
}

// The name of the first variable in writable memory that code refers to. It lives as long as the module does:
// sections .nv.global and .nv.global.init. NVRTC puts named constants there too, unless they are
// __constant__.
std::optional<Verdict> find_writable_static(const ElfReader& elf) {
  std::set<uint64_t> writable;
  for (uint64_t at = 0; at < elf.sections().size(); ++at) {
    const auto name = elf.section_name(elf.sections()[at]);
    if (!name) return refuse_object("section name outside the file");
    if (name->starts_with(".nv.global")) writable.insert(at);
  }
  for (const Elf64_Shdr& section : elf.sections()) {
    const bool with_addend = section.sh_type == SHT_RELA;
    if (!with_addend && section.sh_type != SHT_REL) continue;
    const uint64_t entry_bytes = with_addend ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
    const uint64_t count = section.sh_size / entry_bytes;
    if (count > kMostSymbols) return refuse_object(fmt::format("{} relocations", count));
    if (section.sh_link >= elf.sections().size()) return refuse_object("relocations without symbols");
    const Elf64_Shdr& symbols = elf.sections()[section.sh_link];
    for (uint64_t at = 0; at < count; ++at) {
      const auto entry = elf.read<Elf64_Rel>(section.sh_offset + at * entry_bytes);  // both begin alike
      if (!entry) return refuse_object("relocations outside the file");
      const auto symbol =
          elf.read<Elf64_Sym>(symbols.sh_offset + ELF64_R_SYM(entry->r_info) * sizeof(Elf64_Sym));
      if (!symbol) return refuse_object("relocation without a symbol");
      if (!writable.contains(symbol->st_shndx)) continue;
      const std::string name = elf.text(symbols.sh_link, symbol->st_name).value_or("");
      return refuse(VerdictClass::kIllegal, "writable_static_data",
                    fmt::format("variable {} would outlive a launch; what never changes may be __constant__",
                                name.empty() ? "without a name" : name));
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Verdict> check_cubin(std::string_view cubin, const LaunchRecord& launch) {
  ElfReader elf(cubin);
  if (const std::string wrong = elf.load_sections(kMachineCuda, ET_EXEC); !wrong.empty())
    return refuse_object("the module is " + wrong);
  Symbols symbols;
  if (auto verdict = read_symbols(elf, symbols)) return verdict;
  if (!symbols.foreign.empty())
    return refuse(VerdictClass::kIllegal, "undefined_symbol",
                  fmt::format("the module calls {}, which no kernel may", symbols.foreign.front()));
  if (auto verdict = find_writable_static(elf)) return verdict;
  for (const KernelLaunch& kernel : launch.kernels)
    if (!symbols.kernels.contains(kernel.name))
      return refuse(VerdictClass::kLaunchError, "missing_kernel",
                    fmt::format("the module has no kernel {}", kernel.name));
  return std::nullopt;
}

}  // namespace kw::cuda
