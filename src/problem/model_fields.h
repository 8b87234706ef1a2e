// Fields of a model's config.json, checked one by one. In: a JSON object and its origin. Out: values, or one
// user error that names the file, the field, its value and what is accepted. Used by parse_model and the
// architectures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace kw {

// Largest accepted size or count in a model file.
inline constexpr int64_t kMaxModelField = int64_t{1} << 24;

class ModelFields {
 public:
  ModelFields(const Json& json, std::string origin) : json_(json), origin_(std::move(origin)) {}
  const std::string& origin() const { return origin_; }
  [[nodiscard]] bool has(const char* name) const;  // present and not null

  // A whole number in [low, kMaxModelField].
  [[nodiscard]] Result<int64_t> get_count(const char* name, int64_t low = 1) const;
  // The same; absent or null gives the default.
  [[nodiscard]] Result<int64_t> get_count_or(const char* name, int64_t otherwise, int64_t low = 1) const;
  [[nodiscard]] Result<bool> get_flag_or(const char* name, bool otherwise) const;
  // A list of whole numbers in [0, limit); absent or null gives an empty one.
  [[nodiscard]] Result<std::vector<int64_t>> get_indices(const char* name, int64_t limit) const;
  // A user error that shows the field's value, or says that it is missing.
  [[nodiscard]] tl::unexpected<Error> reject(const char* name, const std::string& accepted) const;

 private:
  const Json& json_;
  std::string origin_;
};

}  // namespace kw
