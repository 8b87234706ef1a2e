// Rows of a store that another hand has written: each line of the input names a column by its first letter
// and gives its new text. Whatever stands there, an evaluation is loaded or the damage is reported in one
// line.
#include <array>

#include "base/check.h"
#include "store/impl.h"
#include "store/query.h"
#include "target.h"

namespace kw::fuzz {
namespace {

constexpr const char* kProblem = "gemm f32 nt m16 n16 k16 lda16 ldb16 ldc16 alpha1 beta0";
constexpr const char* kLaunch = R"({"layout": "nt", "kernels": [{"name": "f", "items": "m"}]})";
// In order from "a".
constexpr std::array kColumns = {"verdicts.evidence",
                                 "binaries.launch",
                                 "evaluations.free_launch",
                                 "verdicts.class",
                                 "verdicts.reason",
                                 "verdicts.ran",
                                 "evaluations.family",
                                 "evaluations.schedule",
                                 "evaluations.proposer",
                                 "evaluations.seed",
                                 "evaluations.compile_us",
                                 "timings.ratio",
                                 "timings.threads",
                                 "timings.median_us",
                                 "samples.latency_us",
                                 "runs.facts",
                                 "problems.key",
                                 "binaries.hash",
                                 "sources.text",
                                 "verdicts.protocol_version"};

DeviceFacts make_device() {
  DeviceFacts device;
  device.target = "cpu", device.isa = "avx2";
  return device;
}

Evaluation make_pass() {
  Evaluation evaluation;
  evaluation.problem = kProblem;
  evaluation.proposal.family = "free";
  evaluation.proposal.free_text = "void f() {}";
  evaluation.proposal.free_launch = *parse_launch(*parse_json(kLaunch, "launch"));
  evaluation.launch = evaluation.proposal.free_launch;
  evaluation.binary_hash = evaluation.verdict.binary_hash = std::string(64, 'a');
  evaluation.verdict.klass = VerdictClass::kPass;
  Timing timing;
  timing.binary_hash = evaluation.binary_hash;
  timing.baseline = "onednn";
  timing.latency_us = timing.baseline_latency_us = {1, 2};
  timing.median_us = timing.baseline_median_us = timing.ratio = timing.ratio_low = timing.ratio_high = 1;
  evaluation.timing = timing;
  return evaluation;
}

Store make_store() {
  static const TempFolder folder = *TempFolder::make();
  Store store = *Store::open(folder.path() / "store.db");
  const auto run = store.add_run({"tune", 1, make_device(), "0"});
  KW_CHECK(run && store.add_evaluations(*run, {make_pass()}), "the store refuses its row");
  const Status unchecked =
      store.impl().database->run_script("PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF");
  KW_CHECK(unchecked, "{}", unchecked.error().message);
  return store;
}

// A value that a column's type does not take is left out.
void change(Database& database, std::string_view line) {
  if (line.empty() || line[0] < 'a' || static_cast<size_t>(line[0] - 'a') >= kColumns.size()) return;
  const std::string_view column = kColumns[static_cast<size_t>(line[0] - 'a')];
  const size_t dot = column.find('.');
  const std::string sql = fmt::format("UPDATE {} SET {} = ?", column.substr(0, dot), column.substr(dot + 1));
  const Status changed = database.run(sql, line.substr(1));
  if (!changed) demand_line(changed.error().message);
}

}  // namespace

void run_stored_row(std::string_view input) {
  static const Store store = make_store();
  Database& database = *store.impl().database;
  const auto transaction = Transaction::begin(database);  // rolled back at the end
  KW_CHECK(transaction, "{}", transaction.error().message);
  while (!input.empty()) {
    const size_t end = std::min(input.find('\n'), input.size());
    change(database, input.substr(0, end));
    input.remove_prefix(std::min(end + 1, input.size()));
  }
  for (const bool full : {false, true}) {
    const auto found = find_evaluations(store, kProblem, make_device().key(), full);
    if (!found) demand_line(found.error().message);
    if (!found) continue;
    for (const Evaluation& evaluation : *found) demand_text(print_json(evaluation.verdict.evidence), 1 << 20);
  }
  const auto best = find_best(store, kProblem, make_device().key(), 3);
  if (!best) demand_line(best.error().message);
}

}  // namespace kw::fuzz
