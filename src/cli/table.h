// Plain text tables for the terminal and for pipes: columns padded, numbers right-aligned.
#pragma once

#include <string>
#include <vector>

namespace kw {

class Table {
 public:
  explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  // A column whose cells all start with a digit, sign or "-" is right-aligned.
  [[nodiscard]] std::string print() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// 3 significant digits with a unit that suits: "870 ns", "12.3 us", "4.56 ms".
[[nodiscard]] std::string print_time(double us);

}  // namespace kw
