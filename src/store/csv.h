// CSV text as RFC 4180 has it, with the place of every field for messages. Used by measurements.cc; knows no
// columns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kw {

struct CsvField {
  std::string text;
  int line = 0, column = 0;  // of the first character in the text, both from 1; columns are bytes
};
using CsvRecord = std::vector<CsvField>;

// Records in order; "\n" or "\r\n" between them, the last one with or without. Errors name line and column:
// an open quote, text behind a closing quote, a quote inside a plain field. Text that
// is_readable refuses is none.
[[nodiscard]] Result<std::vector<CsvRecord>> parse_csv(std::string_view text, const std::string& origin);

// One record with its line end; quotes only where a field needs them. parse_csv is the inverse, but that a
// record of one empty field prints as "" in quotes.
[[nodiscard]] std::string print_csv_record(const std::vector<std::string>& fields);

}  // namespace kw
