#include "loop/recorded_lab.h"

#include "base/check.h"
#include "target/recorded_space.h"

namespace kw {

Result<std::unique_ptr<Lab>> RecordedLab::open(const RecordedTable& table, const Problem& problem,
                                               const DeviceFacts& device) {
  std::unique_ptr<RecordedLab> lab(new RecordedLab(table, device));
  lab->problem_ = print_problem(problem);
  const auto rows = table.find_rows(lab->problem_);
  if (rows.empty()) return fail_user("the recorded table has no row of \"{}\"", lab->problem_);
  // Legality and features are those of the device that was recorded, not of this machine.
  KW_TRY(std::unique_ptr<Space> base, make_space(rows.front()->family, problem, device));
  KW_TRY(lab->space_, make_recorded_space(std::move(base), table, lab->problem_));
  lab->bar_.baseline = "recorded";
  for (const RecordedRow* row : rows)
    if (row->baseline_us) {
      lab->bar_.median_us = *row->baseline_us;
      break;
    }
  return std::unique_ptr<Lab>(std::move(lab));
}

Status RecordedLab::verify(Candidate& candidate) {
  KW_TRY(const RecordedRow* row, table_.find(problem_, candidate.evaluation.proposal.schedule));
  candidate.evaluation = replay_row(*row, candidate.evaluation.proposal);
  candidate.failed = !candidate.evaluation.verdict.passed();
  return {};
}

Status RecordedLab::measure(Candidate& candidate, std::optional<double>) {
  KW_CHECK(candidate.failed || candidate.evaluation.timing, "{} has neither a failure nor a time",
           candidate.evaluation.proposal.schedule);
  return {};
}

}  // namespace kw
