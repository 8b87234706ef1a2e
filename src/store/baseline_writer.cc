#include "store/baseline_writer.h"

#include "store/identity.h"

namespace kw {

Status write_baseline(Database& database, int64_t run, int protocol_version, const std::string& measured,
                      const BaselineRecord& baseline) {
  KW_TRY(const int64_t problem, add_problem(database, baseline.problem));
  return database.run(
      "INSERT INTO baselines (run, problem, protocol_version, name, version, median_us, refused, measured) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (problem, run, name, version) DO UPDATE SET "
      "median_us = excluded.median_us, refused = excluded.refused, measured = excluded.measured "
      "WHERE excluded.measured >= measured",
      run, problem, protocol_version, baseline.name, baseline.version, baseline.median_us,
      value_or_null(baseline.refused), measured);
}

}  // namespace kw
