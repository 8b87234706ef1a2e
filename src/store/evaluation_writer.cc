#include "store/evaluation_writer.h"

#include <tuple>

#include "base/hash.h"
#include "store/timing_row.h"

namespace kw {
namespace {

// Of two verdicts on one thing the greater stays (store.h, add_evaluations).
struct Rank {
  bool decided;   // not skipped
  bool measured;  // not imported
  int severity;   // 0 pass, 1 promoted pass, 2 failure
  std::string started, uid;
  double finished_s;
};

bool goes_before(const Rank& a, const Rank& b) {
  const auto weight = [](const Rank& r) { return std::tie(r.decided, r.measured, r.severity); };
  const auto time = [](const Rank& r) { return std::tie(r.started, r.uid, r.finished_s); };
  if (weight(a) != weight(b)) return weight(a) > weight(b);
  return time(a) < time(b);
}

Rank make_rank(std::string_view klass, bool promoted, const RunOrigin& run,
               std::optional<double> finished_s) {
  // An imported verdict has no time; its run decides, of which each holds a thing once.
  const int severity = klass != "pass" ? 2 : promoted ? 1 : 0;
  return {klass != "skipped", !run.imported, severity, run.started, run.uid, finished_s.value_or(0)};
}

struct KnownVerdict {
  int64_t id;
  Rank rank;
  bool passed, timed;
};

// Row numbers an evaluation refers to.
struct Keys {
  int64_t problem;
  std::optional<int64_t> binary, source, free_source;
  std::string candidate;  // identity without a binary; empty with one
};

Status check_evaluation(const Evaluation& e) {
  const std::string what =
      fmt::format("evaluation of {} ({} {})", e.problem, e.proposal.family, e.proposal.schedule);
  if (e.problem.empty()) return fail("an evaluation without a problem cannot be stored");
  if (!e.verdict.binary_hash.empty() && e.verdict.binary_hash != e.binary_hash)
    return fail("{}: the verdict is about binary {}, the evaluation about \"{}\"", what,
                e.verdict.binary_hash, e.binary_hash);
  if (e.timing && !e.verdict.passed())
    return fail("{}: a timing without a pass (verdict {})", what, e.verdict.code());
  if (e.timing && e.timing->binary_hash != e.binary_hash)
    return fail("{}: the timing is of binary \"{}\", the evaluation of {}", what, e.timing->binary_hash,
                e.binary_hash);
  return {};
}

Result<Keys> add_keys(Database& database, const Evaluation& e) {
  Keys keys;
  KW_TRY(keys.problem, add_problem(database, e.problem));
  KW_TRY(keys.binary, add_binary(database, e.binary_hash, e.launch));
  KW_TRY(keys.source, add_source(database, e.source_text));
  KW_TRY(keys.free_source, add_source(database, e.proposal.free_text));
  if (!keys.binary) {
    const Proposal& p = e.proposal;
    keys.candidate = p.schedule.empty()
                         ? fmt::format("{} text {}", p.family,
                                       hash_parts({p.free_text.empty() ? e.source_text : p.free_text}))
                         : fmt::format("{} {}", p.family, p.schedule);
  }
  return keys;
}

Result<std::optional<KnownVerdict>> find_verdict(Database& database, const Keys& keys,
                                                 const EvaluationOrigin& origin) {
  static const std::string select =
      "SELECT v.id, v.class, v.promoted, v.run, v.finished_s, "
      "EXISTS (SELECT 1 FROM timings t WHERE t.verdict = v.id AND t.purpose = 'search') FROM verdicts v "
      "WHERE v.problem = ? AND v.device = ? AND v.protocol_version = ? AND ";
  KW_TRY(Statement row, keys.binary
                            ? database.query(select + "v.binary = ?", keys.problem, origin.run.device,
                                             origin.protocol_version, *keys.binary)
                            : database.query(select + "v.candidate = ?", keys.problem, origin.run.device,
                                             origin.protocol_version, keys.candidate));
  KW_TRY(const bool found, row.step());
  if (!found) return std::optional<KnownVerdict>();
  KW_TRY(const RunOrigin run, load_run_origin(database, row.integer(3)));
  const std::string klass = row.text(1);
  return std::optional(KnownVerdict{row.integer(0),
                                    make_rank(klass, row.integer(2) != 0, run, row.find_real(4)),
                                    klass == "pass", row.integer(5) != 0});
}

Result<int64_t> insert_verdict(Database& database, const Keys& keys, const Verdict& verdict,
                               const EvaluationOrigin& origin) {
  KW_TRY_VOID(
      database.run("INSERT INTO verdicts (problem, device, protocol_version, binary, candidate, run, "
                   "finished_s, class, reason, "
                   "evidence, ran, promoted) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                   keys.problem, origin.run.device, origin.protocol_version, keys.binary,
                   value_or_null(keys.candidate), origin.verdict_run.id, origin.verdict_finished_s,
                   print_verdict_class(verdict.klass), value_or_null(verdict.reason),
                   print_json(verdict.evidence), !verdict.binary_hash.empty(), verdict.promoted));
  return database.last_id();
}

// Takes away all that rests on a pass which is one no longer.
Status drop_what_rests_on(Database& database, int64_t verdict) {
  KW_TRY_VOID(database.run("DELETE FROM decisions WHERE verdict = ?", verdict));
  KW_TRY_VOID(
      database.run("UPDATE decisions SET confirmation = NULL WHERE confirmation IN "
                   "(SELECT id FROM timings WHERE verdict = ?)",
                   verdict));
  return database.run("DELETE FROM timings WHERE verdict = ?", verdict);
}

Status replace_verdict(Database& database, const KnownVerdict& known, const Verdict& verdict,
                       const EvaluationOrigin& origin) {
  if (known.passed && !verdict.passed()) KW_TRY_VOID(drop_what_rests_on(database, known.id));
  return database.run(
      "UPDATE verdicts SET run = ?, finished_s = ?, class = ?, reason = ?, evidence = ?, ran = ?, promoted = "
      "? "
      "WHERE id = ?",
      origin.verdict_run.id, origin.verdict_finished_s, print_verdict_class(verdict.klass),
      value_or_null(verdict.reason), print_json(verdict.evidence), !verdict.binary_hash.empty(),
      verdict.promoted, known.id);
}

// The verdict's row after this evaluation was heard.
Result<int64_t> write_verdict(Database& database, const Keys& keys, const Evaluation& e,
                              const EvaluationOrigin& origin) {
  KW_TRY(const auto known, find_verdict(database, keys, origin));
  int64_t id = 0;
  bool take_timing = e.timing.has_value();
  if (!known) {
    KW_TRY(id, insert_verdict(database, keys, e.verdict, origin));
  } else {
    id = known->id;
    const Rank rank = make_rank(print_verdict_class(e.verdict.klass), e.verdict.promoted, origin.verdict_run,
                                origin.verdict_finished_s);
    const bool replaces = goes_before(rank, known->rank);
    const bool alike = rank.measured == known->rank.measured;  // an imported time never joins an own verdict
    if (replaces) KW_TRY_VOID(replace_verdict(database, *known, e.verdict, origin));
    if (replaces && !alike)
      KW_TRY_VOID(database.run("DELETE FROM timings WHERE verdict = ? AND purpose = 'search'", id));
    take_timing = take_timing && (replaces || (alike && known->passed && !known->timed));
  }
  if (take_timing) {
    KW_TRY_VOID(database.run("DELETE FROM timings WHERE verdict = ? AND purpose = 'search'", id));
    KW_TRY_VOID(add_timing(database, id, "search", *e.timing));
  }
  return id;
}

Status insert_evaluation(Database& database, int64_t verdict, const Keys& keys, const Evaluation& e,
                         const RunOrigin& run) {
  const bool imported = run.imported;
  std::optional<std::string> free_launch;
  if (e.proposal.free_launch) free_launch = print_json(print_launch(*e.proposal.free_launch));
  KW_TRY_VOID(database.run(
      "INSERT INTO evaluations (verdict, run, proposer, family, schedule, note, seed, free_source, "
      "free_language, free_launch, kernel_name, source, source_hash, compiler, compile_us, from_cache, "
      "finished_s) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      verdict, run.id, e.proposal.proposer, e.proposal.family, value_or_null(e.proposal.schedule),
      value_or_null(e.proposal.note),
      imported ? std::nullopt : std::optional(static_cast<int64_t>(e.proposal.seed)), keys.free_source,
      keys.free_source ? std::optional(e.proposal.free_language) : std::nullopt, free_launch,
      value_or_null(e.kernel_name), keys.source, value_or_null(e.source_hash), value_or_null(e.compiler),
      e.compile_us == 0 ? std::nullopt : std::optional(e.compile_us), e.from_cache,
      imported ? std::nullopt : std::optional(e.finished_s)));
  const int64_t id = database.last_id();
  for (size_t i = 0; i < e.proposal.parents.size(); ++i) {
    KW_TRY(const auto parent, add_binary(database, e.proposal.parents[i], std::nullopt));
    KW_TRY_VOID(database.run("INSERT INTO lineage (evaluation, position, parent) VALUES (?, ?, ?)", id,
                             static_cast<int64_t>(i), parent));
  }
  return {};
}

}  // namespace

Status write_evaluation(Database& database, const Evaluation& e, const EvaluationOrigin& origin) {
  KW_TRY_VOID(check_evaluation(e));
  KW_TRY(Keys keys, add_keys(database, e));
  KW_TRY(const int64_t verdict, write_verdict(database, keys, e, origin));
  KW_TRY(
      Statement row,
      database.query("SELECT e.id, e.run, e.finished_s, e.source FROM evaluations e WHERE e.verdict = ? AND "
                     "e.family = ? AND ifnull(e.schedule, '') = ? AND ifnull(e.free_source, 0) = ?",
                     verdict, e.proposal.family, e.proposal.schedule, keys.free_source.value_or(0)));
  KW_TRY(const bool found, row.step());
  if (!found) return insert_evaluation(database, verdict, keys, e, origin.run);

  const int64_t known = row.integer(0);
  KW_TRY(const RunOrigin known_run, load_run_origin(database, row.integer(1)));
  const double known_s = row.real(2);  // NULL, an imported one's, reads as 0
  if (!keys.source && !row.is_null(3)) keys.source = row.integer(3);
  const bool earlier = std::tie(origin.run.imported, origin.run.started, origin.run.uid, e.finished_s) <
                       std::tie(known_run.imported, known_run.started, known_run.uid, known_s);
  if (!earlier) {
    if (!keys.source) return {};
    return database.run("UPDATE evaluations SET source = ? WHERE id = ? AND source IS NULL", keys.source,
                        known);
  }
  KW_TRY_VOID(database.run("DELETE FROM evaluations WHERE id = ?", known));
  return insert_evaluation(database, verdict, keys, e, origin.run);
}

}  // namespace kw
