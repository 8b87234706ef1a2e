// Evaluation -> rows, once per identity (store.h, doc/store.md). Used by add_evaluations, merge and import,
// inside their transaction. Refuses records that cannot be; a refused record leaves the transaction to be
// rolled back.
#pragma once

#include "record/candidate.h"
#include "store/database.h"
#include "store/identity.h"

namespace kw {

// Where an evaluation and its verdict come from. They differ when a second schedule led to a known binary.
struct EvaluationOrigin {
  RunOrigin run;
  RunOrigin verdict_run;
  std::optional<double> verdict_finished_s;  // since verdict_run began; absent when imported
  int protocol_version = 0;
};

[[nodiscard]] Status write_evaluation(Database& database, const Evaluation& evaluation,
                                      const EvaluationOrigin& origin);

}  // namespace kw
