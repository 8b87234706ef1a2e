#include "cli/bench_print.h"

#include "cli/table.h"
#include "record/problem.h"

namespace kw {
namespace {

std::string describe(const std::string& name) {
  const auto problem = parse_problem(name);
  return problem ? describe_problem(*problem) : name;
}

std::string print_share(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string print_ratios(const char* title, const char* lost, const std::optional<RatioSummary>& ratios) {
  if (!ratios) return "";
  std::string text =
      fmt::format("\n{}: geomean {:.4f} [{:.4f}, {:.4f}], median {:.4f}, {} {}, {} cases\n", title,
                  ratios->geomean, ratios->geomean_interval.low, ratios->geomean_interval.high,
                  ratios->median, print_share(ratios->share_lost), lost, ratios->cases);
  Table worst({"worst", "ratio"});
  for (const RatioCase& one : ratios->worst)
    worst.add({describe(one.name), fmt::format("{:.3f}", one.ratio)});
  Table bands({"log2(flops)", "cases", "geomean", lost});
  for (const RatioBand& band : ratios->bands)
    bands.add({fmt::format("{}", band.log2_flops), fmt::format("{}", band.cases),
               fmt::format("{:.4f}", band.geomean), print_share(band.share_lost)});
  return text + worst.print() + bands.print();
}

Json make_ratios_json(const std::optional<RatioSummary>& ratios) {
  if (!ratios) return nullptr;
  Json json = {{"cases", ratios->cases},
               {"geomean", ratios->geomean},
               {"geomean_low", ratios->geomean_interval.low},
               {"geomean_high", ratios->geomean_interval.high},
               {"median", ratios->median},
               {"share_lost", ratios->share_lost},
               {"worst", Json::array()},
               {"bands", Json::array()}};
  for (const RatioCase& one : ratios->worst)
    json["worst"].push_back({{"case", one.name}, {"ratio", one.ratio}});
  for (const RatioBand& band : ratios->bands)
    json["bands"].push_back({{"log2_flops", band.log2_flops},
                             {"cases", band.cases},
                             {"geomean", band.geomean},
                             {"share_lost", band.share_lost}});
  return json;
}

Json make_number(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

}  // namespace

std::string print_bench_text(const std::vector<BenchSummary>& summaries) {
  std::string text;
  for (const BenchSummary& summary : summaries) {
    text +=
        fmt::format("{}: {} cases, {} without a right vendor routine, {} with a refused one\n",
                    print_bench_mode(summary.mode), summary.cases, summary.unmeasured, summary.with_refused);
    if (summary.agreement_median)
      text += fmt::format(
          "two measurements of the fastest routine differ by {:.2f} % (median), {:.2f} % at most\n",
          100 * *summary.agreement_median, 100 * *summary.agreement_worst);
    text += print_ratios("ours over the vendor, same layout", "below 1", summary.same_layout);
    text += print_ratios("ours over the vendor, better layout of each", "below 1", summary.best_layout);
    text +=
        print_ratios("time of cuBLASLt's heuristic over the best", "above 1", summary.heuristic_over_best);
    text += print_ratios("time of cuBLAS' default over the best", "above 1", summary.cublas_over_best);
    text += "\n";
  }
  return text;
}

Json make_bench_json(const std::vector<BenchSummary>& summaries) {
  Json json = Json::array();
  for (const BenchSummary& summary : summaries)
    json.push_back({{"mode", print_bench_mode(summary.mode)},
                    {"cases", summary.cases},
                    {"unmeasured", summary.unmeasured},
                    {"with_refused", summary.with_refused},
                    {"agreement_median", make_number(summary.agreement_median)},
                    {"agreement_worst", make_number(summary.agreement_worst)},
                    {"same_layout", make_ratios_json(summary.same_layout)},
                    {"best_layout", make_ratios_json(summary.best_layout)},
                    {"heuristic_over_best", make_ratios_json(summary.heuristic_over_best)},
                    {"cublas_over_best", make_ratios_json(summary.cublas_over_best)}});
  return json;
}

}  // namespace kw
