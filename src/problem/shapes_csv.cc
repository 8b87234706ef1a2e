// Shape lists as CSV text, read and written. In: text a person or a spreadsheet made. Out: uses, or a user
// error that names line, column, value and what is accepted.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "problem/model.h"

namespace kw {
namespace {

constexpr size_t kMaxRows = 100'000;
constexpr size_t kMaxLineBytes = 64 << 10;
constexpr int64_t kMaxSize = int64_t{1} << 40;  // as check_problem
constexpr int64_t kMaxCount = int64_t{1} << 40;
constexpr std::array<std::string_view, 14> kColumns = {"name", "phase", "tokens", "count", "m",
                                                       "n",    "k",     "layout", "dtype", "lda",
                                                       "ldb",  "ldc",   "alpha",  "beta"};
constexpr std::array<std::string_view, 5> kPhases = {"prefill", "decode", "forward", "dgrad", "wgrad"};

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

// A cell as a message shows it.
std::string show(const std::string& cell) { return print_line(cell, 60); }

// Cells of one line; a cell in double quotes keeps commas, spaces and doubled quotes. nullopt: a quote is
// left open or followed by something.
std::optional<std::vector<std::string>> split_cells(std::string_view line) {
  std::vector<std::string> cells;
  while (true) {
    line = trim(line);
    std::string cell;
    if (!line.empty() && line.front() == '"') {
      size_t at = 1;
      for (; at < line.size(); ++at) {
        if (line[at] == '"' && (at + 1 == line.size() || line[at + 1] != '"')) break;
        if (line[at] == '"') ++at;
        cell += line[at];
      }
      if (at >= line.size()) return std::nullopt;
      line = trim(line.substr(at + 1));
      if (!line.empty() && line.front() != ',') return std::nullopt;
    } else {
      const size_t end = std::min(line.find(','), line.size());
      cell = trim(line.substr(0, end));
      line.remove_prefix(end);
    }
    cells.push_back(std::move(cell));
    if (line.empty()) return cells;
    line.remove_prefix(1);
  }
}

template <class T>
bool parse_number(std::string_view text, T& value) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && end == text.data() + text.size();
}

bool is_phase(std::string_view text) {
  while (true) {
    const size_t end = std::min(text.find('+'), text.size());
    if (std::find(kPhases.begin(), kPhases.end(), text.substr(0, end)) == kPhases.end()) return false;
    if (end == text.size()) return true;
    text.remove_prefix(end + 1);
  }
}

// One cell into its field; the accepted values when it does not fit.
std::optional<std::string> read_cell(std::string_view column, const std::string& cell, ProblemUse& use) {
  Problem& problem = use.problem;
  const auto whole = [&](int64_t& field, int64_t low, int64_t high,
                         bool optional) -> std::optional<std::string> {
    if (optional && cell.empty()) return std::nullopt;
    if (parse_number(cell, field) && field >= low && field <= high) return std::nullopt;
    return fmt::format("a whole number from {} to {}", low, high);
  };
  const auto scalar = [&](double& field) -> std::optional<std::string> {
    if (cell.empty() || (parse_number(cell, field) && std::isfinite(field))) return std::nullopt;
    return "a finite number";
  };
  const auto named = [&](auto& field, const auto& parse, const char* accepted) -> std::optional<std::string> {
    if (cell.empty()) return std::nullopt;
    const auto parsed = parse(cell);
    if (!parsed) return accepted;
    field = *parsed;
    return std::nullopt;
  };
  if (column == "m") return whole(problem.m, 0, kMaxSize, false);
  if (column == "n") return whole(problem.n, 0, kMaxSize, false);
  if (column == "k") return whole(problem.k, 0, kMaxSize, false);
  if (column == "lda") return whole(problem.lda, 0, kMaxSize, true);
  if (column == "ldb") return whole(problem.ldb, 0, kMaxSize, true);
  if (column == "ldc") return whole(problem.ldc, 0, kMaxSize, true);
  if (column == "tokens") return whole(use.tokens, 0, kMaxSize, true);
  if (column == "count") return whole(use.count, 1, kMaxCount, true);
  if (column == "alpha") return scalar(problem.alpha);
  if (column == "beta") return scalar(problem.beta);
  if (column == "layout") return named(problem.layout, parse_layout, "nn, nt, tn or tt");
  if (column == "dtype") return named(problem.dtype, parse_dtype, "f32, f16, bf16 or f64");
  if (column == "phase" && !cell.empty() && !is_phase(cell))
    return fmt::format("empty, {}, or several joined by +", fmt::join(kPhases, ", "));
  if (column == "phase") use.phase = cell;
  if (column == "name") use.name = cell;
  return std::nullopt;
}

class ShapeReader {
 public:
  explicit ShapeReader(const std::string& origin) : origin_(origin) {}

