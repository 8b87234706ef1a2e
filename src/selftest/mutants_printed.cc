// Mutants of our own family: changes to the texts that gemm_cpu prints for a few schedules, at the places
// where such kernels go wrong: remainders, masks, packed panels, split-k, blocks of k, edge tiles.
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "selftest/mutants.h"
#include "selftest/printed.h"

namespace kw {
namespace {

constexpr const char* kPlain = "avx2 outer_n r4 v2 s1 u4 pa0 pb0 mcall ncall kcall bx tx pf0 tm1 tn1 tk1";
constexpr const char* kPacked = "avx2 outer_n r6 v2 s1 u2 pa1 pb1 mc24 nc32 kc32 bx tx pf0 tm1 tn1 tk1";
constexpr const char* kPackedTall =
    "avx2 outer_n r12 v1 s1 u2 pa1 pb1 mcall ncall kcall bx tx pf0 tm1 tn1 tk1";
constexpr const char* kPackedParts =
    "avx2 outer_n r6 v2 s1 u2 pa1 pb1 mcall ncall kcall bx tx pf0 tm2 tn2 tk1";
constexpr const char* kTwoSums = "avx2 outer_n r2 v2 s2 u4 pa0 pb0 mcall ncall kcall bx tx pf0 tm1 tn1 tk1";
constexpr const char* kParts = "avx2 outer_n r4 v2 s1 u2 pa0 pb0 mcall ncall kcall bx tx pf0 tm2 tn2 tk1";
constexpr const char* kSplitK = "avx2 outer_n r4 v2 s1 u2 pa0 pb0 mcall ncall kcall bx tx pf0 tm1 tn1 tk4";
constexpr const char* kAlongM = "avx2 outer_m r4 v2 s1 u4 pa0 pb0 mcall ncall kcall bx tx pf0 tm1 tn1 tk1";
constexpr const char* kDot = "avx2 dot r4 v2 s1 u1 pa0 pb0 mcall ncall kcall bx tx pf0 tm1 tn1 tk1";
constexpr const char* kDotPacked = "avx2 dot r4 v2 s1 u2 pa1 pb0 mcall ncall kcall bx tx pf0 tm1 tn1 tk1";

struct PrintedMutant {
  std::string name, expected;
  const char* schedule;
  Layout layout;
  std::vector<Edit> edits;
  std::string workspace_bytes = "", items = "";  // empty: as printed
  int threads = 1;
};

constexpr const char* kWhole = "const Part rows{0, g.m}, cols{0, g.n}, depth{0, g.k};";
constexpr const char* kRemainder = "for (; kSteps > 1 && step < k; ++step) {";
constexpr const char* kEdge = "const edge e = make_edge(lanes);";
constexpr const char* kRowTiles = "for (long i = rows.begin, height; i < rows.end; i += height) {";
constexpr const char* kScaled = "vec sum = alpha * acc[r][v];";
constexpr const char* kEdgeC = "if (beta != 0) sum += beta * load_edge(at, e);";
constexpr const char* kTileY = "y_at(g, i, p0);\n  t.x";
constexpr const char* kTileX = "x_at(g, p0, j);";
constexpr const char* kJoinSums = "for (int s = 1; s < kSums; ++s)";
constexpr const char* kBlockBeta = "const float beta = depth_block.begin == depth.begin ? g.beta : 1;";
constexpr const char* kBlockDepth = "const long k = depth_block.end - depth_block.begin;";
constexpr const char* kAddPartial = "sum += partial[(part * m + i) * n + j];";
constexpr const char* kMakeProduct = "static Product make_product(";

constexpr const char* kRoundToBf16 = R"(
static float round_to_bf16(float x) {
  unsigned u;
  __builtin_memcpy(&u, &x, 4);
  if ((u & 0x7f800000u) == 0x7f800000u) return x;
  u = (u + 0x7fffu + (u >> 16 & 1u)) & 0xffff0000u;
  __builtin_memcpy(&x, &u, 4);
  return x;
}
)";

std::vector<PrintedMutant> list_remainders() {
  return {
      {"printed_k_remainder", "wrong_result/k_tail", kPlain, Layout::kNN, {{kRemainder, "while (false) {"}}},
      {"printed_k_remainder_tn",
       "wrong_result/k_tail",
       kPlain,
       Layout::kTN,
       {{kRemainder, "while (false) {"}}},
      {"printed_k_remainder_along_m",
       "wrong_result/k_tail",
       kAlongM,
       Layout::kTT,
       {{kRemainder, "while (false) {"}}},
      {"printed_dot_k_edge",
       "wrong_result/k_tail",
       kDot,
       Layout::kNT,
       {{"if (k > 0) dot_step<R, V, true>(acc[0], y, y_ld, x, x_ld, make_edge(k));", ""}}},
      {"printed_dot_k_edge_tt",
       "wrong_result/k_tail",
       kDotPacked,
       Layout::kTT,
       {{"if (k > 0) dot_step<R, V, true>(acc[0], y, y_ld, x, x_ld, make_edge(k));",
         "if (k > 0 && k % 2 == 0) dot_step<R, V, true>(acc[0], y, y_ld, x, x_ld, make_edge(k));"}}},
      {"printed_dot_lanes",
       "wrong_result/k_gap",
       kDot,
       Layout::kNT,
       {{"fold(low_halves(ab, cd) + high_halves(ab, cd))", "fold(low_halves(ab, cd))"}}},
      {"printed_sums_not_joined",
       "wrong_result/k_gap",
       kTwoSums,
       Layout::kNN,
       {{kJoinSums, "for (int s = 1; s < 1; ++s)"}}},
      {"printed_last_row_block",
       "wrong_result/m_tail",
       kPlain,
       Layout::kNN,
       {{kRowTiles, "for (long i = rows.begin, height; i + kRows <= rows.end; i += height) {"}}},
      {"printed_part_rounded_down",
       "wrong_result/n_tail",
       kParts,
       Layout::kNN,
       {{"((size + parts - 1) / parts + unit - 1)", "(size / parts + unit - 1)"}}},
      {"printed_last_column_of_edge",
       "wrong_result/n_tail",
       kPlain,
       Layout::kNN,
       {{kEdge, "const edge e = make_edge(lanes < kLanes ? lanes - 1 : lanes);"}}},
      {"printed_n_mod_16_is_11",
       "wrong_result/n_tail",
       kPlain,
       Layout::kTN,
       {{kWhole, "const Part rows{0, g.m}, cols{0, g.n % 16 == 11 ? g.n - 1 : g.n}, depth{0, g.k};"}}},
      {"printed_m_mod_16_is_8",
       "wrong_result/m_tail",
       kDot,
       Layout::kNT,
       {{kWhole, "const Part rows{0, g.m % 16 == 8 ? g.m - 8 : g.m}, cols{0, g.n}, depth{0, g.k};"}}},
      {"printed_block_one_short",
       "wrong_result/k_gap",
       kPacked,
       Layout::kNN,
       {{kBlockDepth,
         "const long k = depth_block.end - depth_block.begin - (depth_block.end < depth.end ? 1 : 0);"}}},
      {"printed_blocks_overwrite",
       "wrong_result/k_head",
       kPacked,
       Layout::kNT,
       {{kBlockBeta, "const float beta = g.beta;"}}},
  };
}

std::vector<PrintedMutant> list_places() {
  return {
      {"printed_swapped_accumulators",
       "wrong_result/swapped_tile",
       kPlain,
       Layout::kNN,
       {{kScaled, "vec sum = alpha * acc[(r ^ 1) < R ? r ^ 1 : r][v];"}}},
      {"printed_duplicated_columns",
       "wrong_result/duplicated",
       kPlain,
       Layout::kNN,
       {{kTileX, "x_at(g, p0, j == cols.begin + kWidth * kUnit ? cols.begin : j);"}}},
      {"printed_duplicated_rows",
       "wrong_result/duplicated",
       kDot,
       Layout::kNT,
       {{kTileY, "y_at(g, i == rows.begin + kRows ? rows.begin : i, p0);\n  t.x"}}},
      {"printed_packed_x_one_off",
       "wrong_result/shifted",
       kPacked,
       Layout::kNN,
       {{"pack_x + (j - cols.begin) * depth", "pack_x - 1 + (j - cols.begin) * depth"}}},
      {"printed_packed_y_one_off",
       "wrong_result/shifted",
       kPackedTall,
       Layout::kTT,
       {{"pack_y + (i - rows.begin) * depth",
         "pack_y - (i > rows.begin ? 1 : 0) + (i - rows.begin) * depth"}}},
      {"printed_wrong_ld",
       "wrong_result/wrong_ld_a",
       kPlain,
       Layout::kNN,
       {{"g.y_ld = size[3];", "g.y_ld = size[2];"}}},
      {"printed_ld_of_the_other",
       "wrong_result/wrong_ld_b",
       kPlain,
       Layout::kNN,
       {{"t.x_ld = kPackX && kDot ? depth : g.x_ld;",
         "t.x_ld = kPackX && kDot ? depth : min_of(g.x_ld, g.y_ld);"}}},
      {"printed_reads_past_a",
       "out_of_bounds/past_a",
       kPlain,
       Layout::kNN,
       {{"#pragma GCC unroll 4\n  for (int s = 1; s < kSums; ++s)",
         "(void)*(volatile const float*)(y + (R - 1) * y_ld);\n#pragma GCC unroll 4\n  for (int s = 1; s < "
         "kSums; ++s)"}}},
      {"printed_no_edge_mask",
       "out_of_bounds/write_past_c",
       kPlain,
       Layout::kNN,
       {{kEdge, "const edge e = make_edge(kLanes);"}}},
      {"printed_no_edge_mask_on_loads",
       "out_of_bounds/past_b",
       kPlain,
       Layout::kTN,
       {{"kPackX || v < V - 1 ? load(x + v * kLanes) : load_edge(x + v * kLanes, e)",
         "*(volatile const vec_anywhere*)(x + v * kLanes)"}}},
      {"printed_writes_past_c",
       "out_of_bounds/write_past_c",
       kPlain,
       Layout::kNN,
       {{"store_edge(at, sum, e);", "store_edge(at, sum, e), at[kLanes] = 0;"}}},
  };
}

std::vector<PrintedMutant> list_index() {
  return {
      {"printed_y_offset_in_int",
       "out_of_bounds/index_32_bits",
       kPlain,
       Layout::kNN,
       {{"g.y + (kYDepthFirst ? i * g.y_ld + p : p * g.y_ld + i)",
         "g.y + (int)(kYDepthFirst ? i * g.y_ld + p : p * g.y_ld + i)"}}},
      {"printed_x_offset_in_int",
       "out_of_bounds/index_32_bits",
       kDot,
       Layout::kNT,
       {{"g.x + (kXDepthFirst ? j * g.x_ld + p : p * g.x_ld + j)",
         "g.x + (int)(kXDepthFirst ? j * g.x_ld + p : p * g.x_ld + j)"}}},
      {"printed_c_stride_in_int",
       "out_of_bounds/index_32_bits",
       kAlongM,
       Layout::kTN,
       {{"g.c_ld = size[5];", "g.c_ld = (int)size[5];"}}},
      {"printed_sizes_in_int",
       "out_of_bounds/index_32_bits",
       kPacked,
       Layout::kTT,
       {{"long y_ld, x_ld, c_ld;\n  long m", "int y_ld, x_ld, c_ld;\n  long m"}}},
  };
}

std::vector<PrintedMutant> list_numbers() {
  return {
      {"printed_beta_ignored_on_edge", "wrong_result/beta_ignored", kPlain, Layout::kNN, {{kEdgeC, ""}}},
      {"printed_beta_zero_reads_c_on_edge",
       "wrong_result/reads_c",
       kPlain,
       Layout::kNN,
       {{kEdgeC, "sum += beta * load_edge(at, e);"}}},
      {"printed_first_block_adds_c",
       "wrong_result/reads_c",
       kPacked,
       Layout::kTN,
       {{kBlockBeta, "const float beta = 1;"}}},
      {"printed_alpha_twice",
       "wrong_result/alpha",
       kPlain,
       Layout::kTN,
       {{kScaled, "vec sum = alpha * alpha * acc[r][v];"}}},
      {"printed_alpha_in_part_and_join",
       "wrong_result/alpha",
       kSplitK,
       Layout::kNN,
       {{"  g.alpha = 1;\n", ""}}},
      {"printed_alpha_zero_multiplies",
       "wrong_result/alpha_zero",
       kPlain,
       Layout::kNN,
       {{"g.k == 0 || g.alpha == 0", "g.k == 0"}}},
      {"printed_k_zero_returns",
       "wrong_result/unwritten",
       kPlain,
       Layout::kNN,
       {{"if (g.k == 0 || g.alpha == 0) return scale",
         "if (g.k == 0) return; if (g.alpha == 0) return scale"}}},
      {"printed_bf16_b",
       "precision_downgrade/bf16_inputs",
       kPlain,
       Layout::kNN,
       {{"acc[r][v] += s * b[v];", "acc[r][v] += s * (vec)((edge)b[v] & -65536);"}}},
      {"printed_bf16_inputs",
       "precision_downgrade/bf16_inputs",
       kPlain,
       Layout::kNN,
       {{"acc[r][v] += s * b[v];",
         "acc[r][v] += (vec)((edge)(s + vec{}) & -65536) * (vec)((edge)b[v] & -65536);"}}},
      {"printed_bf16_partials",
       "precision_downgrade/bf16_partials",
       kSplitK,
       Layout::kNN,
       {{kAddPartial, "sum += round_to_bf16(partial[(part * m + i) * n + j]);"},
        {kMakeProduct, std::string(kRoundToBf16) + kMakeProduct}}},
  };
}

std::vector<PrintedMutant> list_memory() {
  return {
      {"printed_last_partial_lost",
       "wrong_result/k_tail",
       kSplitK,
       Layout::kNN,
       {{"summed && part < 4", "summed && part < 3"}}},
      {"printed_first_partial_lost",
       "wrong_result/k_head",
       kSplitK,
       Layout::kTN,
       {{"long part = 0; summed", "long part = 1; summed"}}},
      {"printed_partial_not_cleared",
       "wrong_result/uninitialised_workspace",
       kSplitK,
       Layout::kNN,
       {{"g.beta = 0;", "g.beta = 1;"}}},
      {"printed_wrong_on_the_11th_call",
       "wrong_result/later_call",
       kPlain,
       Layout::kNN,
       {{"  const Product g = make_product(call);\n",
         "  Product g = make_product(call);\n  unsigned* calls = (unsigned*)call->workspace;\n"
         "  if (calls[0] != 0xabcd1234u) calls[0] = 0xabcd1234u, calls[1] = 0;\n"
         "  if (++calls[1] == 11) g.alpha = 2 * g.alpha + 1;\n"}},
       "64"},
      {"printed_k_halves_race_on_c",
       "race/between_items",
       kPlain,
       Layout::kNN,
       {{kWhole,
         "const Part rows{0, g.m}, cols{0, g.n}, depth{item == 0 ? 0 : g.k / 2, item == 0 ? g.k / 2 : g.k};"},
        {"|| g.alpha == 0) return", "|| g.alpha == 0) return item == 0 ?"},
        {"scale(g, rows, cols);\n", "scale(g, rows, cols) : (void)0;\n"},
        {kBlockBeta, "const float beta = depth_block.begin == 0 ? g.beta : 1;"}},
       "",
       "2",
       2},
      {"printed_packed_panels_shared",
       "race/between_items",
       kPackedParts,
       Layout::kNN,
       {{"(float*)call->scratch", "(float*)call->workspace"}},
       "4 * (m + 16) * (k + 16) + 4 * (k + 16) * (n + 16)",
       "",
       2},
  };
}

CorpusKernel make_mutant(const PrintedMutant& mutant) {
  CorpusKernel kernel = make_printed_kernel(mutant.name, mutant.schedule, mutant.layout);
  kernel.expected = mutant.expected;
  kernel.threads = mutant.threads;
  kernel.text = apply_edits(std::move(kernel.text), mutant.edits, mutant.name);
  const auto parse = [](const std::string& text) {
    auto expression = Expression::parse(text);
    KW_CHECK(expression, "{}", text);
    return *expression;
  };
  if (!mutant.workspace_bytes.empty()) kernel.launch->workspace_bytes = parse(mutant.workspace_bytes);
  if (!mutant.items.empty())
    for (KernelLaunch& launch : kernel.launch->kernels) launch.items = parse(mutant.items);
  return kernel;
}

}  // namespace

std::vector<CorpusKernel> make_printed_mutants() {
  std::vector<CorpusKernel> kernels;
  for (const auto& list : {list_remainders(), list_places(), list_index(), list_numbers(), list_memory()})
    for (const PrintedMutant& mutant : list) kernels.push_back(make_mutant(mutant));
  return kernels;
}

}  // namespace kw
