// The corpora as lists: long enough, nothing twice, every code of the closed classes. What becomes of each
// kernel is `kernelwright selftest mutants honest`; here a few of each, so that a broken stage shows in
// ctest.
#include "selftest/corpus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "selftest/battery.h"
#include "selftest/printed.h"

namespace kw {
namespace {

TEST(Corpus, has_every_kernel_once) {
  for (const auto& kernels : {make_mutants(), make_honest_kernels()}) {
    std::set<std::string> names, texts;
    for (const CorpusKernel& kernel : kernels) {
      EXPECT_TRUE(names.insert(kernel.name).second) << kernel.name;
      EXPECT_TRUE(texts.insert(kernel.text + std::string(print_layout(kernel.layout))).second ||
                  !kernel.expected.starts_with("pass"))
          << kernel.name << " is another one's text";
      EXPECT_TRUE(parse_verdict_class(kernel.expected.substr(0, kernel.expected.find('/'))))
          << kernel.expected;
    }
  }
}

TEST(Corpus, is_large_enough_without_avx512) {
  const auto honest = make_honest_kernels();
  const auto runs_on_avx2 = [](const CorpusKernel& kernel) {
    return !kernel.launch || kernel.launch->isa == "avx2";
  };
  EXPECT_GE(std::count_if(honest.begin(), honest.end(), runs_on_avx2), 50);
  EXPECT_GE(make_mutants().size(), 60U);
  for (const CorpusKernel& kernel : honest) EXPECT_EQ(kernel.expected, "pass") << kernel.name;
  for (const CorpusKernel& kernel : make_mutants()) EXPECT_NE(kernel.expected, "pass") << kernel.name;
}

TEST(Corpus, holds_printed_kernels_of_every_layout) {
  std::set<Layout> layouts;
  for (const CorpusKernel& kernel : make_honest_kernels())
    if (kernel.launch) layouts.insert(kernel.layout);
  EXPECT_EQ(layouts.size(), 4U);
}

TEST(Battery, tells_right_from_wrong_and_names_the_fault) {
  auto battery = Battery::make();
  ASSERT_TRUE(battery) << battery.error().message;
  const auto judge = [&](const std::vector<CorpusKernel>& kernels, const std::string& name) {
    const auto found = std::find_if(kernels.begin(), kernels.end(),
                                    [&](const CorpusKernel& kernel) { return kernel.name == name; });
    EXPECT_NE(found, kernels.end()) << name;
    if (found == kernels.end()) return;
    const auto judged = battery->judge(*found, 1, 20);
    ASSERT_TRUE(judged) << judged.error().message;
    EXPECT_EQ(judged->verdict.code(), found->expected) << name << ' ' << judged->verdict.evidence.dump();
  };
  for (const char* name : {"plain_nn", "printed_nn_03"}) judge(make_honest_kernels(), name);
  for (const char* name : {"k_tail_1", "f16_inputs_unless_alpha_is_binary", "alpha_zero_still_multiplies",
                           "k_zero_forgets_c", "n_tail_when_n_mod_16_is_11", "needs_its_items_in_order",
                           "tile_duplicated", "a_offset_in_int", "printed_bf16_partials"})
    judge(make_mutants(), name);
}

}  // namespace
}  // namespace kw
