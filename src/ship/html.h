// Text, numbers and tables as HTML. In: plain values. Out: HTML that is safe whatever the values hold. Used
// by the report alone; knows nothing of kernels.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

// For element content and quoted attributes. Control characters and bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string escape_html(std::string_view text);

// At most `most` characters, never half of one; "…" says that something was cut.
[[nodiscard]] std::string shorten(std::string_view text, size_t most);

// Three significant digits at least, thousands separated: "0.312", "12.3", "1,042"; "-" when not finite.
[[nodiscard]] std::string print_figure(double value);
[[nodiscard]] std::string print_ratio(double ratio);    // "1.312"
[[nodiscard]] std::string print_percent(double share);  // 0.214 -> "21 %"
[[nodiscard]] std::string print_count(int64_t count);   // "12,345"
[[nodiscard]] std::string print_duration(double us);    // "870 ns", "12.3 µs", "4.56 ms"

// "2026-12-01T09:53:32.120Z" -> "2026-12-01 09:53:32"; other text as it is. Not escaped.
[[nodiscard]] std::string print_moment(std::string_view iso);

struct Cell {
  std::string html;
  std::optional<double> value;  // what the column is sorted by; the text where absent
};
[[nodiscard]] Cell text_cell(std::string_view text);
[[nodiscard]] Cell code_cell(std::string_view text, std::string_view tooltip = {});
// Sorted by the value; "-" and last when it is not finite.
[[nodiscard]] Cell number_cell(double value, std::string (*print)(double) = print_figure);

struct Column {
  std::string title;
  bool number = false;  // right-aligned
  std::string unit;     // below the title
  std::string style;    // further CSS class of its cells
};

class HtmlTable {
 public:
  explicit HtmlTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<Cell> cells);  // as many as there are columns
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  // In a box that scrolls sideways where it must; the headings sort it.
  [[nodiscard]] std::string print(std::string_view caption) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace kw
