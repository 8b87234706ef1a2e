#include "store/timing_row.h"

#include <bit>
#include <cstring>

#include "store/identity.h"

namespace kw {
namespace {

static_assert(std::endian::native == std::endian::little, "samples are stored as little-endian float64");

BlobView view_samples(const std::vector<double>& samples) {
  return {samples.data(), samples.size() * sizeof(double)};
}

std::vector<double> load_samples(std::string_view blob) {
  std::vector<double> samples(blob.size() / sizeof(double));
  if (!samples.empty()) std::memcpy(samples.data(), blob.data(), samples.size() * sizeof(double));
  return samples;
}

}  // namespace

Result<int64_t> add_timing(Database& database, int64_t verdict, const std::string& purpose,
                           const Timing& timing) {
  KW_TRY_VOID(database.run(
      "INSERT INTO timings (verdict, purpose, baseline, mode, cache, threads, median_us, baseline_median_us, "
      "ratio, "
      "ratio_low, ratio_high, confirmed, disturbed, note) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      verdict, purpose, timing.baseline, timing.mode, timing.cache, timing.threads, timing.median_us,
      timing.baseline_median_us, timing.ratio, timing.ratio_low, timing.ratio_high, timing.confirmed,
      timing.disturbed, value_or_null(timing.note)));
  const int64_t id = database.last_id();
  if (!timing.latency_us.empty() || !timing.baseline_latency_us.empty())
    KW_TRY_VOID(database.run("INSERT INTO samples (timing, latency_us, baseline_latency_us) VALUES (?, ?, ?)",
                             id, view_samples(timing.latency_us), view_samples(timing.baseline_latency_us)));
  return id;
}

Result<std::optional<Timing>> load_timing(Database& database, const Statement& row, int first_column,
                                          const std::string& binary_hash, bool with_samples) {
  if (row.is_null(first_column)) return std::optional<Timing>();
  int column = first_column;
  const int64_t id = row.integer(column++);
  Timing timing;
  timing.binary_hash = binary_hash;
  timing.baseline = row.text(column++);
  timing.mode = row.text(column++);
  timing.cache = row.text(column++);
  timing.threads = static_cast<int>(row.integer(column++));
  timing.median_us = row.real(column++);
  timing.baseline_median_us = row.real(column++);
  timing.ratio = row.real(column++);
  timing.ratio_low = row.real(column++);
  timing.ratio_high = row.real(column++);
  timing.confirmed = row.integer(column++) != 0;
  timing.disturbed = row.integer(column++) != 0;
  timing.note = row.text(column++);
  if (with_samples) {
    KW_TRY(Statement samples,
           database.query("SELECT latency_us, baseline_latency_us FROM samples WHERE timing = ?", id));
    KW_TRY(const bool found, samples.step());
    if (found) {
      timing.latency_us = load_samples(samples.blob(0));
      timing.baseline_latency_us = load_samples(samples.blob(1));
    }
  }
  return std::optional(std::move(timing));
}

}  // namespace kw
