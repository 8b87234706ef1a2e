#include "store/csv.h"

namespace kw {
namespace {

class CsvParser {
 public:
  CsvParser(std::string_view text, const std::string& origin) : text_(text), origin_(origin) {}

  Result<std::vector<CsvRecord>> parse() {
    std::vector<CsvRecord> records;
    while (at_ < text_.size()) {
      CsvRecord record;
      do {
        KW_TRY(CsvField field, parse_field());
        record.push_back(std::move(field));
      } while (take(','));
      if (at_ < text_.size() && !take_line_end())
        return fail_user(
            "{}: line {}, column {}: text behind a closing quote; a comma or the line's end is allowed",
            origin_, line_, column());
      records.push_back(std::move(record));
    }
    return records;
  }

 private:
  Result<CsvField> parse_field() {
    CsvField field{"", line_, column()};
    if (take('"')) {
      KW_TRY_VOID(parse_quoted(field));
      return field;
    }
    while (at_ < text_.size() && text_[at_] != ',' && !at_line_end()) {
      if (text_[at_] == '"')
        return fail_user(
            "{}: line {}, column {}: a quote inside a field; put the whole field in quotes and double it",
            origin_, line_, column());
      field.text += text_[at_++];
    }
    return field;
  }

  Status parse_quoted(CsvField& field) {
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"' && !take('"')) return {};
      field.text += c;
      if (c == '\n') {
        ++line_;
        line_start_ = at_;
      }
    }
    return fail_user("{}: line {}, column {}: the quote opened here is never closed", origin_, field.line,
                     field.column);
  }

  bool take(char c) {
    const bool there = at_ < text_.size() && text_[at_] == c;
    if (there) ++at_;
    return there;
  }
  bool at_line_end() const { return text_[at_] == '\n' || text_.substr(at_, 2) == "\r\n"; }
  bool take_line_end() {
    if (!at_line_end()) return false;
    at_ += text_[at_] == '\n' ? 1 : 2;
    ++line_;
    line_start_ = at_;
    return true;
  }
  int column() const { return static_cast<int>(at_ - line_start_) + 1; }

  std::string_view text_;
  const std::string& origin_;
  size_t at_ = 0, line_start_ = 0;
  int line_ = 1;
};

}  // namespace

Result<std::vector<CsvRecord>> parse_csv(std::string_view text, const std::string& origin) {
  if (!is_readable(text)) return fail_user("{}: holds control characters or is not UTF-8", origin);
  return CsvParser(text, origin).parse();
}

std::string print_csv_record(const std::vector<std::string>& fields) {
  std::string line;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) line += ',';
    const bool quoted =
        fields[i].find_first_of(",\"\n\r") != std::string::npos || (fields.size() == 1 && fields[i].empty());
    if (!quoted) {
      line += fields[i];
      continue;
    }
    line += '"';
    for (const char c : fields[i]) line += c == '"' ? std::string("\"\"") : std::string(1, c);
    line += '"';
  }
  return line + '\n';
}

}  // namespace kw
