// Recorded table: every row is found again by its problem and schedule, a pass has its times, nothing else
// has.
#include "base/check.h"
#include "target.h"
#include "target/recorded.h"

namespace kw::fuzz {

void run_recorded(std::string_view input) {
  const auto table = RecordedTable::parse(input, "recorded.csv");
  if (!table) return demand_plain(table.error());
  size_t rows_of_problems = 0;
  for (const std::string& problem : table->problems()) rows_of_problems += table->find_rows(problem).size();
  KW_CHECK(rows_of_problems == table->rows().size(), "{} of {} rows", rows_of_problems, table->rows().size());
  for (const RecordedRow& row : table->rows()) {
    KW_CHECK(parse_problem(row.problem).has_value(), "{}", row.problem);
    const auto found = table->find(row.problem, row.schedule);
    KW_CHECK(found.has_value() && *found == &row, "{} {}", row.problem, row.schedule);
    for (const auto& text : {row.family, row.schedule, row.binary_hash, row.device, row.verdict.code()})
      demand_text(text, size_t{1} << 20);
    const Evaluation evaluation = replay_row(row, Proposal{});
    KW_CHECK(evaluation.timing.has_value() == evaluation.verdict.passed(), "{}", row.verdict.code());
    if (evaluation.timing) KW_CHECK(evaluation.timing->median_us > 0, "{}", evaluation.timing->median_us);
  }
}

}  // namespace kw::fuzz
