// Prints gemm_cpu kernels: the schedule's constants, the pieces of device/ it needs, its block loops and the
// entry.
#include "emit/gemm_cpu.h"

#include <fmt/format.h>

#include "base/check.h"
#include "emit/device_text.h"

namespace kw {
namespace {

std::string print_flag(bool value) { return value ? "true" : "false"; }

// "// kernel ... " and the constants that the pasted pieces read.
std::string print_constants(const GemmCpuSchedule& s, const TileView& view, Layout layout) {
  return fmt::format(
      "// gemm f32 {}: {}\n"
      "// C = alpha * op(A) * op(B) + beta * C for any m, n, k, strides and scalars.\n"
      "{}\n"
      "constexpr bool kDot = {};            // vectors along k, else along {}\n"
      "constexpr bool kTransposed = {};     // Y = {}, X = {}\n"
      "constexpr int kRows = {};            // tile: rows of Y\n"
      "constexpr int kWidth = {};           // tile: {} of X\n"
      "constexpr int kSums = {};            // independent partial sums over k\n"
      "constexpr int kUnroll = {};          // steps of k in one round\n"
      "constexpr bool kPrefetchY = {};      // touch the next tile's Y, unless packed\n"
      "constexpr bool kPrefetchX = {};      // touch the next tile's X, unless packed\n"
      "constexpr bool kPrefetchC = {};      // touch the tile's output first\n"
      "constexpr bool kYDepthFirst = {};    // Y stored (rows, k)\n"
      "constexpr bool kXDepthFirst = {};    // X stored (columns, k)\n"
      "constexpr bool kPackY = {};\n"
      "constexpr bool kPackX = {};\n"
      "constexpr bool kColumnsOutside = {};  // order of the tile loops in a block\n\n",
      print_layout(layout), print_gemm_cpu(s), get_device_text("cpu_abi.h"), print_flag(s.dot()),
      s.along_m() ? "m" : "n", print_flag(s.along_m()), s.along_m() ? "B" : "A", s.along_m() ? "A" : "B",
      s.rows, s.width, s.dot() ? "columns" : "vectors", s.sums, s.unroll, print_flag(s.prefetch & 1),
      print_flag(s.prefetch & 2), print_flag(s.prefetch & 4), print_flag(view.y_depth_first),
      print_flag(view.x_depth_first), print_flag(s.pack_y()), print_flag(s.pack_x()),
      print_flag(!s.tiles_by_rows));
}

std::string print_pieces(const GemmCpuSchedule& s) {
  std::string text;
  const auto paste = [&text](std::string_view file) { text += fmt::format("{}\n", get_device_text(file)); };
  paste(s.avx512 ? "cpu_vec_avx512.h" : "cpu_vec_avx2.h");
  paste("cpu_quads.h");
  const bool packs = s.pack_a || s.pack_b;
  if (packs) paste(s.dot() ? "cpu_pack_dot.h" : "cpu_pack_outer.h");
  paste(s.dot() ? "cpu_dot.h" : "cpu_outer.h");
  paste("cpu_loops.h");
  if (packs) paste(s.dot() ? "cpu_pack_dot_blocks.h" : "cpu_pack_outer_blocks.h");
  return text;
}

// One loop over cache blocks, or the whole part where the schedule has no block.
std::string print_block_loop(std::string_view indent, std::string_view part, std::string_view name,
                             int64_t block) {
  if (block == 0) return fmt::format("{0}{{\n{0}  const Part {2} = {1};\n", indent, part, name);
  return fmt::format(
      "{0}for (long at = {1}.begin; at < {1}.end; at += {3}) {{\n{0}  const Part {2}{{at, min_of(at + {3}, "
      "{1}.end)}};\n",
      indent, part, name, block);
}

// run_part: the cache blocks of one work item.
std::string print_block_loops(const GemmCpuSchedule& s) {
  const bool y_first = s.blocks_by_rows;
  std::string text =
      "// Cache blocks of one work item.\n"
      "static void run_part(const Product& g, Part rows, Part cols, Part depth, float* pack_y, float* "
      "pack_x) {\n";
  const std::string rows = print_block_loop(y_first ? "  " : "      ", "rows", "row_block", s.row_block());
  const std::string columns =
      print_block_loop(y_first ? "      " : "  ", "cols", "column_block", s.column_block());
  const std::string pack_y = s.pack_y() ? "pack_y_block(g, row_block, depth_block.begin, k, pack_y);\n" : "";
  const std::string pack_x =
      s.pack_x() ? "pack_x_block(g, column_block, depth_block.begin, k, pack_x);\n" : "";
  const auto indented = [](std::string_view indent, const std::string& line) {
    return line.empty() ? "" : fmt::format("{}{}", indent, line);
  };
  text += y_first ? rows : columns;
  text += print_block_loop("    ", "depth", "depth_block", s.kc);
  text += "      const long k = depth_block.end - depth_block.begin;\n";
  text += "      const float beta = depth_block.begin == depth.begin ? g.beta : 1;\n";
  text += indented("      ", y_first ? pack_y : pack_x);
  text += y_first ? columns : rows;
  text += indented("        ", y_first ? pack_x : pack_y);
  text += "        run_block(g, pack_y, pack_x, row_block, column_block, depth_block.begin, k, beta);\n";
  text += "      }\n    }\n  }\n}\n\n";
  return text;
}

// Number of floats that the packed Y takes in front of the packed X, in the kernel's own variables.
std::string print_pack_y_floats(const GemmCpuSchedule& s) {
  const std::string k = s.kc == 0 ? "g.k" : fmt::format("min_of({}, g.k)", s.kc);
  const std::string rows = s.row_block() == 0 ? "g.m" : fmt::format("min_of({}, g.m)", s.row_block());
  return s.dot() ? fmt::format("{} * (({} + 15) / 16 * 16 + 16)", rows, k)
                 : fmt::format("(({} * {} + 15) / 16 * 16)", rows, k);
}

// Sizes and operands as the tile sees them.
std::string print_product(const GemmCpuSchedule& s) {
  const bool t = s.along_m();
  return fmt::format(
      "static Product make_product(const kw_call* call) {{\n"
      "  const long long* size = call->size;  // m, n, k, lda, ldb, ldc\n"
      "  Product g;\n"
      "  g.y = (const float*)call->operand[{}];\n"
      "  g.x = (const float*)call->operand[{}];\n"
      "  g.c = (float*)call->operand[2];\n"
      "  g.y_ld = size[{}];\n"
      "  g.x_ld = size[{}];\n"
      "  g.c_ld = size[5];\n"
      "  g.m = size[{}];\n"
      "  g.n = size[{}];\n"
      "  g.k = size[2];\n"
      "  g.alpha = (float)call->scalar[0];\n"
      "  g.beta = (float)call->scalar[1];\n"
      "  return g;\n"
      "}}\n\n",
      t ? 1 : 0, t ? 0 : 1, t ? 4 : 3, t ? 3 : 4, t ? 1 : 0, t ? 0 : 1);
}

// Rows, columns and depth of one work item; the product is cut into whole tiles.
std::string print_parts(const GemmCpuSchedule& s) {
  const int rows = s.along_m() ? s.split_n : s.split_m, columns = s.along_m() ? s.split_m : s.split_n;
  if (rows * columns * s.split_k == 1) return "  const Part rows{0, g.m}, cols{0, g.n}, depth{0, g.k};\n";
  return fmt::format(
      "  const Part rows = share(g.m, {0}, item % {0}, kRows);\n"
      "  const Part cols = share(g.n, {1}, item / {0} % {1}, kUnit);\n"
      "  const Part depth = share(g.k, {2}, item / {3}, 16);\n"
      "  if (rows.begin == rows.end || cols.begin == cols.end) return;\n",
      rows, columns, s.split_k, rows * columns);
}

constexpr std::string_view kShareText =
    "// Part `index` of `parts` of [0, size), in multiples of `unit`; may be empty.\n"
    "static inline Part share(long size, long parts, long index, long unit) {\n"
    "  const long each = ((size + parts - 1) / parts + unit - 1) / unit * unit;\n"
    "  return Part{min_of(index * each, size), min_of((index + 1) * each, size)};\n"
    "}\n\n";

constexpr std::string_view kEntryHead =
    "extern \"C\" __attribute__((visibility(\"default\"))) void {}(long long item, const kw_call* call) {{\n";

std::string print_pack_pointers(const GemmCpuSchedule& s) {
  if (!s.pack_y() && !s.pack_x()) return "  float *const pack_y = nullptr, *const pack_x = nullptr;\n";
  return fmt::format("  float* const pack_y = (float*)call->scratch;\n  float* const pack_x = pack_y + {};\n",
                     s.pack_y() && s.pack_x() ? print_pack_y_floats(s) : "0");
}

std::string print_entry(const GemmCpuSchedule& s) {
  std::string text = print_product(s);
  if (s.split_m * s.split_n * s.split_k > 1) text += kShareText;
  text += fmt::format(kEntryHead, "gemm_cpu");
  if (s.split_m * s.split_n * s.split_k == 1) text += "  (void)item;\n";
  text += "  const Product g = make_product(call);\n" + print_parts(s);
  text += "  if (g.k == 0 || g.alpha == 0) return scale(g, rows, cols);\n" + print_pack_pointers(s);
  text += "  run_part(g, rows, cols, depth, pack_y, pack_x);\n}\n";
  return text;
}

// Split-k: items leave partial products in the workspace, a second kernel adds them in fixed order.
std::string print_split_k_entries(const GemmCpuSchedule& s) {
  std::string text = print_product(s) + std::string(kShareText) + fmt::format(kEntryHead, "gemm_cpu");
  text += "  Product g = make_product(call);\n  if (g.k == 0 || g.alpha == 0) return;\n" + print_parts(s);
  text += fmt::format(
      "  g.c_ld = call->size[1];\n"
      "  g.c = (float*)call->workspace + item / {} * g.m * g.n;  // ({}, m, n) partial products\n"
      "  g.alpha = 1;\n"
      "  g.beta = 0;\n"
      "  if (depth.begin == depth.end) return scale(g, rows, cols);\n",
      s.split_m * s.split_n, s.split_k);
  text += print_pack_pointers(s) + "  run_part(g, rows, cols, depth, pack_y, pack_x);\n}\n\n";
  text += fmt::format(kEntryHead, "gemm_cpu_reduce");
  text += fmt::format(
      "  const Product g = make_product(call);\n"
      "  const long m = call->size[0], n = call->size[1];\n"
      "  const Part rows = share(m, {0}, item, 1);\n"
      "  const float* partial = (const float*)call->workspace;  // ({1}, m, n)\n"
      "  const bool summed = g.k != 0 && g.alpha != 0;\n"
      "  for (long i = rows.begin; i < rows.end; ++i)\n"
      "    for (long j = 0; j < n; ++j) {{\n"
      "      float sum = 0;\n"
      "      for (long part = 0; summed && part < {1}; ++part) sum += partial[(part * m + i) * n + j];\n"
      "      float* at = g.c + i * g.c_ld + j;\n"
      "      *at = summed ? (g.beta != 0 ? g.alpha * sum + g.beta * *at : g.alpha * sum) : g.beta != 0 ? "
      "g.beta * *at : 0;\n"
      "    }}\n}}\n",
      s.split_m * s.split_n * s.split_k, s.split_k);
  return text;
}

Expression make_expression(const std::string& text) {
  auto expression = Expression::parse(text);
  KW_CHECK(expression, "launch expression {}: {}", text, expression.error().message);
  return *expression;
}

// Bytes of packed blocks as the launch record's arithmetic; the same as gemm_cpu_scratch_floats.
std::string print_scratch_bytes(const GemmCpuSchedule& s) {
  const auto part = [](int64_t block, std::string_view size) {
    return block == 0 ? std::string(size) : fmt::format("min({}, {})", block, size);
  };
  const std::string k = part(s.kc, "k"), depth = s.dot() ? fmt::format("(ceil_div({}, 16) * 16 + 16)", k) : k;
  const std::string rows = part(s.row_block(), s.along_m() ? "n" : "m");
  const std::string columns = part(s.column_block(), s.along_m() ? "m" : "n");
  std::string text = "0";
  if (s.pack_y()) text += fmt::format(" + 4 * {} * {} + 64", rows, depth);
  if (s.pack_x())
    text += fmt::format(" + 4 * ceil_div({0}, {1}) * {1} * {2}", columns, s.column_unit(), depth);
  return text;
}

LaunchRecord make_launch(const GemmCpuSchedule& s, Layout layout) {
  LaunchRecord launch;
  launch.layout = layout;
  launch.isa = s.avx512 ? "avx512" : "avx2";
  const std::string items = fmt::format("min(m, 1) * min(n, 1) * {}", s.split_m * s.split_n * s.split_k);
  launch.kernels.push_back({"gemm_cpu", make_expression(items)});
  if (s.split_k > 1) {
    launch.kernels.push_back({"gemm_cpu_reduce", make_expression(items)});
    launch.workspace_bytes = make_expression(fmt::format("4 * {} * m * n", s.split_k));
  }
  launch.scratch_bytes = make_expression(print_scratch_bytes(s));
  return launch;
}

}  // namespace

Source print_gemm_cpu_kernel(const GemmCpuSchedule& s, Layout layout) {
  Problem any;
  any.layout = layout;
  const TileView view = view_tile(any, s);
  KW_CHECK(s.dot() || !view.x_depth_first || s.pack_x(), "schedule {} cannot read X of layout {}",
           print_gemm_cpu(s), print_layout(layout));
  Source source;
  source.text = print_constants(s, view, layout) + print_pieces(s) + print_block_loops(s) +
                (s.split_k > 1 ? print_split_k_entries(s) : print_entry(s));
  source.name = fmt::format("gemm_{}_{}_{}x{}{}", print_layout(layout), s.avx512 ? "avx512" : "avx2", s.rows,
                            s.width * s.column_unit(),
                            s.dot()       ? "_dot"
                            : s.along_m() ? "_along_m"
                                          : "");
  source.launch = make_launch(s, layout);
  source.flags = get_cpu_flags(s.avx512);
  return source;
}

std::vector<std::string> get_cpu_flags(bool avx512) {
  if (!avx512) return {"-mavx2", "-mfma", "-ffp-contract=fast"};
  return {"-mavx512f",
          "-mavx512vl",
          "-mavx512bw",
          "-mavx512dq",
          "-mavx2",
          "-mfma",
          "-mprefer-vector-width=512",
          "-ffp-contract=fast"};
}

}  // namespace kw
