// Restriction of a space to given keys; see recorded_space.h.
#include "target/recorded_space.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/check.h"

namespace kw {
namespace {

constexpr double kNextNearest =
    0.4;  // chance to pass over a near row for the next one, so that offspring differ

class RecordedSpace : public Space {
 public:
  RecordedSpace(std::unique_ptr<Space> base, std::vector<std::string> keys)
      : base_(std::move(base)), keys_(std::move(keys)) {
    for (size_t row = 0; row < keys_.size(); ++row) row_of_.emplace(keys_[row], row);
    scale_features();
  }

  std::string_view family() const override { return base_->family(); }
  std::optional<std::string> find_illegality(std::string_view key) const override {
    if (row_of_.find(key) != row_of_.end()) return std::nullopt;
    if (auto reason = base_->find_illegality(key)) return reason;
    return "not in the recorded table";
  }
  std::string draw(Random& random) const override { return keys_[random.below(keys_.size())]; }
  std::string mutate(std::string_view key, Random& random) const override {
    return find_near(base_->mutate(key, random), {std::string(key)}, random);
  }
  std::string cross(std::string_view a, std::string_view b, Random& random) const override {
    return find_near(base_->cross(a, b, random), {std::string(a), std::string(b)}, random);
  }
  std::vector<std::string> enumerate(size_t most) const override {
    return {keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(std::min(most, keys_.size()))};
  }
  double predict_us(std::string_view key) const override { return base_->predict_us(key); }
  std::vector<std::string> rank(size_t most) const override {
    std::vector<std::pair<double, std::string>> scored;
    for (const auto& key : keys_) scored.emplace_back(base_->predict_us(key), key);
    std::sort(scored.begin(), scored.end());
    std::vector<std::string> best;
    for (size_t i = 0; i < std::min(most, scored.size()); ++i) best.push_back(std::move(scored[i].second));
    return best;
  }
  std::string behaviour(std::string_view key) const override { return base_->behaviour(key); }
  std::vector<double> features(std::string_view key) const override { return base_->features(key); }
  std::vector<std::string> feature_names() const override { return base_->feature_names(); }
  std::vector<int64_t> tile(std::string_view key) const override { return base_->tile(key); }

 private:
  void scale_features() {
    for (const auto& key : keys_) rows_.push_back(base_->features(key));
    const size_t inputs = rows_[0].size();
    const double count = static_cast<double>(rows_.size());
    scale_.assign(inputs, 0);
    for (size_t d = 0; d < inputs; ++d) {
      double mean = 0, variance = 0;
      for (const auto& row : rows_) mean += row[d] / count;
      for (const auto& row : rows_) variance += (row[d] - mean) * (row[d] - mean) / count;
      scale_[d] = variance > 1e-18 ? 1 / std::sqrt(variance) : 0;
    }
  }

  std::string find_near(const std::string& key, const std::vector<std::string>& parents,
                        Random& random) const {
    const std::vector<double> wanted = base_->features(key);
    KW_CHECK(wanted.size() == scale_.size(), "{} features, not {}", wanted.size(), scale_.size());
    std::vector<std::pair<double, size_t>> near;  // squared distance, row
    for (size_t row = 0; row < rows_.size(); ++row) {
      if (std::find(parents.begin(), parents.end(), keys_[row]) != parents.end()) continue;
      double squared = 0;
      for (size_t d = 0; d < wanted.size(); ++d)
        squared += std::pow((rows_[row][d] - wanted[d]) * scale_[d], 2);
      near.emplace_back(squared, row);
    }
    if (near.empty()) return parents[0];
    const size_t kept = std::min<size_t>(near.size(), 8);
    std::partial_sort(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(kept), near.end());
    size_t chosen = 0;
    while (chosen + 1 < kept && random.chance(kNextNearest)) ++chosen;
    return keys_[near[chosen].second];
  }

  std::unique_ptr<Space> base_;
  std::vector<std::string> keys_;
  std::map<std::string, size_t, std::less<>> row_of_;
  std::vector<std::vector<double>> rows_;  // features per key
  std::vector<double> scale_;              // 1 / standard deviation; 0 for a constant feature
};

}  // namespace

Result<std::unique_ptr<Space>> make_recorded_space(std::unique_ptr<Space> base,
                                                   const std::vector<std::string>& keys) {
  std::vector<std::string> legal;
  for (const auto& key : keys) {
    if (!base->find_illegality(key)) legal.push_back(key);
  }
  std::sort(legal.begin(), legal.end());
  legal.erase(std::unique(legal.begin(), legal.end()), legal.end());
  if (legal.empty()) {
    return fail("none of {} recorded schedules is legal for family '{}' here", keys.size(), base->family());
  }
  return std::make_unique<RecordedSpace>(std::move(base), std::move(legal));
}

Result<std::unique_ptr<Space>> make_recorded_space(std::unique_ptr<Space> base, const RecordedTable& table,
                                                   std::string_view problem) {
  std::vector<std::string> keys;
  for (const RecordedRow* row : table.find_rows(problem)) {
    if (row->family == base->family() && row->verdict.klass != VerdictClass::kIllegal)
      keys.push_back(row->schedule);
  }
  if (keys.empty()) return fail("the recorded table has no schedule of problem '{}'", problem);
  return make_recorded_space(std::move(base), keys);
}

}  // namespace kw
