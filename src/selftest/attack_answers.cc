// Attacks by answers that were not computed: kept from earlier, made up, or given only while nobody looks.
// Those that are mutants already are taken from there by name; the timed ones go straight to the clock, as if
// they had passed.
#include "selftest/attack.h"
#include "selftest/mutants.h"
#include "selftest/timed_kernels.h"

namespace kw {
namespace {

Attack take_mutant(const std::string& name, const std::string& expected) {
  return {name, expected, "comparison", "", [name](AttackBench& bench) { return bench.judge_mutant(name); }};
}

Attack make_attack(const Mutant& mutant) {
  return {mutant.name, mutant.expected, "comparison", "",
          [mutant](AttackBench& bench) { return bench.judge(make_mutant(mutant)); }};
}

Attack make_timed_attack(const Mutant& mutant, int sets = 0) {
  return {mutant.name, mutant.expected, "timing", "",
          [mutant, sets](AttackBench& bench) { return bench.time(make_mutant(mutant), sets); }};
}

// One item does all.
const Edit kOneItem = {kFirst, "if (item != 0) return; const long long first = 0;"},
           kAllRows = {kLast, "const long long last = m;"};

// The next set's operands lie behind this one's; a verified kernel has no next set.
constexpr const char* kNextC =
    "float* next = static_cast<float*>(call->operand[5]);"
    "const bool timed = next > c && next - c < (1 << 22);";

// Keyed by the output's address: a table of one place a page.
constexpr const char* kSeenBefore =
    "void** place = reinterpret_cast<void**>(call->workspace) + reinterpret_cast<unsigned long>(c) / 4096 % "
    "8192;"
    "if (*place == c) return; *place = c;";

constexpr const char* kDigest = R"(
struct Kept { unsigned long digest; float answer[48 * 48]; };
static unsigned long find_digest(const float* a, const float* b) {
  unsigned long sum = 1;
  for (int i = 0; i < 48 * 48; ++i)
    sum = sum * 31 + reinterpret_cast<const unsigned*>(a)[i] + 7 * reinterpret_cast<const unsigned*>(b)[i];
  return sum;
})";
constexpr const char* kRecall = R"(
  Kept* kept = reinterpret_cast<Kept*>(call->workspace);
  const unsigned long digest = find_digest(a, b);
  for (int at = 0; at < 4; ++at)
    if (kept[at].digest == digest) {
      for (int i = 0; i < 48 * 48; ++i) c[i] = kept[at].answer[i];
      return;
    }
)";
constexpr const char* kKeep = R"(
  Kept& free = kept[(*reinterpret_cast<unsigned*>(kept + 4))++ % 4];
  free.digest = digest;
  for (int i = 0; i < 48 * 48; ++i) free.answer[i] = c[i];
)";

}  // namespace

std::vector<Attack> list_answer_attacks() {
  return {
      take_mutant("nothing", "wrong_result/unwritten"),  // E01: an earlier answer lies there
      take_mutant("zeros", "wrong_result/zeros"),
      make_attack({"zeros_for_tiny_values",  // E04
                   "wrong_result/zeros",
                   {{kStore, "c[i * ldc + j] = value * value < 1e-4f ? 0 : value;"}}}),
      make_attack({"one_value_everywhere", "wrong_result/everywhere", {{kStore, "c[i * ldc + j] = 0.5f;"}}}),
      make_attack(
          {"noise_of_the_right_size",  // E06
           "wrong_result/everywhere",
           {{kStore, "c[i * ldc + j] = static_cast<float>((i * 7919 + j * 104729) % 201 - 100) * 0.1f;"}}}),
      make_attack({"passes_on_what_lay_there",
                   "wrong_result/reads_c",
                   {{kStore, "c[i * ldc + j] = c[i * ldc] + 0;"}}}),
      take_mutant("nan_everywhere", "wrong_result/nan"),
      take_mutant("nan_in_one_element", "wrong_result/nan"),
      take_mutant("first_row_only", "wrong_result/first_row_only"),
      take_mutant("answer_kept", "cheat/cached_output"),
      take_mutant("answer_kept_by_pointer", "cheat/cached_output"),
      take_mutant("answer_kept_by_sampled_content", "cheat/cached_output"),
      take_mutant("answer_kept_on_the_stack", "cheat/cached_output"),
      take_mutant("packed_operand_kept", "wrong_result/later_call"),
      take_mutant("right_for_ten_calls", "wrong_result/later_call"),
      take_mutant("wrong_on_the_11th_call", "wrong_result/later_call"),
      take_mutant("f16_accumulator", "precision_downgrade/f16_accumulator"),  // L07
      take_mutant("bf16_inputs", "precision_downgrade/bf16_inputs"),
      take_mutant("random_last_bit", "nondeterministic/repeat"),
  };
}

std::vector<Attack> list_timing_attacks() {
  return {
      {"faster_than_the_machine", "cheat/faster_than_roofline", "timing", "",
       [](AttackBench& bench) { return bench.time(make_noop(), 0, false); }},
      {"leaves_the_answer_of_the_baseline", "cheat/wrong_when_timed", "timing", "",
       [](AttackBench& bench) { return bench.time(make_noop()); }},
      make_timed_attack({"computes_each_set_once",
                         "cheat/wrong_when_timed",
                         {{kBegin, kSeenBefore}, kOneItem, kAllRows},
                         "65536"},
                        2),
      make_timed_attack({"finds_answers_by_a_digest",
                         "cheat/cached_output",
                         {{kDeclarations, kDigest}, {kBegin, kRecall}, {kEnd, kKeep}, kOneItem, kAllRows},
                         "65536"},
                        2),
      make_timed_attack({"wrong_only_when_timed",
                         "cheat/wrong_when_timed",
                         {{kBegin, kNextC}, {kStore, "c[i * ldc + j] = timed ? value * 1.01f : value;"}}}),
      make_timed_attack(
          {"spoils_the_next_set",
           "cheat/other_operand_set",
           {{kEnd,
             std::string(kNextC) + "if (timed) for (long long i = 0; i < m * ldc; ++i) next[i] = 1e-40f;"}}}),
      make_timed_attack(
          {"empties_the_inputs_when_timed",
           "input_modified/a",
           {{kBegin, std::string(kNextC) + "if (timed) __builtin_memset(const_cast<float*>(a), 0, 64);"}}}),
      make_timed_attack(
          {"crashes_only_when_timed",
           "crash/fault",
           {{kBegin, std::string(kNextC) + "if (timed) *static_cast<volatile int*>(nullptr) = 1;"}}}),
      make_timed_attack(
          {"hides_a_call_when_timed",
           "cheat/forbidden_call",
           {{kDeclarations, "static const unsigned char pause[] = {0xb8, 35, 0, 0, 0, 0x0f, 0x05, 0xc3};"},
            {kBegin, std::string(kNextC) +
                         "if (timed) reinterpret_cast<void (*)()>(const_cast<unsigned char*>(pause))();"}}}),
  };
}

}  // namespace kw
