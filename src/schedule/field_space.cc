// FieldSpace: the legal schedules are listed once, when first asked for, and kept; every search move picks
// from that list, so its results are legal and uniform. Thread-safe.
#include "schedule/field_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <mutex>
#include <numeric>

#include "base/check.h"

namespace kw {
namespace {

constexpr int kMixAttempts = 64;  // of two parents before one of them is returned

// Fields in which two schedules differ.
size_t count_differences(const FieldValues& a, const FieldValues& b) {
  size_t count = 0;
  for (size_t i = 0; i < a.size(); ++i) count += a[i] != b[i];
  return count;
}

class FieldSpace : public Space {
 public:
  explicit FieldSpace(FieldFamily family) : family_(std::move(family)) {}

  std::string_view family() const override { return family_.name; }

  std::optional<std::string> find_illegality(std::string_view key) const override {
    const auto values = parse_field_values(family_.name, *family_.fields, key);
    if (!values) return values.error().message;
    return family_.find_illegality(*values);
  }

  std::string draw(Random& random) const override {
    const auto& legal = all();
    return print(legal[random.below(legal.size())]);
  }

  // Uniform over the legal schedules that differ in one field (half of the time) or in two; the same schedule
  // when there is none.
  std::string mutate(std::string_view key, Random& random) const override {
    const FieldValues values = get(key);
    const size_t wanted = random.chance(0.5) ? 1 : 2;
    std::vector<const FieldValues*> near[3];
    for (const FieldValues& other : all()) {
      const size_t differences = count_differences(values, other);
      if (differences == 1 || differences == 2) near[differences].push_back(&other);
    }
    const auto& chosen = near[near[wanted].empty() ? 3 - wanted : wanted];
    return chosen.empty() ? std::string(key) : print(*chosen[random.below(chosen.size())]);
  }

  std::string cross(std::string_view a, std::string_view b, Random& random) const override {
    const FieldValues first = get(a), second = get(b);
    for (int attempt = 0; attempt < kMixAttempts; ++attempt) {
      FieldValues mix = first;
      for (size_t i = 0; i < mix.size(); ++i)
        if (random.chance(0.5)) mix[i] = second[i];
      if (!family_.find_illegality(mix)) return print(mix);
    }
    return std::string(random.chance(0.5) ? a : b);
  }

  // Evenly spread over the whole list when it is longer than `most`.
  std::vector<std::string> enumerate(size_t most) const override {
    const auto& legal = all();
    const size_t count = std::min(most, legal.size());
    std::vector<std::string> keys;
    keys.reserve(count);
    for (size_t i = 0; i < count; ++i) keys.push_back(print(legal[i * legal.size() / count]));
    return keys;
  }

  double predict_us(std::string_view key) const override { return family_.predict_us(get(key)); }

  std::vector<std::string> rank(size_t most) const override {
    const auto& legal = all();
    std::vector<std::pair<double, size_t>> order(legal.size());
    for (size_t i = 0; i < legal.size(); ++i) order[i] = {family_.predict_us(legal[i]), i};
    const size_t count = std::min(most, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end());
    std::vector<std::string> keys;
    keys.reserve(count);
    for (size_t i = 0; i < count; ++i) keys.push_back(print(legal[order[i].second]));
    return keys;
  }

  std::string behaviour(std::string_view key) const override { return family_.behaviour(get(key)); }

  // The logarithm of each field, then what the family adds.
  std::vector<double> features(std::string_view key) const override {
    const FieldValues values = get(key);
    std::vector<double> features;
    for (const int value : values) features.push_back(std::log2(value + 1.0));
    for (const NamedFeature& feature : family_.features(values)) features.push_back(feature.value);
    return features;
  }
  std::vector<std::string> feature_names() const override {
    std::vector<std::string> names;
    FieldValues any;
    for (const Field& field : *family_.fields) {
      names.push_back(fmt::format("log_{}", field.label));
      any.push_back(field.values.front());
    }
    for (const NamedFeature& feature : family_.features(any)) names.push_back(feature.name);
    return names;
  }

  std::vector<int64_t> tile(std::string_view key) const override { return family_.tile(get(key)); }

 private:
  std::string print(const FieldValues& values) const { return print_field_values(*family_.fields, values); }

  FieldValues get(std::string_view key) const {
    auto values = parse_field_values(family_.name, *family_.fields, key);
    KW_CHECK(values, "schedule {}", key);
    return *std::move(values);
  }

  // All legal combinations, the last field running fastest.
  std::vector<FieldValues> list_legal() const {
    const FieldList& fields = *family_.fields;
    std::vector<FieldValues> legal;
    std::vector<size_t> at(fields.size(), 0);
    FieldValues values;
    for (const Field& field : fields) values.push_back(field.values.front());
    for (size_t turned = 0; turned < fields.size();) {
      if (!family_.find_illegality(values)) legal.push_back(values);
      for (turned = 0; turned < fields.size(); ++turned) {
        const size_t i = fields.size() - 1 - turned;
        at[i] = (at[i] + 1) % fields[i].values.size();
        values[i] = fields[i].values[at[i]];
        if (at[i] != 0) break;
      }
    }
    return legal;
  }

  const std::vector<FieldValues>& all() const {
    std::call_once(listed_, [this] { legal_ = list_legal(); });
    KW_CHECK(!legal_.empty(), "no legal schedule of {}", family_.name);
    return legal_;
  }

  FieldFamily family_;
  mutable std::once_flag listed_;
  mutable std::vector<FieldValues> legal_;
};

}  // namespace

std::string print_field_values(const FieldList& fields, const FieldValues& values) {
  KW_CHECK(fields.size() == values.size(), "{} fields, {} values", fields.size(), values.size());
  std::string key;
  for (size_t i = 0; i < fields.size(); ++i)
    key += fmt::format("{}{}{}", i == 0 ? "" : " ", fields[i].label, values[i]);
  return key;
}

Result<FieldValues> parse_field_values(std::string_view family, const FieldList& fields,
                                       std::string_view key) {
  FieldValues values;
  std::string_view rest = key;
  for (const Field& field : fields) {
    const size_t end = std::min(rest.find(' '), rest.size());
    std::string_view word = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!word.starts_with(field.label)) break;
    word.remove_prefix(field.label.size());
    int value = 0;
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || stop != word.data() + word.size()) break;
    if (std::find(field.values.begin(), field.values.end(), value) == field.values.end())
      return fail_user("\"{}\" is not a {} schedule: {}{} is none of {}{}", key, family, field.label, value,
                       field.label, fmt::join(field.values, fmt::format(", {}", field.label)));
    values.push_back(value);
  }
  if (values.size() == fields.size() && print_field_values(fields, values) == key) return values;
  FieldValues example;
  for (const Field& field : fields) example.push_back(field.values.front());
  return fail_user("\"{}\" is not a {} schedule; they look like \"{}\"", key, family,
                   print_field_values(fields, example));
}

std::unique_ptr<Space> make_field_space(FieldFamily family) {
  return std::make_unique<FieldSpace>(std::move(family));
}

}  // namespace kw
