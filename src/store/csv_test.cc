#include "store/csv.h"

#include <gmock/gmock.h>

namespace kw {
namespace {

using ::testing::HasSubstr;

TEST(Csv, reads_what_it_prints) {
  const std::vector<std::vector<std::string>> records = {
      {"a", "", "b c"}, {"", ""}, {""}, {"quo\"te", "com,ma", "line\nbreak", "\r\n", "\"", " lead"}, {"x"}};
  std::string text;
  for (const auto& record : records) text += print_csv_record(record);
  const auto parsed = parse_csv(text, "t");
  ASSERT_TRUE(parsed) << parsed.error().message;
  ASSERT_EQ(parsed->size(), records.size());
  for (size_t i = 0; i < records.size(); ++i) {
    std::vector<std::string> fields;
    for (const CsvField& field : (*parsed)[i]) fields.push_back(field.text);
    EXPECT_EQ(fields, records[i]);
  }
}

TEST(Csv, quotes_only_where_needed) {
  EXPECT_EQ(print_csv_record({"a b", "c,d", "e\"f", ""}), "a b,\"c,d\",\"e\"\"f\",\n");
}

TEST(Csv, knows_the_place_of_every_field) {
  const auto parsed = *parse_csv("a,bb\r\n\"x\ny\",\"z\"\nlast", "t");
  ASSERT_EQ(parsed.size(), 3u);
  EXPECT_EQ(parsed[0][1].line, 1);
  EXPECT_EQ(parsed[0][1].column, 3);
  EXPECT_EQ(parsed[1][0].line, 2);
  EXPECT_EQ(parsed[1][1].line, 3);
  EXPECT_EQ(parsed[1][1].column, 4);
  EXPECT_EQ(parsed[2][0].line, 4);
}

TEST(Csv, refuses_broken_quotes_with_their_place) {
  EXPECT_THAT(parse_csv("a\nb,\"cd", "t").error().message,
              HasSubstr("t: line 2, column 3: the quote opened here"));
  EXPECT_THAT(parse_csv("a,\"b\"c\n", "t").error().message,
              HasSubstr("line 1, column 6: text behind a closing quote"));
  EXPECT_THAT(parse_csv("a,b\"c\n", "t").error().message,
              HasSubstr("line 1, column 4: a quote inside a field"));
}

TEST(Csv, refuses_text_that_no_terminal_and_no_json_should_get) {
  EXPECT_THAT(parse_csv("a\n\xff\n", "t").error().message, HasSubstr("not UTF-8"));
  EXPECT_THAT(parse_csv("a\n\x1b[2J\n", "t").error().message, HasSubstr("control characters"));
}

}  // namespace
}  // namespace kw
