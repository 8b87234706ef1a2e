// Space of gemm_cpu: keys <-> schedules, search, features. The list of legal schedules is made once, when
// first asked for, and kept: up to some 100,000 small structs. Thread-safe. Knows no other family.
#include "schedule/gemm_cpu_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>

#include "base/check.h"
#include "schedule/gemm_cpu.h"

namespace kw {
namespace {

constexpr double kMaxElements = int64_t{1}
                                << 50;  // of a matrix; sizes in bytes and their sums then fit 64 bits

class GemmCpuSpace : public Space {
 public:
  GemmCpuSpace(const Problem& problem, const DeviceFacts& device) : problem_(problem), device_(device) {}

  std::string_view family() const override { return "gemm_cpu"; }

  std::optional<std::string> find_illegality(std::string_view key) const override {
    const auto schedule = parse_gemm_cpu(key);
    if (!schedule) return schedule.error().message;
    return find_gemm_cpu_illegality(*schedule, problem_, device_);
  }

  std::string draw(Random& random) const override {
    const auto& legal = all();
    return print_gemm_cpu(legal[random.below(legal.size())]);
  }
  std::string mutate(std::string_view key, Random& random) const override {
    return print_gemm_cpu(mutate_gemm_cpu(get(key), problem_, device_, random));
  }
  std::string cross(std::string_view a, std::string_view b, Random& random) const override {
    return print_gemm_cpu(cross_gemm_cpu(get(a), get(b), problem_, device_, random));
  }

  // Evenly spread over the whole list when it is longer than `most`.
  std::vector<std::string> enumerate(size_t most) const override {
    const auto& legal = all();
    const size_t count = std::min(most, legal.size());
    std::vector<std::string> keys;
    keys.reserve(count);
    for (size_t i = 0; i < count; ++i) keys.push_back(print_gemm_cpu(legal[i * legal.size() / count]));
    return keys;
  }

  double predict_us(std::string_view key) const override {
    return predict_gemm_cpu_us(get(key), problem_, device_);
  }

  std::vector<std::string> rank(size_t most) const override {
    const auto& legal = all();
    std::vector<std::pair<double, size_t>> order(legal.size());
    for (size_t i = 0; i < legal.size(); ++i)
      order[i] = {predict_gemm_cpu_us(legal[i], problem_, device_), i};
    const size_t count = std::min(most, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end());
    std::vector<std::string> keys;
    keys.reserve(count);
    for (size_t i = 0; i < count; ++i) keys.push_back(print_gemm_cpu(legal[order[i].second]));
    return keys;
  }

  std::string behaviour(std::string_view key) const override {
    const GemmCpuSchedule s = get(key);
    const double aspect = std::log2(static_cast<double>(s.width * s.column_unit()) / s.rows);
    const std::string_view shape = s.dot() ? "dot" : aspect >= 4 ? "wide" : aspect >= 1.5 ? "flat" : "square";
    const std::string_view packs = s.pack_a   ? (s.pack_b ? "pack_ab" : "pack_a")
                                   : s.pack_b ? "pack_b"
                                              : "direct";
    const std::string_view depth = s.kc == 0 ? "kall" : s.kc < 128 ? "kshort" : "kblock";
    return fmt::format("{}/{}/{}/{}", s.along_m() ? "m" : "n", shape, packs, depth);
  }

  std::vector<std::string> feature_names() const override {
    return {"avx512",      "along_m",    "dot",      "log_rows",     "log_width",  "sums",
            "log_unroll",  "pack_a",     "pack_b",   "log_mc",       "log_nc",     "log_kc",
            "block_order", "tile_order", "prefetch", "accumulators", "rows_waste", "columns_waste",
            "log_scratch", "log_panel",  "log_items"};
  }
  std::vector<double> features(std::string_view key) const override {
    const GemmCpuSchedule s = get(key);
    const TileView view = view_tile(problem_, s);
    const auto log = [](double value) { return std::log2(value + 1); };
    const auto block = [&](int64_t size, int64_t whole) {
      return log(static_cast<double>(size == 0 ? whole : size));
    };
    // Share of the register tile that the average tile leaves unused.
    const auto waste = [](double size, double tile) {
      return size <= 0 ? 0.0 : 1 - size / (std::ceil(size / tile) * tile);
    };
    const double panel = static_cast<double>(s.width * s.column_unit() * (s.kc == 0 ? view.depth : s.kc));
    return {s.avx512 ? 1.0 : 0.0,
            s.along_m() ? 1.0 : 0.0,
            s.dot() ? 1.0 : 0.0,
            log(s.rows),
            log(static_cast<double>(s.width)),
            static_cast<double>(s.sums),
            log(s.unroll),
            s.pack_a ? 1.0 : 0.0,
            s.pack_b ? 1.0 : 0.0,
            block(s.mc, problem_.m),
            block(s.nc, problem_.n),
            block(s.kc, problem_.k),
            s.blocks_by_rows ? 1.0 : 0.0,
            s.tiles_by_rows ? 1.0 : 0.0,
            log(s.prefetch),
            static_cast<double>(s.rows * s.width * s.sums),
            waste(static_cast<double>(view.rows), s.rows),
            waste(static_cast<double>(view.columns), static_cast<double>(s.width * s.column_unit())),
            log(static_cast<double>(gemm_cpu_scratch_floats(s, view))),
            log(panel),
            log(s.split_m * s.split_n * s.split_k)};
  }

  std::vector<int64_t> tile(std::string_view key) const override {
    const GemmCpuSchedule s = get(key);
    const int64_t columns = s.width * s.column_unit();
    const int64_t depth = std::max<int64_t>(s.unroll, s.dot() ? s.lanes() : 4);
    if (s.along_m()) return {columns, s.rows, depth};
    return {s.rows, columns, depth};
  }

 private:
  static GemmCpuSchedule get(std::string_view key) {
    const auto schedule = parse_gemm_cpu(key);
    KW_CHECK(schedule, "schedule {}", key);
    return *schedule;
  }
  const std::vector<GemmCpuSchedule>& all() const {
    std::call_once(listed_, [this] { legal_ = enumerate_gemm_cpu(problem_, device_); });
    KW_CHECK(!legal_.empty(), "no legal schedule for {}", print_problem(problem_));
    return legal_;
  }

  Problem problem_;
  DeviceFacts device_;
  mutable std::once_flag listed_;
  mutable std::vector<GemmCpuSchedule> legal_;
};

}  // namespace

std::unique_ptr<Space> make_gemm_cpu_space(const Problem& problem, const DeviceFacts& device) {
  return std::make_unique<GemmCpuSpace>(problem, device);
}

std::optional<std::string> find_gemm_cpu_refusal(const Problem& problem, const DeviceFacts& device) {
  if (problem.op != "gemm") return fmt::format("gemm_cpu computes gemm, not {}", problem.op);
  if (problem.dtype != Dtype::kF32)
    return fmt::format("gemm_cpu computes f32, not {}", print_dtype(problem.dtype));
  if (device.isa != "avx512" && device.isa != "avx2")
    return fmt::format("gemm_cpu needs a CPU with AVX2 or AVX-512; this one has {}", device.isa);
  const auto elements = [](int64_t rows, int64_t cols) {
    return static_cast<double>(rows) * static_cast<double>(cols);
  };
  const double largest = std::max(
      {elements(problem.m, problem.n), elements(problem.m, problem.k), elements(problem.n, problem.k)});
  if (!(largest <= kMaxElements))
    return fmt::format("gemm_cpu computes matrices of at most 2^50 elements, not {:.3g}", largest);
  return std::nullopt;
}

}  // namespace kw
