// measure_baselines: every vendor routine in turn, round by round, so that drift hits all alike;
// rank_baselines: each once. In: names. Out: rows, fastest first. Whether a baseline computes the right thing
// is verify's business.
#include <algorithm>
#include <cmath>
#include <memory>

#include "base/random.h"
#include "base/statistics.h"
#include "measure/measure.h"
#include "measure/sampler.h"

namespace kw {
namespace {

constexpr double kHalvesAgree = 0.10;
constexpr int kRankingRuns = 2;  // the first loads and warms up

struct Contender {
  BaselineRow row;
  std::unique_ptr<Program> program;
  Side side;
  std::vector<double> latency_us;
  std::optional<size_t> same_as;  // place of an earlier contender that is the same routine
  bool alive() const { return row.refused.empty() && !same_as; }
};

void refuse(Contender& contender, const Verdict& verdict) {
  contender.row.refused = "failed while timed: " + verdict.code();
  if (verdict.evidence.contains("detail"))
    contender.row.refused += " (" + verdict.evidence["detail"].dump() + ")";
  contender.program.reset();
}

// Relative difference of the medians of the first and the second half.
double halves_difference(const Contender& contender) {
  const std::span<const double> all = contender.latency_us;
  const size_t half = all.size() / 2;
  if (half == 0) return 0;
  const double first = median(all.first(half)), second = median(all.last(half));
  return std::max(first, second) / std::min(first, second) - 1;
}

// Rounds over the contenders, each round in a new random order, until max_pairs or the budget of the group is
// reached.
void measure_rounds(std::vector<Contender*> group, Sampler& sampler, const MeasurePlan& plan,
                    Random& random) {
  const double begin_us = sampler.spent_us(),
               budget_us = plan.budget_us / 2 * static_cast<double>(group.size());
  for (Contender* contender : group) contender->latency_us.clear();
  for (int round = 0; round < plan.max_pairs; ++round) {
    const double spent_us = sampler.spent_us() - begin_us;
    if (round >= 1 && spent_us >= 3 * budget_us) break;
    if (round >= plan.min_pairs && spent_us >= budget_us) break;
    for (size_t i = group.size(); i > 1; --i) std::swap(group[i - 1], group[random.below(i)]);
    for (Contender* contender : group) {
      if (!contender->alive()) continue;
      if (const auto latency_us = sampler.sample(contender->side); latency_us)
        contender->latency_us.push_back(*latency_us);
      else
        refuse(*contender, latency_us.error());
    }
  }
}

// Loads one more routine. One that stands behind an earlier name already is not loaded twice.
void start_contender(Device& device, Buffers& buffers, const std::string& name,
                     std::vector<Contender>& contenders) {
  Contender& contender = contenders.emplace_back();
  contender.row.name = name;
  auto program = device.start_baseline(name, buffers);
  if (!program) {
    contender.row.refused = "does not start: " + program.error().message;
    return;
  }
  contender.row.identity = (*program)->identity();
  for (size_t i = 0; i + 1 < contenders.size() && !contender.same_as; ++i)
    if (!contender.row.identity.empty() && contenders[i].row.identity == contender.row.identity)
      contender.same_as = i;
  if (!contender.same_as) contender.program = std::move(*program);
}

std::vector<Contender> start_contenders(Device& device, Buffers& buffers,
                                        const std::vector<std::string>& names, Sampler& sampler,
                                        const MeasurePlan& plan) {
  std::vector<Contender> contenders;
  for (const std::string& name : names) {
    start_contender(device, buffers, name, contenders);
    Contender& contender = contenders.back();
    if (!contender.alive()) continue;
    contender.side = {contender.program.get(), plan.run_limit};
    if (auto done = sampler.calibrate(contender.side); !done) {
      refuse(contender, done.error());
      continue;
    }
    const bool long_calls = contender.side.expected_us >= plan.budget_us / 8;
    if (long_calls) continue;  // calibration was warm-up enough
    if (auto warm_up = sampler.sample(contender.side); !warm_up) refuse(contender, warm_up.error());
  }
  return contenders;
}

std::vector<Contender*> find_alive(std::vector<Contender>& contenders, double halves_differ_above) {
  std::vector<Contender*> alive;
  for (Contender& contender : contenders)
    if (contender.alive() && !(halves_difference(contender) <= halves_differ_above))
      alive.push_back(&contender);
  return alive;
}

void finish_row(Contender& contender) {
  BaselineRow& row = contender.row;
  if (!row.refused.empty() || contender.same_as) return;
  row.median_us = median(contender.latency_us);
  row.latency_us = contender.latency_us;
  const double difference = halves_difference(contender);
  if (!(difference <= kHalvesAgree))
    row.note = fmt::format("unsteady: halves of its samples differ by {:.0f} %", 100 * difference);
}

std::vector<BaselineRow> make_rows(std::vector<Contender>& contenders) {
  for (Contender& contender : contenders) finish_row(contender);
  std::vector<BaselineRow> rows;
  for (const Contender& contender : contenders) {
    BaselineRow& row = rows.emplace_back(contender.row);
    if (!contender.same_as) continue;
    row = contenders[*contender.same_as].row;
    row.name = contender.row.name;
  }
  std::stable_sort(rows.begin(), rows.end(), [](const BaselineRow& a, const BaselineRow& b) {
    if (a.refused.empty() != b.refused.empty()) return a.refused.empty();
    return a.refused.empty() && a.median_us < b.median_us;
  });
  return rows;
}

}  // namespace

Result<std::vector<BaselineRow>> measure_baselines(Device& device, Buffers& buffers,
                                                   const std::vector<std::string>& names,
                                                   const MeasurePlan& plan) {
  Sampler sampler(buffers, plan);
  Random random(plan.seed);
  auto contenders = start_contenders(device, buffers, names, sampler, plan);
  measure_rounds(find_alive(contenders, -1), sampler, plan, random);
  if (auto unsteady = find_alive(contenders, kHalvesAgree); !unsteady.empty())
    measure_rounds(std::move(unsteady), sampler, plan, random);
  return make_rows(contenders);
}

Result<std::vector<BaselineRow>> rank_baselines(Device& device, Buffers& buffers,
                                                const std::vector<std::string>& names,
                                                Milliseconds run_limit) {
  Sampler sampler(buffers, {});
  std::vector<Contender> contenders;
  for (const std::string& name : names) {
    start_contender(device, buffers, name, contenders);
    Contender& contender = contenders.back();
    contender.side = {contender.program.get(), run_limit, buffers.sets()};
    for (int run = 0; run < kRankingRuns && contender.alive(); ++run) {
      if (const auto latency_us = sampler.sample(contender.side); latency_us)
        contender.latency_us = {*latency_us};
      else
        refuse(contender, latency_us.error());
    }
    contender.program.reset();
  }
  return make_rows(contenders);
}

}  // namespace kw
