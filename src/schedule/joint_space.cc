#include "schedule/joint_space.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"

namespace kw {
namespace {

class JointSpace final : public Space {
 public:
  JointSpace(std::string_view name, std::vector<std::unique_ptr<Space>> spaces)
      : name_(name), spaces_(std::move(spaces)) {
    KW_CHECK(!spaces_.empty(), "no spaces to join as {}", name);
  }

  std::string_view family() const override { return name_; }

  std::optional<std::string> find_illegality(std::string_view key) const override {
    const auto [family, inner] = split_joint_key(key);
    const Space* space = find(family);
    if (space == nullptr) return fmt::format("kernel family \"{}\" does not compute this here", family);
    return space->find_illegality(inner);
  }

  std::string draw(Random& random) const override {
    const Space& space = *spaces_[random.below(spaces_.size())];
    return join(space, space.draw(random));
  }

  std::string mutate(std::string_view key, Random& random) const override {
    const auto [space, inner] = take_apart(key);
    return join(space, space.mutate(inner, random));
  }

  // Parents of two families have no fields in common: a change of one of them instead.
  std::string cross(std::string_view a, std::string_view b, Random& random) const override {
    const auto [left, left_key] = take_apart(a);
    const auto [right, right_key] = take_apart(b);
    if (left.family() == right.family()) return join(left, left.cross(left_key, right_key, random));
    return mutate(random.chance(0.5) ? a : b, random);
  }

  std::vector<std::string> enumerate(size_t most) const override {
    std::vector<std::vector<std::string>> lists;
    for (const auto& space : spaces_) lists.push_back(space->enumerate(most));
    std::vector<std::string> keys;  // in turn, so that no family is left out
    for (size_t at = 0; keys.size() < most; ++at) {
      bool any = false;
      for (size_t index = 0; index < lists.size() && keys.size() < most; ++index) {
        if (at >= lists[index].size()) continue;
        keys.push_back(join(*spaces_[index], lists[index][at]));
        any = true;
      }
      if (!any) break;
    }
    return keys;
  }

  double predict_us(std::string_view key) const override {
    const auto [space, inner] = take_apart(key);
    return space.predict_us(inner);
  }

  std::vector<std::string> rank(size_t most) const override {
    std::vector<std::pair<double, std::string>> ranked;
    for (const auto& space : spaces_)
      for (const std::string& key : space->rank(most))
        ranked.emplace_back(space->predict_us(key), join(*space, key));
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& left, const auto& right) { return left.first < right.first; });
    std::vector<std::string> keys;
    for (size_t at = 0; at < std::min(most, ranked.size()); ++at) keys.push_back(ranked[at].second);
    return keys;
  }

  std::string behaviour(std::string_view key) const override {
    const auto [space, inner] = take_apart(key);
    return fmt::format("{}/{}", space.family(), space.behaviour(inner));
  }

  // Those of every family one behind the other; zeros for the families the key is not of.
  std::vector<double> features(std::string_view key) const override {
    const auto [chosen, inner] = take_apart(key);
    std::vector<double> all;
    for (const auto& space : spaces_) {
      const bool own = space.get() == &chosen;
      all.push_back(own ? 1 : 0);
      if (own) {
        const std::vector<double> values = space->features(inner);
        all.insert(all.end(), values.begin(), values.end());
      } else {
        all.insert(all.end(), space->feature_names().size(), 0.0);
      }
    }
    return all;
  }

  std::vector<std::string> feature_names() const override {
    std::vector<std::string> all;
    for (const auto& space : spaces_) {
      all.push_back(fmt::format("is_{}", space->family()));
      for (const std::string& name : space->feature_names())
        all.push_back(fmt::format("{}.{}", space->family(), name));
    }
    return all;
  }

  std::vector<int64_t> tile(std::string_view key) const override {
    const auto [space, inner] = take_apart(key);
    return space.tile(inner);
  }

 private:
  static std::string join(const Space& space, std::string_view key) {
    return fmt::format("{} {}", space.family(), key);
  }
  const Space* find(std::string_view family) const {
    for (const auto& space : spaces_)
      if (space->family() == family) return space.get();
    return nullptr;
  }
  std::pair<const Space&, std::string_view> take_apart(std::string_view key) const {
    const auto [family, inner] = split_joint_key(key);
    const Space* space = find(family);
    KW_CHECK(space != nullptr, "key \"{}\" of {}", key, name_);
    return {*space, inner};
  }

  std::string name_;
  std::vector<std::unique_ptr<Space>> spaces_;
};

}  // namespace

std::unique_ptr<Space> make_joint_space(std::string_view name, std::vector<std::unique_ptr<Space>> spaces) {
  return std::make_unique<JointSpace>(name, std::move(spaces));
}

std::pair<std::string_view, std::string_view> split_joint_key(std::string_view key) {
  const size_t blank = std::min(key.find(' '), key.size());
  return {key.substr(0, blank), key.substr(std::min(blank + 1, key.size()))};
}

}  // namespace kw
