// Right kernels of our own family: schedules drawn once from the space of make_printed_problem and kept, so
// that the list is the same on every machine. They differ in packing, tiles, split-k, dot products, partial
// sums, blocks, orders, prefetches, work items. AVX-512 ones are skipped where there is none.
#include <fmt/format.h>

#include "selftest/honest.h"
#include "selftest/printed.h"

namespace kw {
namespace {

struct Drawn {
  Layout layout;
  const char* schedule;
};

constexpr Drawn kDrawn[] = {
    {Layout::kNN, "avx2 outer_n r5 v1 s2 u8 pa0 pb0 mcall nc64 kcall bx ty pf0 tm1 tn1 tk1"},
    {Layout::kNN, "avx2 outer_n r2 v2 s2 u2 pa0 pb0 mc128 nc128 kc8 by tx pf2 tm1 tn1 tk2"},
    {Layout::kNN, "avx2 outer_n r1 v3 s4 u4 pa0 pb1 mc128 nc192 kc8 by ty pf0 tm1 tn2 tk1"},
    {Layout::kNN, "avx2 outer_m r13 v1 s1 u4 pa1 pb1 mc64 nc128 kc512 bx ty pf0 tm2 tn1 tk1"},
    {Layout::kNN, "avx2 dot r6 v2 s1 u4 pa0 pb1 mc128 nc16 kc128 bx tx pf5 tm1 tn1 tk2"},
    {Layout::kNN, "avx2 outer_n r6 v1 s2 u2 pa1 pb0 mcall nc8 kc512 bx tx pf0 tm1 tn1 tk1"},
    {Layout::kNT, "avx2 outer_m r4 v2 s1 u8 pa1 pb0 mc16 nc128 kc256 by tx pf2 tm2 tn1 tk1"},
    {Layout::kNT, "avx2 dot r13 v1 s1 u4 pa0 pb0 mcall nc1 kcall bx ty pf1 tm2 tn1 tk1"},
    {Layout::kNT, "avx2 dot r2 v5 s1 u1 pa0 pb0 mcall nc40 kc128 bx ty pf5 tm2 tn1 tk1"},
    {Layout::kNT, "avx2 outer_n r2 v4 s1 u8 pa1 pb1 mc128 ncall kc512 by ty pf0 tm1 tn2 tk1"},
    {Layout::kNT, "avx2 outer_n r14 v1 s1 u1 pa0 pb1 mcall nc64 kc128 bx ty pf5 tm1 tn1 tk1"},
    {Layout::kTN, "avx2 outer_m r1 v4 s2 u4 pa0 pb1 mc32 nc128 kc8 bx ty pf0 tm1 tn1 tk2"},
    {Layout::kTN, "avx2 outer_n r3 v1 s4 u4 pa1 pb0 mc128 nc8 kc256 bx tx pf0 tm1 tn2 tk1"},
    {Layout::kTN, "avx2 outer_n r2 v1 s4 u8 pa1 pb0 mc128 ncall kc32 bx ty pf6 tm2 tn1 tk1"},
    {Layout::kTN, "avx2 dot r2 v4 s1 u1 pa1 pb1 mcall nc4 kcall bx tx pf0 tm1 tn1 tk2"},
    {Layout::kTT, "avx2 outer_m r12 v1 s1 u2 pa0 pb1 mc64 nc128 kc128 by ty pf6 tm2 tn1 tk1"},
    {Layout::kTT, "avx2 outer_m r5 v1 s2 u4 pa0 pb1 mc8 nc128 kc512 bx tx pf2 tm1 tn1 tk2"},
    {Layout::kTT, "avx2 dot r2 v5 s1 u2 pa1 pb0 mc128 ncall kc128 bx tx pf0 tm1 tn1 tk2"},
    {Layout::kTT, "avx2 outer_n r8 v1 s1 u4 pa1 pb1 mc128 nc8 kc128 by ty pf0 tm1 tn1 tk1"},
    {Layout::kTT, "avx2 outer_n r3 v3 s1 u2 pa0 pb1 mc128 nc24 kc128 by tx pf7 tm1 tn2 tk1"},
    {Layout::kNN, "avx512 outer_n r13 v2 s1 u4 pa1 pb0 mcall ncall kcall bx tx pf6 tm1 tn1 tk2"},
    {Layout::kNN, "avx512 outer_n r1 v5 s2 u8 pa0 pb1 mcall ncall kc8 bx ty pf1 tm1 tn1 tk2"},
    {Layout::kNN, "avx512 dot r13 v1 s1 u2 pa0 pb1 mc128 nc8 kc512 by ty pf1 tm2 tn1 tk1"},
    {Layout::kNT, "avx512 outer_m r13 v2 s1 u2 pa1 pb0 mc32 nc128 kcall by ty pf0 tm2 tn1 tk1"},
    {Layout::kNT, "avx512 dot r1 v6 s2 u2 pa0 pb0 mc128 nc48 kcall bx ty pf1 tm1 tn2 tk1"},
    {Layout::kNT, "avx512 outer_n r4 v4 s1 u4 pa1 pb1 mcall nc64 kcall bx tx pf6 tm1 tn2 tk1"},
    {Layout::kTN, "avx512 outer_m r9 v2 s1 u1 pa0 pb1 mc32 nc128 kc256 bx tx pf2 tm1 tn1 tk2"},
    {Layout::kTN, "avx512 outer_n r2 v4 s2 u4 pa0 pb0 mcall ncall kc256 bx tx pf1 tm1 tn1 tk2"},
    {Layout::kTT, "avx512 outer_m r28 v1 s1 u2 pa0 pb0 mc16 ncall kc128 bx ty pf0 tm1 tn1 tk1"},
    {Layout::kTT, "avx512 dot r7 v1 s2 u4 pa1 pb0 mcall nc1 kc256 bx ty pf0 tm1 tn2 tk1"},
};

}  // namespace

void add_printed(std::vector<CorpusKernel>& kernels) {
  int number = 0;
  for (const Drawn& drawn : kDrawn)
    kernels.push_back(make_printed_kernel(
        fmt::format("printed_{}_{:02}", print_layout(drawn.layout), ++number), drawn.schedule, drawn.layout));
}

}  // namespace kw
