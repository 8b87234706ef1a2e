#include "ship/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/check.h"

namespace kw {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Bytes of the UTF-8 character that begins the text; 0 when none does.
size_t find_character(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  const bool overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool surrogate = first == 0xED && byte(1) > 0x9F;
  const bool beyond = first == 0xF4 && byte(1) > 0x8F;
  return overlong || surrogate || beyond ? 0 : length;
}

std::string_view find_entity(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

std::string separate_thousands(std::string digits) {
  const size_t start = digits[0] == '-' ? 1 : 0;
  size_t at = std::min(digits.find('.'), digits.size());
  while (at > start + 3) digits.insert(at -= 3, 1, ',');
  return digits;
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  while (!text.empty()) {
    const size_t length = find_character(text);
    const auto first = static_cast<unsigned char>(text[0]);
    const bool control = (first < 0x20 && first != '\n' && first != '\t') || first == 0x7F;
    if (length == 0 || control)
      safe += kReplacement;
    else if (const std::string_view entity = find_entity(text[0]); !entity.empty())
      safe += entity;
    else
      safe += text.substr(0, length);
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return safe;
}

std::string shorten(std::string_view text, size_t most) {
  size_t at = 0;
  for (size_t count = 0; at < text.size(); ++count) {
    if (count == most) return std::string(text.substr(0, at)) + "…";
    at += std::max<size_t>(find_character(text.substr(at)), 1);
  }
  return std::string(text);
}

std::string print_figure(double value) {
  if (!std::isfinite(value)) return "-";
  const double size = std::abs(value);
  if (size == 0) return "0";
  if (size < 1e-3 || size >= 1e12) return fmt::format("{:.2e}", value);
  const int decimals = std::max(0, 2 - static_cast<int>(std::floor(std::log10(size))));
  return separate_thousands(fmt::format("{:.{}f}", value, decimals));
}

std::string print_ratio(double ratio) {
  if (!std::isfinite(ratio)) return "-";
  return fmt::format("{:.{}f}", ratio, std::abs(ratio) < 10 ? 3 : std::abs(ratio) < 100 ? 2 : 1);
}

std::string print_percent(double share) {
  if (!std::isfinite(share)) return "-";
  const double percent = share * 100;
  return fmt::format("{:.{}f} %", percent, percent != 0 && std::abs(percent) < 10 ? 1 : 0);
}

std::string print_count(int64_t count) { return separate_thousands(fmt::format("{}", count)); }

std::string print_duration(double us) {
  if (!std::isfinite(us)) return "-";
  if (us < 1) return print_figure(us * 1e3) + " ns";
  if (us < 1e3) return print_figure(us) + " µs";
  return us < 1e6 ? print_figure(us * 1e-3) + " ms" : print_figure(us * 1e-6) + " s";
}

std::string print_moment(std::string_view iso) {
  const bool known = iso.size() >= 19 && iso[10] == 'T';
  return known ? fmt::format("{} {}", iso.substr(0, 10), iso.substr(11, 8)) : std::string(iso);
}

Cell text_cell(std::string_view text) { return {escape_html(text), std::nullopt}; }

Cell code_cell(std::string_view text, std::string_view tooltip) {
  if (text.empty()) return {"-", std::nullopt};
  if (tooltip.empty()) return {fmt::format("<code>{}</code>", escape_html(text)), std::nullopt};
  return {fmt::format("<code title=\"{}\">{}</code>", escape_html(tooltip), escape_html(text)), std::nullopt};
}

Cell number_cell(double value, std::string (*print)(double)) {
  return {print(value), std::isfinite(value) ? value : -HUGE_VAL};
}

void HtmlTable::add(std::vector<Cell> cells) {
  KW_CHECK(cells.size() == columns_.size(), "{} cells, {} columns", cells.size(), columns_.size());
  rows_.push_back(std::move(cells));
}

std::string HtmlTable::print(std::string_view caption) const {
  const std::string name = escape_html(caption);
  std::string html = fmt::format(
      "<p class=\"note caption\">{0}</p>\n<div class=\"scroll\" tabindex=\"0\"><table class=\"sortable\" "
      "aria-label=\"{0}\">\n<thead><tr>",
      name);
  for (const Column& column : columns_)
    html += fmt::format(
        "<th scope=\"col\"{}>{}{}</th>", column.number ? " class=\"n\"" : "", escape_html(column.title),
        column.unit.empty() ? "" : fmt::format("<small>{}</small>", escape_html(column.unit)));
  html += "</tr></thead>\n<tbody>\n";
  for (const auto& row : rows_) {
    html += "<tr>";
    for (size_t c = 0; c < row.size(); ++c) {
      const std::string style = (columns_[c].number ? "n " : "") + columns_[c].style;
      html += "<td";
      if (!style.empty()) html += fmt::format(" class=\"{}\"", style);
      if (row[c].value)
        html += fmt::format(" data-v=\"{}\"", std::isfinite(*row[c].value) ? *row[c].value : -1e300);
      html += ">" + row[c].html + "</td>";
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

}  // namespace kw
