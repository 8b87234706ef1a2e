// Reads the fields of one JSON object that came from outside: each one typed, none unknown. In: an object and
// how to call it in messages. Out: values, or a user error that names the field, what stands there and what
// is needed. Used by launch records, certificates and measured families.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"

namespace kw {

class JsonFields {
 public:
  // `json` must outlive this.
  JsonFields(const Json& json, std::string where) : json_(json), where_(std::move(where)) {}

  [[nodiscard]] Status check_object() const;
  // Null when absent. Any reading of a field makes it known.
  [[nodiscard]] const Json* find(const char* name);
  [[nodiscard]] Result<const Json*> get(const char* name);  // must be there
  [[nodiscard]] Result<std::string> text(const char* name, const std::string& absent = {});
  [[nodiscard]] Result<int64_t> integer(const char* name, int64_t absent);
  [[nodiscard]] Result<int64_t> integer(const char* name);
  [[nodiscard]] Result<uint64_t> seed(const char* name);                            // 64 bits
  [[nodiscard]] Result<int64_t> count(const char* name, int64_t most = INT64_MAX);  // in [0, most]
  [[nodiscard]] Result<double> number(const char* name);                            // finite
  [[nodiscard]] Result<double> size(const char* name);                              // finite, 0 or more
  [[nodiscard]] Result<bool> boolean(const char* name);
  [[nodiscard]] Result<std::vector<std::string>> texts(const char* name);
  [[nodiscard]] Result<std::vector<int64_t>> integers(const char* name);
  [[nodiscard]] Result<std::vector<double>> numbers(const char* name);
  // A user error when the object holds a field that was not asked for.
  [[nodiscard]] Status check_nothing_left() const;
  const std::string& where() const { return where_; }

 private:
  template <class T, class Take>
  Result<std::vector<T>> list(const char* name, const char* kind, const Take& take);
  tl::unexpected<Error> refuse(const char* name, const char* wanted, const Json& value) const;

  const Json& json_;
  std::string where_;
  std::vector<std::string> seen_;
};

}  // namespace kw
