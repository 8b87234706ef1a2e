#include "store/evaluation_reader.h"

#include "store/identity.h"
#include "store/timing_row.h"

namespace kw {

// LEFT keeps the planner from starting with the small tables and walking through all of them.
const std::string kSelectEvaluations = fmt::format(
    "SELECT {}, e.id, p.key, d.key, v.protocol_version, e.run, v.run, v.finished_s, e.proposer, e.family, "
    "e.schedule, "
    "e.note, e.seed, f.text, e.free_language, e.free_launch, e.kernel_name, s.text, e.source_hash, "
    "e.compiler, e.compile_us, "
    "e.from_cache, e.finished_s, b.hash, CASE WHEN ?1 THEN b.launch END, v.class, v.reason, v.evidence, "
    "v.ran, "
    "v.promoted "
    "FROM verdicts v JOIN evaluations e ON e.verdict = v.id LEFT JOIN problems p ON p.id = v.problem "
    "LEFT JOIN devices d ON d.id = v.device LEFT JOIN runs r ON r.id = e.run "
    "LEFT JOIN binaries b ON b.id = v.binary "
    "LEFT JOIN timings t ON t.verdict = v.id AND t.purpose = 'search' "
    "LEFT JOIN sources s ON s.id = e.source AND ?1 "
    "LEFT JOIN sources f ON f.id = e.free_source AND ?1 ",
    kTimingColumns);

const std::string kFindEvaluationsSql =
    kSelectEvaluations +
    "WHERE v.problem = (SELECT id FROM problems WHERE key = ?2) AND v.device = (SELECT id FROM devices WHERE "
    "key = ?3) "
    "AND v.protocol_version = ?4 ORDER BY r.started, r.uid, e.finished_s, e.id";

const std::string kFindBestSql = kSelectEvaluations +
                                 "WHERE v.problem = (SELECT id FROM problems WHERE key = ?2) AND v.device = "
                                 "(SELECT id FROM devices WHERE key = ?3) "
                                 "AND v.protocol_version = ?4 AND v.class = 'pass' AND t.ratio IS NOT NULL "
                                 "AND e.id = (SELECT min(id) FROM evaluations WHERE verdict = v.id) ORDER BY "
                                 "t.ratio DESC, b.hash LIMIT ?5";

namespace {

Result<std::optional<LaunchRecord>> load_launch(Database& database, const std::string& text) {
  if (text.empty()) return std::optional<LaunchRecord>();
  KW_TRY(const Json json, load_json(text, database));
  auto launch = parse_launch(json);
  if (!launch) return with_context(launch.error(), database.path().string());
  return std::optional(std::move(*launch));
}

Status load_parents(Database& database, int64_t evaluation, std::vector<std::string>& parents) {
  KW_TRY(
      Statement rows,
      database.query("SELECT b.hash FROM lineage l JOIN binaries b ON b.id = l.parent WHERE l.evaluation = ? "
                     "ORDER BY l.position",
                     evaluation));
  while (true) {
    KW_TRY(const bool found, rows.step());
    if (!found) return {};
    parents.push_back(rows.text(0));
  }
}

}  // namespace

Result<StoredEvaluation> load_evaluation(Database& database, const Statement& row, Detail detail) {
  StoredEvaluation stored;
  Evaluation& e = stored.evaluation;
  int column = kTimingColumnCount;
  const int64_t id = row.integer(column++);
  e.problem = row.text(column++);
  stored.device_key = row.text(column++);
  stored.protocol_version = static_cast<int>(row.integer(column++));
  stored.run = row.integer(column++);
  stored.verdict_run = row.integer(column++);
  stored.verdict_finished_s = row.find_real(column++);
  e.proposal.proposer = row.text(column++);
  e.proposal.family = row.text(column++);
  e.proposal.schedule = row.text(column++);
  e.proposal.note = row.text(column++);
  e.proposal.seed = static_cast<uint64_t>(row.integer(column++));
  e.proposal.free_text = row.text(column++);
  e.proposal.free_language = row.find_text(column++).value_or(Proposal{}.free_language);
  KW_TRY(e.proposal.free_launch, load_launch(database, row.text(column++)));
  KW_TRY_VOID(load_parents(database, id, e.proposal.parents));
  e.kernel_name = row.text(column++);
  e.source_text = row.text(column++);
  e.source_hash = row.text(column++);
  e.compiler = row.text(column++);
  e.compile_us = row.real(column++);
  e.from_cache = row.integer(column++) != 0;
  e.finished_s = row.real(column++);
  e.binary_hash = row.text(column++);
  KW_TRY(e.launch, load_launch(database, row.text(column++)));
  KW_TRY(e.verdict.klass, parse_verdict_class(row.text(column++)));
  e.verdict.reason = row.text(column++);
  KW_TRY(e.verdict.evidence, load_json(row.text(column++), database));
  if (row.integer(column++) != 0) e.verdict.binary_hash = e.binary_hash;
  e.verdict.promoted = row.integer(column++) != 0;
  KW_TRY(e.timing, load_timing(database, row, 0, e.binary_hash, detail == Detail::kFull));
  return stored;
}

}  // namespace kw
