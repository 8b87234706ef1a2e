// The loader against honest, forbidden and hostile objects.
#include "target/cpu/object.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "base/random.h"
#include "target/cpu/kernels_test.h"

namespace kw {
namespace {

const char* kPlain = R"(
extern "C" __attribute__((visibility("default"))) void kernel(long long item, const kw_call* call) {
  static const float table[] = {1, 2, 3, 4, 5, 6, 7, 8};
  ((float*)call->operand[0])[item] = table[item & 7];
  __builtin_memset(call->operand[1], 0, (unsigned long)call->size[0]);
})";
const std::vector<std::string> kNames = {"kernel"};

std::string with_kernel(const std::string& text) {
  return text + R"(
extern "C" __attribute__((visibility("default"))) void kernel(long long item, const kw_call* call) { body(item, call); })";
}

Verdict judge(const std::string& object) {
  const auto image = parse_object(object, kNames);
  if (image) return Verdict{VerdictClass::kPass};
  EXPECT_FALSE(image.error().evidence.dump().empty());
  return image.error();
}

// Parses and, when that works, links into memory of the exact size.
void load(const std::string& object) {
  const auto image = parse_object(object, kNames);
  if (!image) return;
  std::vector<std::byte> out(image->bytes.size());
  const auto linked = link_image(*image, 0x7f0000000000, 0x7e0000000000, 0x7e0000000100, out);
  for (const uint64_t entry : image->entries) ASSERT_LT(entry, out.size());
  static_cast<void>(linked);
}

TEST(Object, accepts_a_plain_kernel_with_constants_and_memset) {
  EXPECT_EQ(judge(compile_kernels(kPlain)).code(), "pass");
}

TEST(Object, accepts_tables_of_addresses_that_are_constant_after_linking) {
  const std::string text = with_kernel(R"(
static const char one[] = "one", two[] = "two";
static const char* const names[] = {one, two};
static void body(long long item, const kw_call* call) { *(const char**)call->operand[0] = names[item & 1]; })");
  EXPECT_EQ(judge(compile_kernels(text)).code(), "pass");
}

TEST(Object, refuses_writable_static_data) {
  const std::string body =
      "static void body(long long item, const kw_call* call) { state += item; *(int*)call->operand[0] = "
      "state; }";
  EXPECT_EQ(judge(compile_kernels(with_kernel("static int state = 7;" + body))).code(),
            "illegal/writable_static_data");
  EXPECT_EQ(judge(compile_kernels(with_kernel("static int state;" + body))).code(),
            "illegal/writable_static_data");
  EXPECT_EQ(judge(compile_kernels(with_kernel("static thread_local int state = 7;" + body))).code(),
            "illegal/writable_static_data");
}

TEST(Object, refuses_initialisers) {
  const std::string body = "static void body(long long, const kw_call*) {}";
  for (const char* attribute : {"constructor", "destructor"}) {
    const std::string text =
        std::string("__attribute__((") + attribute + ")) static void early() { asm volatile(\"\"); }" + body;
    EXPECT_EQ(judge(compile_kernels(with_kernel(text))).code(), "illegal/static_initialiser") << attribute;
  }
}

TEST(Object, refuses_undefined_symbols_by_name) {
  const Verdict verdict =
      judge(compile_kernels(with_kernel("extern \"C\" int system(const char*); static void body(long long, "
                                        "const kw_call*) { system(\"true\"); }")));
  EXPECT_EQ(verdict.code(), "illegal/undefined_symbol");
  EXPECT_EQ(verdict.evidence["detail"], "system");
  EXPECT_EQ(judge(compile_kernels(with_kernel(
                      "extern \"C\" void* memmove(void*, const void*, unsigned long); static void "
                      "body(long long, const kw_call* c) { memmove(c->scratch, c->workspace, 9); }")))
                .code(),
            "illegal/undefined_symbol");
}

TEST(Object, refuses_unknown_sections_and_ifuncs) {
  EXPECT_EQ(judge(compile_kernels(with_kernel(
                      "__attribute__((section(\"secret\"), noinline)) static void body(long long, "
                      "const kw_call*) { asm volatile(\"\"); }")))
                .code(),
            "illegal/unknown_section");
  EXPECT_EQ(judge(compile_kernels(with_kernel(
                      "extern \"C\" { static void real() {} static void* pick() { return (void*)real; } "
                      "__attribute__((ifunc(\"pick\"))) void chosen(); }"
                      "static void body(long long, const kw_call*) { chosen(); }")))
                .code(),
            "illegal/ifunc");
}

TEST(Object, refuses_thread_local_and_unfit_relocations) {
  EXPECT_EQ(judge(compile_kernels(with_kernel(
                      "extern thread_local int far; static void body(long long, const kw_call* c) { "
                      "*(int*)c->scratch = far; }")))
                .klass,
            VerdictClass::kIllegal);
  const std::string object = compile_kernels(kPlain, {"-fno-pic", "-mcmodel=small"});
  const auto image = parse_object(object, kNames);
  ASSERT_TRUE(image.has_value()) << image.error().code();
  std::vector<std::byte> out(image->bytes.size());
  const auto linked = link_image(*image, 0x7f0000000000, 0, 0, out);
  const std::string code = linked ? "" : linked.error().code();
  EXPECT_TRUE(code.empty() || code == "illegal/relocation") << code;
}

