#include "ship/html.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kw {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(EscapeHtml, leaves_no_markup) {
  EXPECT_EQ(escape_html("<script>\"a\" & 'b'</script>"),
            "&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;&lt;/script&gt;");
}

TEST(EscapeHtml, keeps_utf8_and_replaces_what_is_not) {
  EXPECT_EQ(escape_html("µ×–😀"), "µ×–😀");
  EXPECT_EQ(escape_html("a\xFF"
                        "b\xC3"),
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD");
  EXPECT_EQ(escape_html(std::string_view("\0\x1B\n", 3)), "\xEF\xBF\xBD\xEF\xBF\xBD\n");
  EXPECT_EQ(escape_html("\xED\xA0\x80").find('\xED'), std::string::npos);  // a surrogate half
  EXPECT_EQ(escape_html("\xC0\xAF").find('\xC0'), std::string::npos);      // an overlong '/'
}

TEST(Shorten, cuts_between_characters) {
  EXPECT_EQ(shorten("abc", 3), "abc");
  EXPECT_EQ(shorten("abcd", 3), "abc…");
  EXPECT_EQ(shorten("µµµ", 2), "µµ…");
}

TEST(PrintFigure, has_three_digits_and_no_nan) {
  EXPECT_EQ(print_figure(0.3124), "0.312");
  EXPECT_EQ(print_figure(12.345), "12.3");
  EXPECT_EQ(print_figure(1042.4), "1,042");
  EXPECT_EQ(print_figure(-1234567), "-1,234,567");
  EXPECT_EQ(print_figure(0), "0");
  EXPECT_EQ(print_figure(kNan), "-");
  EXPECT_EQ(print_figure(HUGE_VAL), "-");
}

TEST(PrintDuration, chooses_a_unit) {
  EXPECT_EQ(print_duration(0.87), "870 ns");
  EXPECT_EQ(print_duration(12.3), "12.3 µs");
  EXPECT_EQ(print_duration(4560), "4.56 ms");
  EXPECT_EQ(print_duration(2e6), "2.00 s");
  EXPECT_EQ(print_duration(kNan), "-");
}

TEST(PrintRatio, and_percent_and_count) {
  EXPECT_EQ(print_ratio(1.31249), "1.312");
  EXPECT_EQ(print_ratio(12.3456), "12.35");
  EXPECT_EQ(print_ratio(kNan), "-");
  EXPECT_EQ(print_percent(0.214), "21 %");
  EXPECT_EQ(print_percent(0.0214), "2.1 %");
  EXPECT_EQ(print_percent(0), "0 %");
  EXPECT_EQ(print_count(1234567), "1,234,567");
  EXPECT_EQ(print_count(123), "123");
}

TEST(PrintMoment, is_for_people) {
  EXPECT_EQ(print_moment("2026-12-01T09:53:32.120Z"), "2026-12-01 09:53:32");
  EXPECT_EQ(print_moment("yesterday"), "yesterday");
}

TEST(HtmlTable, escapes_and_gives_values_to_sort_by) {
  HtmlTable table({{"na<me"}, {"time", true, "µs"}});
  EXPECT_TRUE(table.empty());
  table.add({text_cell("<b>"), number_cell(1234.5)});
  table.add({code_cell("x", "\"tip\""), number_cell(kNan)});
  const std::string html = table.print("a & b");
  EXPECT_NE(html.find("a &amp; b"), std::string::npos);
  EXPECT_NE(html.find("na&lt;me"), std::string::npos);
  EXPECT_NE(html.find("<td>&lt;b&gt;</td>"), std::string::npos);
  EXPECT_NE(html.find("data-v=\"1234.5\">1,234<"), std::string::npos);  // half to even
  EXPECT_NE(html.find("<code title=\"&quot;tip&quot;\">x</code>"), std::string::npos);
  EXPECT_NE(html.find(">-</td>"), std::string::npos);
  EXPECT_EQ(html.find("nan"), std::string::npos);
  EXPECT_EQ(html.find("inf"), std::string::npos);
}

TEST(HtmlTable, stops_on_a_row_of_the_wrong_length) {
  HtmlTable table({{"a"}, {"b"}});
  EXPECT_DEATH(table.add({text_cell("x")}), "1 cells, 2 columns");
}

}  // namespace
}  // namespace kw