  Status read_line(std::string_view line) {
    ++line_number_;
    if (line.size() > kMaxLineBytes)
      return fail_user("{}:{}: the line has {} bytes, at most {} are read", origin_, line_number_,
                       line.size(), kMaxLineBytes);
    line = trim(line);
    if (line.empty() || line.front() == '#') return {};
    if (!is_readable(line))
      return fail_user(
          "{}:{}: \"{}\" holds control characters or is not UTF-8; save the list as plain UTF-8 text",
          origin_, line_number_, print_line(line, 60));
    const auto cells = split_cells(line);
    if (!cells)
      return fail_user("{}:{}: a quoted cell must end with \" before the next comma", origin_, line_number_);
    return columns_.empty() ? read_header(*cells) : read_shape(*cells);
  }

  Result<std::vector<ProblemUse>> finish() {
    if (columns_.empty())
      return fail_user("{}: no header line; the first line must name the columns m,n,k and may add {}",
                       origin_, fmt::join(kColumns, ","));
    return std::move(uses_);
  }

 private:
  Status read_header(const std::vector<std::string>& cells) {
    for (const std::string& cell : cells) {
      const auto known = std::find(kColumns.begin(), kColumns.end(), cell);
      if (known == kColumns.end())
        return fail_user("{}:{}: column \"{}\" is not known; the header may name {}", origin_, line_number_,
                         cell, fmt::join(kColumns, ","));
      if (std::find(columns_.begin(), columns_.end(), cell) != columns_.end())
        return fail_user("{}:{}: column \"{}\" stands twice in the header; name it once", origin_,
                         line_number_, show(cell));
      columns_.push_back(*known);
    }
    for (const std::string_view needed : {"m", "n", "k"})
      if (std::find(columns_.begin(), columns_.end(), needed) == columns_.end())
        return fail_user("{}:{}: column \"{}\" is missing in the header; m,n,k are needed", origin_,
                         line_number_, needed);
    return {};
  }

  Status read_shape(const std::vector<std::string>& cells) {
    if (cells.size() != columns_.size())
      return fail_user("{}:{}: {} cells, the header names {} columns; give each column one cell", origin_,
                       line_number_, cells.size(), columns_.size());
    if (uses_.size() == kMaxRows)
      return fail_user("{}:{}: more than {} shapes; split the list", origin_, line_number_, kMaxRows);
    ProblemUse use;
    for (size_t i = 0; i < cells.size(); ++i)
      if (const auto accepted = read_cell(columns_[i], cells[i], use))
        return fail_user("{}:{}: column \"{}\" is \"{}\"; it must be {}", origin_, line_number_, columns_[i],
                         show(cells[i]), *accepted);
    const Problem tight = with_tight_strides(use.problem);
    if (use.problem.lda == 0) use.problem.lda = tight.lda;
    if (use.problem.ldb == 0) use.problem.ldb = tight.ldb;
    if (use.problem.ldc == 0) use.problem.ldc = tight.ldc;
    if (const Status checked = check_problem(use.problem); !checked)
      return with_context(checked.error(), fmt::format("{}:{}", origin_, line_number_));
    uses_.push_back(std::move(use));
    return {};
  }

  const std::string& origin_;
  int64_t line_number_ = 0;
  std::vector<std::string_view> columns_;
  std::vector<ProblemUse> uses_;
};

std::string quote(const std::string& text) {
  if (text.find_first_of(",\"# \t") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char letter : text) quoted += letter == '"' ? "\"\"" : std::string(1, letter);
  return quoted + "\"";
}

}  // namespace

Result<std::vector<ProblemUse>> parse_shapes_csv(std::string_view text, const std::string& origin) {
  if (text.substr(0, 3) == "\xef\xbb\xbf") text.remove_prefix(3);
  ShapeReader reader(origin);
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    KW_TRY_VOID(reader.read_line(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return reader.finish();
}

std::string print_shapes_csv(const std::vector<ProblemUse>& uses) {
  std::string text = fmt::format("{}\n", fmt::join(kColumns, ","));
  for (const ProblemUse& use : uses) {
    const Problem& p = use.problem;
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", quote(use.name), use.phase, use.tokens,
                        use.count, p.m, p.n, p.k, print_layout(p.layout), print_dtype(p.dtype), p.lda, p.ldb,
                        p.ldc, p.alpha, p.beta);
  }
  return text;
}

}  // namespace kw