TEST(Object, names_a_missing_kernel) {
  const auto image = parse_object(compile_kernels(kPlain), std::vector<std::string>{"absent"});
  ASSERT_FALSE(image.has_value());
  EXPECT_EQ(image.error().code(), "launch_error/missing_kernel");
  EXPECT_EQ(image.error().evidence["detail"], "absent");
}

TEST(Object, refuses_what_is_no_object) {
  EXPECT_EQ(judge("").code(), "illegal/object_format");
  EXPECT_EQ(judge("hello").code(), "illegal/object_format");
  const auto program = read_file("/proc/self/exe");
  ASSERT_TRUE(program.has_value());
  EXPECT_EQ(judge(program->substr(0, kMaxObjectBytes)).code(), "illegal/object_format");
  EXPECT_EQ(judge(std::string(kMaxObjectBytes + 1, '\0')).code(), "illegal/object_format");
}

TEST(Object, survives_every_truncation) {
  const std::string object = compile_kernels(kPlain);
  for (size_t length = 0; length < object.size(); ++length) {
    const std::string head = object.substr(0, length);
    EXPECT_EQ(judge(head).klass, VerdictClass::kIllegal) << length;
    load(head);
  }
}

TEST(Object, survives_random_changes) {
  const std::string object = compile_kernels(kPlain);
  Random random(11);
  for (int trial = 0; trial < 20'000; ++trial) {
    std::string changed = object;
    const auto changes = random.between(1, 8);
    for (int64_t i = 0; i < changes; ++i) {
      // Half of the changes go to the headers and tables at the end, where they hurt.
      const size_t reach = random.chance(0.5) ? changed.size() : changed.size() / 2;
      const size_t position = changed.size() - 1 - random.below(reach);
      changed[position] = random.chance(0.3) ? '\xff' : static_cast<char>(random.next());
    }
    load(changed);
  }
}

// Tables of a small file may lie over each other: what is read in all is bounded, not only what one table
// says.
TEST(Object, refuses_overlapping_tables_before_they_cost_anything) {
  const std::string object = compile_kernels(kPlain);
  Elf64_Ehdr header;
  std::memcpy(&header, object.data(), sizeof header);
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  std::memcpy(sections.data(), object.data() + header.e_shoff, sections.size() * sizeof(Elf64_Shdr));
  const auto rebuild = [&](const std::vector<Elf64_Shdr>& table, const std::string& bulk) {
    std::string built = object + bulk;
    Elf64_Ehdr changed = header;
    changed.e_shoff = built.size(), changed.e_shnum = static_cast<uint16_t>(table.size());
    std::memcpy(built.data(), &changed, sizeof changed);
    return built.append(reinterpret_cast<const char*>(table.data()), table.size() * sizeof(Elf64_Shdr));
  };
  const size_t bulk_bytes = size_t{24} << 20;
  const auto text = std::find_if(sections.begin(), sections.end(), [](const Elf64_Shdr& section) {
    return (section.sh_flags & SHF_EXECINSTR) != 0 && section.sh_size > 0;
  });
  ASSERT_NE(text, sections.end());

  // A thousand tables, each of the same million relocations of type none.
  std::vector<Elf64_Shdr> repeated = sections;
  Elf64_Shdr table = {};
  table.sh_type = SHT_RELA, table.sh_entsize = sizeof(Elf64_Rela);
  table.sh_info = static_cast<uint32_t>(text - sections.begin());
  table.sh_offset = object.size(), table.sh_size = bulk_bytes / sizeof(Elf64_Rela) * sizeof(Elf64_Rela);
  repeated.insert(repeated.end(), 1000, table);
  const Verdict relocations = judge(rebuild(repeated, std::string(bulk_bytes, '\0')));
  EXPECT_EQ(relocations.code(), "illegal/object_format");
  EXPECT_NE(relocations.evidence.dump().find("a million relocations"), std::string::npos);

  // Symbols whose names are tails of one endless text.
  std::vector<Elf64_Shdr> endless = sections;
  for (Elf64_Shdr& section : endless)
    if (section.sh_type == SHT_SYMTAB) section.sh_link = static_cast<uint32_t>(endless.size());
  Elf64_Shdr names = {};
  names.sh_type = SHT_STRTAB, names.sh_offset = object.size(), names.sh_size = bulk_bytes;
  endless.push_back(names);
  const Verdict symbols = judge(rebuild(endless, std::string(bulk_bytes - 1, 'n') + '\0'));
  EXPECT_EQ(symbols.code(), "illegal/object_format");
}

}  // namespace
}  // namespace kw
