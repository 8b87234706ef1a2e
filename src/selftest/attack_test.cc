// The lists themselves, and the objects that attacks are made of.
#include "selftest/attack.h"

#include <gtest/gtest.h>

#include <set>

#include "selftest/attack_object.h"
#include "target/cpu/object.h"

namespace kw {
namespace {

std::vector<Attack> list_all() {
  std::vector<Attack> attacks;
  for (const auto& list :
       {list_source_attacks(), list_compiler_attacks(), list_record_attacks(), list_object_attacks(),
        list_call_attacks(), list_conduct_attacks(), list_answer_attacks(), list_timing_attacks()})
    attacks.insert(attacks.end(), list.begin(), list.end());
  return attacks;
}

TEST(Attack, every_entry_has_a_name_of_its_own_and_a_stage_that_stops_it) {
  const std::set<std::string> stages = {"source rules", "compiler",   "launch record", "loader",
                                        "worker",       "comparison", "timing"};
  std::set<std::string> names, met;
  for (const Attack& attack : list_all()) {
    EXPECT_TRUE(names.insert(attack.name).second) << attack.name;
    EXPECT_TRUE(stages.contains(attack.caught)) << attack.name << ": " << attack.caught;
    EXPECT_NE(attack.expected, "pass") << attack.name;
    met.insert(attack.caught);
  }
  EXPECT_EQ(met, stages);
  EXPECT_GE(names.size(), 50U);
}

TEST(AttackObject, plain_parts_are_an_object_that_the_loader_accepts) {
  const std::vector<std::string> kernels = {"gemm"};
  const auto image = parse_object(write_object(make_plain_parts()), kernels);
  ASSERT_TRUE(image) << image.error().evidence.dump();
  EXPECT_EQ(image->bytes.substr(image->entries[0], 1), "\xc3");
}

TEST(AttackObject, parts_arrive_where_the_loader_looks_for_them) {
  const std::vector<std::string> kernels = {"gemm", "other"};
  ObjectParts parts = make_plain_parts(std::string(8, '\x90'));
  parts.sections.push_back({".rodata", SHF_ALLOC, "constant", SHT_PROGBITS, 64});
  parts.symbols.push_back({"other", 1, STT_FUNC, STB_GLOBAL, 4});
  parts.symbols.push_back({"table", 2, STT_OBJECT});
  parts.relocations = {{2, R_X86_64_PC32, 3, -4}};
  const auto image = parse_object(write_object(parts), kernels);
  ASSERT_TRUE(image) << image.error().evidence.dump();
  EXPECT_EQ(image->entries[1] - image->entries[0], 4U);
  ASSERT_EQ(image->fixups.size(), 1U);
  EXPECT_EQ(image->fixups[0].position, 2U);
  EXPECT_EQ(image->bytes.substr(image->fixups[0].target, 8), "constant");
}

}  // namespace
}  // namespace kw
