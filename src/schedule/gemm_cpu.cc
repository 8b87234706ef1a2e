// The key of a GemmCpuSchedule and the problem as its tile sees it.
#include "schedule/gemm_cpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace kw {
namespace {

constexpr std::array<std::string_view, 3> kMicroNames = {"outer_n", "outer_m", "dot"};

std::string print_block(int64_t size) { return size == 0 ? "all" : fmt::format("{}", size); }

// Reads the key word by word; each word is a label followed by a number.
class KeyReader {
 public:
  explicit KeyReader(std::string_view text) : rest_(text) {}
  std::string_view word() {
    const size_t end = std::min(rest_.find(' '), rest_.size());
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return word;
  }
  template <class Number>
  bool read(std::string_view label, Number& value, bool may_be_all = false) {
    std::string_view text = word();
    if (!text.starts_with(label)) return false;
    text.remove_prefix(label.size());
    if (may_be_all && text == "all") {
      value = 0;
      return true;
    }
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
  }
  bool read(std::string_view label, bool& value) {
    int number = -1;
    const bool read_ok = read(label, number) && (number == 0 || number == 1);
    value = number == 1;
    return read_ok;
  }

 private:
  std::string_view rest_;
};

bool read_axis(std::string_view word, std::string_view x, std::string_view y, bool& value) {
  value = word == y;
  return word == x || word == y;
}

}  // namespace

TileView view_tile(const Problem& problem, const GemmCpuSchedule& schedule) {
  const bool a_depth_first = problem.layout == Layout::kNN || problem.layout == Layout::kNT;
  const bool b_depth_first = problem.layout == Layout::kNT || problem.layout == Layout::kTT;
  if (schedule.along_m())
    return {problem.n, problem.m, problem.k, problem.ldb, problem.lda, b_depth_first, a_depth_first};
  return {problem.m, problem.n, problem.k, problem.lda, problem.ldb, a_depth_first, b_depth_first};
}

std::string print_gemm_cpu(const GemmCpuSchedule& s) {
  return fmt::format("{} {} r{} v{} s{} u{} pa{} pb{} mc{} nc{} kc{} {} {} pf{} tm{} tn{} tk{}",
                     s.avx512 ? "avx512" : "avx2", kMicroNames[static_cast<size_t>(s.micro)], s.rows, s.width,
                     s.sums, s.unroll, s.pack_a ? 1 : 0, s.pack_b ? 1 : 0, print_block(s.mc),
                     print_block(s.nc), print_block(s.kc), s.blocks_by_rows ? "by" : "bx",
                     s.tiles_by_rows ? "ty" : "tx", s.prefetch, s.split_m, s.split_n, s.split_k);
}

Result<GemmCpuSchedule> parse_gemm_cpu(std::string_view key) {
  GemmCpuSchedule s;
  KeyReader reader(key);
  const std::string_view isa = reader.word(), micro = reader.word();
  s.avx512 = isa == "avx512";
  const auto found = std::find(kMicroNames.begin(), kMicroNames.end(), micro);
  if (found != kMicroNames.end()) s.micro = static_cast<Micro>(found - kMicroNames.begin());
  bool ok = found != kMicroNames.end() && reader.read("r", s.rows) && reader.read("v", s.width) &&
            reader.read("s", s.sums) && reader.read("u", s.unroll) && reader.read("pa", s.pack_a) &&
            reader.read("pb", s.pack_b) && reader.read("mc", s.mc, true) && reader.read("nc", s.nc, true) &&
            reader.read("kc", s.kc, true) && read_axis(reader.word(), "bx", "by", s.blocks_by_rows) &&
            read_axis(reader.word(), "tx", "ty", s.tiles_by_rows) && reader.read("pf", s.prefetch) &&
            reader.read("tm", s.split_m) && reader.read("tn", s.split_n) && reader.read("tk", s.split_k);
  ok = ok && print_gemm_cpu(s) == key;
  if (!ok) {
    return fail_user(
        "\"{}\" is not a gemm_cpu schedule; they look like \"{}\" (kernelwright ls prints the stored ones)",
        key, print_gemm_cpu(GemmCpuSchedule{}));
  }
  return s;
}

int64_t gemm_cpu_scratch_floats(const GemmCpuSchedule& s, const TileView& view) {
  const auto part = [](int64_t block, int64_t size) { return block == 0 ? size : std::min(block, size); };
  const int64_t unit = s.column_unit();
  const int64_t k = part(s.kc, view.depth);
  const int64_t depth = s.dot() ? (k + 15) / 16 * 16 + 16 : k;
  const int64_t columns = (part(s.column_block(), view.columns) + unit - 1) / unit * unit;
  return (s.pack_x() ? columns * depth : 0) + (s.pack_y() ? part(s.row_block(), view.rows) * depth : 0);
}

}  // namespace kw
