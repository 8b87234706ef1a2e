// A synthetic schedule space for tests: eight discrete fields, a legality rule, a rugged multiplicative cost
// with fixed per-schedule noise, and an analytic model that is right about some effects only. Each landscape
// is drawn from a seed. Used by tests of propose, target/recorded and loop; runs nothing.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include "base/check.h"
#include "schedule/space.h"

namespace kw {

class FakeSpace : public Space {
 public:
  static constexpr size_t kFields = 8;
  using Point = std::array<int, kFields>;
  static constexpr std::array<int, kFields> kChoices = {6, 4, 5, 5, 3, 4, 3, 2};

  // `relief` scales all effects: a small one makes many schedules nearly as good as the best. `known_share`
  // is the share of effects the analytic model knows of.
  explicit FakeSpace(uint64_t landscape, double noise = 0.06, double relief = 1, double known_share = 0.6)
      : landscape_(landscape), noise_(noise) {
    Random random(landscape, 1);
    for (size_t f = 0; f < kFields; ++f) {
      peak_[f] = random.uniform() * (kChoices[f] - 1);
      steepness_[f] = relief * (0.02 + 0.5 * random.uniform() / kChoices[f]);
    }
    for (double& strength : coupling_) strength = relief * 0.5 * (random.uniform() - 0.5);
    for (double& known : known_) known = random.chance(known_share) ? 1.0 : 0.0;
  }

  static std::string print(const Point& point) { return fmt::format("fake {}", fmt::join(point, ".")); }
  static std::optional<Point> parse(std::string_view key) {
    if (!key.starts_with("fake ")) return std::nullopt;
    Point point{};
    const char* at = key.data() + 5;
    const char* end = key.data() + key.size();
    for (size_t f = 0; f < kFields; ++f) {
      const auto [next, error] = std::from_chars(at, end, point[f]);
      if (error != std::errc() || point[f] < 0 || point[f] >= kChoices[f]) return std::nullopt;
      at = next == end ? next : next + 1;
    }
    return print(point) == key ? std::optional(point) : std::nullopt;
  }
  static bool legal(const Point& p) { return p[0] * (p[1] + 1) <= 15 && !(p[6] == 2 && p[7] == 1); }

  // The true time in us, fixed for each schedule of this landscape.
  double time_us(std::string_view key) const {
    const Point p = get(key);
    double log_us = 3;
    for (size_t f = 0; f < kFields; ++f) log_us += steepness_[f] * std::pow(p[f] - peak_[f], 2);
    for (size_t f = 0; f + 1 < kFields; ++f) log_us += coupling_[f] * (((p[f] + p[f + 1]) % 2) ? 1 : 0);
    if (p[0] * (p[1] + 1) > 12) log_us += 0.7;  // registers spill
    if (p[2] + p[3] > 6) log_us += 0.4;         // block leaves the cache
    uint64_t stream = 0;
    for (int value : p) stream = stream * 8 + static_cast<uint64_t>(value);
    return std::exp(log_us + noise_ * Random(landscape_, stream + 100).normal());
  }

  std::string_view family() const override { return "fake"; }
  std::optional<std::string> find_illegality(std::string_view key) const override {
    const auto point = parse(key);
    if (!point) return "not a fake schedule";
    return legal(*point) ? std::nullopt : std::optional<std::string>("too many registers");
  }
  std::string draw(Random& random) const override {
    Point p;
    do {
      for (size_t f = 0; f < kFields; ++f) p[f] = static_cast<int>(random.below(kChoices[f]));
    } while (!legal(p));
    return print(p);
  }
  std::string mutate(std::string_view key, Random& random) const override {
    Point p;
    do {
      p = get(key);
      for (uint64_t change = 0, changes = 1 + random.below(2); change < changes; ++change) {
        const size_t f = random.below(kFields);
        p[f] = static_cast<int>(random.below(kChoices[f]));
      }
    } while (!legal(p));
    return print(p);
  }
  std::string cross(std::string_view a, std::string_view b, Random& random) const override {
    const Point x = get(a), y = get(b);
    for (int attempt = 0; attempt < 16; ++attempt) {
      Point p = x;
      for (size_t f = 0; f < kFields; ++f) p[f] = random.chance(0.5) ? x[f] : y[f];
      if (legal(p)) return print(p);
    }
    return print(x);
  }
  std::vector<std::string> enumerate(size_t most) const override {
    std::vector<std::string> keys;
    Point p{};
    while (keys.size() < most) {
      if (legal(p)) keys.push_back(print(p));
      size_t f = 0;
      while (f < kFields && ++p[f] == kChoices[f]) p[f++] = 0;
      if (f == kFields) break;
    }
    return keys;
  }
  double predict_us(std::string_view key) const override {
    const Point p = get(key);
    double log_us = 2.5;
    for (size_t f = 0; f < kFields; ++f)
      log_us += known_[f] * 0.7 * steepness_[f] * std::pow(p[f] - peak_[f] + 0.3, 2);
    return std::exp(log_us);
  }
  std::vector<std::string> rank(size_t most) const override {
    std::vector<std::string> keys = enumerate(SIZE_MAX);
    std::vector<std::pair<double, std::string>> scored;
    for (const auto& key : keys) scored.emplace_back(predict_us(key), key);
    std::sort(scored.begin(), scored.end());
    keys.clear();
    for (size_t i = 0; i < std::min(most, scored.size()); ++i) keys.push_back(scored[i].second);
    return keys;
  }
  std::string behaviour(std::string_view key) const override {
    const Point p = get(key);
    return fmt::format("{}/{}/{}", p[0] / 2, p[4], p[7]);
  }
  std::vector<double> features(std::string_view key) const override {
    const Point p = get(key);
    std::vector<double> features(p.begin(), p.end());
    features.push_back(p[0] * (p[1] + 1));
    features.push_back(p[2] + p[3]);
    return features;
  }
  std::vector<std::string> feature_names() const override {
    return {"f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "registers", "block"};
  }
  std::vector<int64_t> tile(std::string_view key) const override {
    const Point p = get(key);
    return {p[0] + 1, p[1] + 1, 1};
  }

 private:
  static Point get(std::string_view key) {
    const auto point = parse(key);
    KW_CHECK(point, "schedule {}", key);
    return *point;
  }
  uint64_t landscape_;
  double noise_;
  std::array<double, kFields> peak_{}, steepness_{}, coupling_{}, known_{};
};

}  // namespace kw
