#include "cli/results.h"

#include "cli/table.h"
#include "cli/version.h"
#include "ship/sanity.h"
#include "ship/summary.h"

namespace kw {
namespace {

std::string label_of(const ProblemUse& use) {
  std::string text = describe_problem(use.problem);
  return use.name.empty() ? text : text + "  " + use.name;
}

double gflops(double flops, double us) { return us > 0 ? flops / us * 1e-3 : 0; }

std::vector<GridCase> cases_of(const TuneOutcome& outcome) {
  std::vector<GridCase> cases;
  for (const ProblemResult& result : outcome.results) cases.push_back({result.decision, result.flops});
  return cases;
}

std::vector<Oddity> oddities_of(const TuneOutcome& outcome) {
  std::vector<PublishedTime> times;
  for (const ProblemResult& result : outcome.results)
    if (result.failure.empty()) add_times(result.decision, result.flops, times);
  return find_oddities(outcome.device, times);
}

std::string choice_of(const ProblemResult& result) {
  if (!result.failure.empty()) return "not tuned";
  if (!result.decision.binary_hash.empty()) return "ours";
  return "vendor";
}

std::string print_summary(const TuneOutcome& outcome) {
  const auto summary = summarize(cases_of(outcome));
  if (!summary) return "";
  std::string text = fmt::format(
      "\n{} shape{}: geometric mean speedup {:.3f} (95 % interval {:.3f} to {:.3f}) over the best vendor "
      "routine; the "
      "vendor's own\nroutine is kept for {:.0f} % of the shapes, where no kernel of ours is faster beyond "
      "doubt "
      "(counted as 1.00).\n",
      summary->cases, summary->cases == 1 ? "" : "s", summary->geomean, summary->geomean_interval.low,
      summary->geomean_interval.high, summary->vendor_share * 100);
  double ours_us = 0, vendor_us = 0;
  for (const ProblemResult& result : outcome.results) {
    const auto calls = static_cast<double>(result.use.count);
    vendor_us += calls * result.decision.baseline_median_us;
    ours_us += calls * result.decision.baseline_median_us / result.decision.ratio;
  }
  if (outcome.results.size() > 1 && vendor_us > 0)
    text += fmt::format(
        "All calls of one step: {} with the vendor, {} with these choices ({:.1f} % less time).\n",
        print_time(vendor_us), print_time(ours_us), (1 - ours_us / vendor_us) * 100);
  return text;
}

}  // namespace

std::string print_results(const TuneOutcome& outcome) {
  Table table({"shape", "calls", "vendor", "vendor time", "our time", "GFLOP/s", "speedup", "99.5 % interval",
               "choice", "tried"});
  bool starred = false;
  for (const ProblemResult& result : outcome.results) {
    const Decision& decision = result.decision;
    const bool ours = !decision.binary_hash.empty();
    const Timing* timing = result.confirmation ? &*result.confirmation : nullptr;
    const bool unconfirmed = !timing && result.best && result.best->timing;
    if (unconfirmed) timing = &*result.best->timing;
    starred = starred || (timing != nullptr && !ours);
    table.add({label_of(result.use), fmt::format("{}", result.use.count), decision.baseline,
               print_time(decision.baseline_median_us), timing ? print_time(timing->median_us) : "-",
               timing ? fmt::format("{:.1f}", gflops(result.flops, timing->median_us)) : "-",
               timing ? fmt::format("{:.3f}{}", timing->ratio, ours ? "" : " *") : "-",
               timing ? fmt::format("[{:.3f}, {:.3f}]", timing->ratio_low, timing->ratio_high) : "-",
               choice_of(result), fmt::format("{}", result.evaluations)});
  }
  std::string text = table.print();
  if (starred)
    text += "* best of the search, not faster beyond doubt when measured again; the vendor's routine stays\n";
  text += print_summary(outcome);
  for (const Oddity& oddity : oddities_of(outcome))
    text += fmt::format("{} {}\n",
                        oddity.impossible ? "IMPOSSIBLE, do not believe it:" : "Worth a look:", oddity.text);
  return text;
}

Json print_results_json(const TunePlan& plan, const TuneOutcome& outcome) {
  Json json;
  json["command"] = plan.command;
  json["version"] = KW_VERSION;
  json["protocol"] = kProtocolVersion;
  json["seed"] = plan.seed;
  json["secret_seed"] = outcome.secret_seed;
  json["device"] = print_device(outcome.device);
  json["elapsed_s"] = outcome.elapsed_s;
  json["interrupted"] = outcome.interrupted;
  json["compiler_runs"] = outcome.compiler_runs;
  json["results"] = Json::array();
  for (const ProblemResult& result : outcome.results) {
    Json row;
    row["problem"] = print_problem(result.use.problem);
    row["name"] = result.use.name;
    row["count"] = result.use.count;
    row["flops"] = result.flops;
    row["choice"] = choice_of(result);
    row["baseline"] = result.decision.baseline;
    row["baseline_us"] = result.decision.baseline_median_us;
    row["ratio"] = result.decision.ratio;
    row["ratio_low"] = result.decision.ratio_low;
    row["ratio_high"] = result.decision.ratio_high;
    row["median_us"] = result.decision.median_us;
    row["reason"] = result.decision.reason;
    row["kernel"] = result.decision.binary_hash.empty() ? Json() : Json(result.decision.binary_hash);
    row["schedule"] = result.schedule.empty() ? Json() : Json(result.schedule);
    row["evaluations"] = result.evaluations;
    row["new_evaluations"] = result.new_evaluations;
    row["passed"] = result.passed;
    if (result.best && result.best->timing)
      row["best_measured"] = {{"kernel", result.best->binary_hash},
                              {"schedule", result.best->proposal.schedule},
                              {"ratio", result.best->timing->ratio},
                              {"median_us", result.best->timing->median_us}};
    row["baselines"] = Json::array();
    for (const BaselineRow& baseline : result.baselines)
      row["baselines"].push_back({{"name", baseline.name},
                                  {"median_us", baseline.refused.empty() ? Json(baseline.median_us) : Json()},
                                  {"refused", baseline.refused}});
    json["results"].push_back(std::move(row));
  }
  json["oddities"] = Json::array();
  for (const Oddity& oddity : oddities_of(outcome))
    json["oddities"].push_back({{"impossible", oddity.impossible}, {"text", oddity.text}});
  if (const auto summary = summarize(cases_of(outcome)))
    json["summary"] = {{"cases", summary->cases},
                       {"geomean", summary->geomean},
                       {"geomean_low", summary->geomean_interval.low},
                       {"geomean_high", summary->geomean_interval.high},
                       {"median", summary->median},
                       {"share_below_one", summary->share_below_one},
                       {"vendor_share", summary->vendor_share}};
  return json;
}

}  // namespace kw
