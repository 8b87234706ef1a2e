// Rows -> Evaluation. Callers put their WHERE and ORDER BY behind kSelectEvaluations. Used by query, merge
// and measurements; writes nothing.
#pragma once

#include <string>

#include "record/candidate.h"
#include "store/database.h"

namespace kw {

// Joins p problems, d devices, v verdicts, e evaluations, r the evaluation's run, b binary, t search timing,
// s and f source texts. Parameter ?1 is 1 when texts and launch records are wanted, else 0.
extern const std::string kSelectEvaluations;
// Behind WHERE: ?2 problem, ?3 device key, ?4 protocol version. Oldest first.
extern const std::string kFindEvaluationsSql;
// The same parameters and ?5 = how many. Best ratio first, each verdict once.
extern const std::string kFindBestSql;

// An evaluation and what only the store knows of it.
struct StoredEvaluation {
  Evaluation evaluation;
  std::string device_key;
  int protocol_version = 0;
  int64_t run = 0, verdict_run = 0;
  std::optional<double> verdict_finished_s;  // absent when imported
};

enum class Detail { kPlain, kFull };  // kFull: samples, source texts, launch records

// The row that the statement stands on.
[[nodiscard]] Result<StoredEvaluation> load_evaluation(Database& database, const Statement& row,
                                                       Detail detail);

// All rows of a kSelectEvaluations query; the first parameter is bound here.
template <class... Args>
[[nodiscard]] Result<std::vector<Evaluation>> load_evaluations(Database& database, const std::string& sql,
                                                               Detail detail, const Args&... values) {
  KW_TRY(Statement rows, database.query(sql, detail == Detail::kFull, values...));
  std::vector<Evaluation> evaluations;
  while (true) {
    KW_TRY(const bool found, rows.step());
    if (!found) return evaluations;
    KW_TRY(StoredEvaluation stored, load_evaluation(database, rows, detail));
    evaluations.push_back(std::move(stored.evaluation));
  }
}

}  // namespace kw
