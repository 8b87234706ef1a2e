// Wrong elements explained by inner products that are missing or added twice: an interval of k, or the same
// places in every group of 2 to 64. See gemm_sample.h.
#include <algorithm>
#include <cmath>

#include "verify/gemm_sample.h"

namespace kw {
namespace {

constexpr int64_t kMaxInterval = 4096;  // k up to which every interval of products is tried
constexpr size_t kWholeGroups = 8;      // up to this size every range of places in a group is tried
constexpr size_t kLatestEnds = 16;      // a remainder loop may be right: groups end within so many of k

class ProductSearch {
 public:
  ProductSearch(const GemmCase& gemm, const std::vector<GemmSample>& samples)
      : gemm_(gemm), samples_(samples), k_(static_cast<size_t>(gemm.k)) {
    for (const GemmSample& sample : samples) {
      std::vector<double> sums{0};
      for (size_t p = 0; p < k_; ++p) sums.push_back(sums.back() + sample.a[p] * sample.b[p]);
      prefix_.push_back(std::move(sums));
    }
  }

  std::optional<Named> run() const {
    for (size_t first = k_; first-- > 1;)
      if (fits(first, k_, -1)) return name("k_tail", first, k_);
    for (size_t last = 1; last < k_; ++last)
      if (fits(0, last, -1)) return name("k_head", 0, last);
    const bool try_all = gemm_.k <= kMaxInterval;
    for (size_t first = 0; first < k_; ++first) {
      const size_t end = try_all ? k_ : std::min(k_, first + 64);
      for (size_t last = first + 1; last <= end; ++last) {
        if (fits(first, last, -1)) return name("k_gap", first, last);
        if (fits(first, last, 1)) return name("k_twice", first, last);
      }
    }
    for (const size_t group : {2, 4, 8, 16, 32, 64})
      if (auto named = find_group(group)) return named;
    return std::nullopt;
  }

 private:
  static Named name(const char* reason, size_t first, size_t last) {
    return {VerdictClass::kWrongResult, reason, {{"products", {first, last}}}};
  }

  bool is_change(size_t at, double sum) const {
    const double change = samples_[at].element.got - samples_[at].element.want;
    return std::fabs(change - gemm_.alpha * sum) <= samples_[at].tolerance;
  }

  // Products [first, last) missing (times = -1) or added twice (1).
  bool fits(size_t first, size_t last, double times) const {
    for (size_t at = 0; at < samples_.size(); ++at)
      if (!is_change(at, times * (prefix_[at][last] - prefix_[at][first]))) return false;
    return true;
  }

  // Places [first, last) of every group of `group` products missing, in each sample up to one of the last
  // ends.
  std::optional<Named> find_group(size_t group) const {
    if (group > k_) return std::nullopt;
    for (size_t first = 0; first < group; ++first) {
      const size_t last_end = group <= kWholeGroups ? group : first + 1;
      for (size_t last = first + 1; last <= last_end; ++last) {
        if (last - first == group || !fits_group(group, first, last)) continue;
        return Named{VerdictClass::kWrongResult, "k_gap", {{"of_every", group}, {"products", {first, last}}}};
      }
    }
    return std::nullopt;
  }

  bool fits_group(size_t group, size_t first, size_t last) const {
    for (size_t at = 0; at < samples_.size(); ++at) {
      double sum = 0;
      bool found = false;
      for (size_t p = 0; p < k_ && !found; ++p) {
        const size_t place = p % group;
        if (place >= first && place < last) sum -= samples_[at].a[p] * samples_[at].b[p];
        found = p + 1 + kLatestEnds > k_ && is_change(at, sum);
      }
      if (!found) return false;
    }
    return true;
  }

  const GemmCase& gemm_;
  const std::vector<GemmSample>& samples_;
  const size_t k_;
  std::vector<std::vector<double>> prefix_;  // per sample (k + 1)
};

}  // namespace

std::optional<Named> find_product_explanation(const GemmCase& gemm, const std::vector<GemmSample>& samples) {
  return ProductSearch(gemm, samples).run();
}

}  // namespace kw
