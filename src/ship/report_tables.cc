#include "ship/report_tables.h"

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "base/hash.h"
#include "ship/html.h"
#include "ship/sanity.h"
#include "ship/summary.h"

namespace kw {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::string print_interval(double low, double high) { return print_ratio(low) + "–" + print_ratio(high); }

Cell interval_cell(const Timing* timing) {
  if (timing == nullptr) return {"-", -1};
  return {print_interval(timing->ratio_low, timing->ratio_high), timing->ratio_low};
}

// The re-measurement in a fresh process where there was one.
const Timing* find_confirmation(const CaseView& view) {
  return view.row().confirmation ? &*view.row().confirmation : nullptr;
}

std::string explain_loss(const CaseView& view) {
  std::string reason = view.ours ? "our kernel ships although slower; " : "";
  reason += view.valid ? view.decision().reason : "stored ratio is not a positive number";
  if (view.source->evaluations.empty())
    reason += "; no kernel was tried";
  else if (view.best == nullptr)
    reason += fmt::format("; none of {} candidates was right and timed", view.source->evaluations.size());
  return reason;
}

// "8.39 M"
std::string print_flops(double flops) {
  const char* units[] = {"", " k", " M", " G", " T", " P"};
  size_t unit = 0;
  while (flops >= 1000 && unit + 1 < std::size(units)) {
    flops /= 1000;
    ++unit;
  }
  return fmt::format("{:.3g}{}", flops, units[unit]);
}

std::string describe_cache(int64_t bytes) {
  if (bytes <= 0) return "unknown";
  if (bytes >= int64_t{1} << 20) return fmt::format("{:.4g} MiB", static_cast<double>(bytes) / (1 << 20));
  return fmt::format("{:.4g} KiB", static_cast<double>(bytes) / 1024);
}

std::string describe_measured(double value, const char* unit) {
  return value > 0 ? print_figure(value) + " " + unit : "not measured";
}

std::string join(const std::set<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) joined += (joined.empty() ? "" : "; ") + text;
  return joined.empty() ? "-" : joined;
}

std::set<std::string> find_compilers(const CaseGroup& group) {
  std::set<std::string> compilers;
  for (const CaseView& view : group.cases)
    for (const Evaluation& evaluation : view.source->evaluations)
      if (!evaluation.compiler.empty()) compilers.insert(evaluation.compiler);
  return compilers;
}

}  // namespace

std::string print_losses(const CaseGroup& group) {
  HtmlTable table({{"shape", false, "", "label"},
                   {"best in search", true, "× vendor"},
                   {"confirmed", true, "× vendor"},
                   {"interval", true, fmt::format("{} %", kShapeIntervalPercent)},
                   {"why", false, "", "why"},
                   {"tried", true, "kernels"},
                   {"vendor"},
                   {"vendor time", true, "µs"}});
  for (const CaseView& view : group.cases) {
    if (!view.loss) continue;
    const Timing* confirmation = find_confirmation(view);
    const auto tried = static_cast<int64_t>(view.source->evaluations.size());
    table.add({text_cell(view.label),
               number_cell(view.best != nullptr ? view.best->timing->ratio : kNone, print_ratio),
               number_cell(confirmation != nullptr ? confirmation->ratio : kNone, print_ratio),
               interval_cell(confirmation),
               text_cell(explain_loss(view)),
               {print_count(tried), static_cast<double>(tried)},
               text_cell(view.decision().baseline),
               number_cell(view.decision().baseline_median_us)});
  }
  if (table.empty()) return "<p>None: on every shape here our kernel's interval lies above the vendor.</p>\n";
  return table.print("Shapes where no kernel beats the vendor, or where ours is slower; slowest first");
}

std::string print_shapes(const CaseGroup& group) {
  HtmlTable table({{"shape", false, "", "label"},
                   {"threads", true},
                   {"vendor"},
                   {"vendor time", true, "µs"},
                   {"our time", true, "µs"},
                   {"GFLOP/s", true, "of what ships"},
                   {"of roofline", true, "floor / time"},
                   {"speedup", true, "×"},
                   {"interval", true, fmt::format("{} %", kShapeIntervalPercent)},
                   {"kernel"},
                   {"schedule", false, "", "key-text"}});
  for (const CaseView& view : group.cases) {
    const Decision& decision = view.decision();
    Cell kernel = view.ours ? code_cell(short_hash(decision.binary_hash),
                                        view.row().kernel_name + " " + decision.binary_hash)
                            : Cell{"vendor", {}};
    if (view.row().imported_only) kernel.html += " <small>imported measurement</small>";
    table.add({text_cell(view.label),
               {fmt::format("{}", view.row().device.threads), view.row().device.threads},
               text_cell(decision.baseline),
               number_cell(decision.baseline_median_us),
               number_cell(view.ours ? decision.median_us : kNone),
               number_cell(view.chosen_gflops),
               number_cell(view.floor_share, print_percent),
               number_cell(view.valid ? view.ratio : kNone, print_ratio),
               view.ours ? Cell{print_interval(view.low, view.high), view.low} : Cell{"-", 1},
               std::move(kernel),
               code_cell(view.ours ? view.row().schedule : "")});
  }
  return table.print("All shapes; where the vendor stays, the speedup counts as 1");
}

std::string print_bands(const CaseGroup& group) {
  std::vector<GridCase> grid;
  for (const CaseView& view : group.cases)
    if (view.valid) grid.push_back({view.decision(), view.source->flops});
  const auto summary = summarize(grid);
  if (!summary) return "<p>No valid ratio.</p>\n";
  HtmlTable table({{"flop of one call", true},
                   {"shapes", true},
                   {"geometric mean", true, "×"},
                   {"below 1", true},
                   {"vendor stays", true},
                   {"log2 flop", true}});
  for (const GridBand& band : summary->bands) {
    const bool has_work = band.log2_flops >= 0;
    const double from = has_work ? std::ldexp(1.0, band.log2_flops) : 0;
    table.add({{has_work ? print_flops(from) + " – " + print_flops(2 * from) : "0", from},
               {fmt::format("{}", band.cases), band.cases},
               number_cell(band.geomean, print_ratio),
               number_cell(band.share_below_one, print_percent),
               number_cell(band.vendor_share, print_percent),
               {has_work ? fmt::format("{}", band.log2_flops) : "-", band.log2_flops}});
  }
  return table.print("Speedup by size of the problem");
}

std::string print_oddities(const CaseGroup& group) {
  std::vector<PublishedTime> times;
  for (const CaseView& view : group.cases) add_times(view.decision(), view.source->flops, times);
  const auto oddities = find_oddities(group.device, times);
  if (oddities.empty())
    return "<p>Yes: no time is below the peak, none grows while the problem shrinks.</p>\n";
  std::string html = "<ul>\n";
  for (const Oddity& oddity : oddities)
    html += fmt::format("<li>{}{}</li>\n", oddity.impossible ? "<b>Impossible, do not believe it:</b> " : "",
                        escape_html(oddity.text));
  return html + "</ul>\n";
}

std::string print_devices(const std::vector<CaseGroup>& groups, const ReportInput& input) {
  std::string html;
  for (const CaseGroup& group : groups) {
    const DeviceFacts& device = group.device;
    const std::vector<std::pair<std::string, std::string>> facts = {
        {"device", device.name + " (" + device.target + ")"},
        {"instruction set", device.isa.empty() ? "unknown" : device.isa},
        {"cores, threads used", fmt::format("{}, {}", device.cores, device.threads)},
        {"cache L1d, L2, L3", describe_cache(device.l1d_bytes) + ", " + describe_cache(device.l2_bytes) +
                                  ", " + describe_cache(device.l3_bytes)},
        {"measured peak, f32", describe_measured(device.peak_gflops, "GFLOP/s")},
        {"measured bandwidth, read + write", describe_measured(device.bandwidth_gbs, "GB/s")},
        {"measured launch floor", describe_measured(device.launch_floor_us, "µs")},
        {"operating system", device.os},
        {"compiler of the device facts", device.compiler},
        {"compilers of the kernels", join(find_compilers(group))},
        {"decided, UTC", print_moment(group.first_decided) + " to " + print_moment(group.last_decided)}};
    html += "<table class=\"facts\"><tbody>\n";
    for (const auto& [name, value] : facts)
      html += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", escape_html(name),
                          escape_html(value));
    html += "</tbody></table>\n";
  }
  return html + fmt::format("<p>Protocol version {}, Kernelwright {}.</p>\n", kProtocolVersion,
                            escape_html(input.version));
}

std::string print_baselines(const std::vector<CaseGroup>& groups) {
  struct Use {
    int measured = 0, bar = 0, refused = 0;
    std::string refusal;
  };
  std::map<std::pair<std::string, std::string>, Use> uses;
  for (const CaseGroup& group : groups)
    for (const CaseView& view : group.cases)
      for (const BaselineRecord& baseline : view.source->baselines) {
        Use& use = uses[{baseline.name, baseline.version}];
        if (baseline.median_us) {
          ++use.measured;
          if (baseline.name == view.decision().baseline) ++use.bar;
          continue;
        }
        ++use.refused;
        use.refusal = baseline.refused + " (" + view.label + ")";
      }
  HtmlTable table({{"baseline"},
                   {"version"},
                   {"measured", true, "shapes"},
                   {"is the bar", true, "shapes"},
                   {"refused", true, "shapes"},
                   {"last refusal", false, "", "why"}});
  for (const auto& [identity, use] : uses)
    table.add({text_cell(identity.first),
               text_cell(identity.second),
               {fmt::format("{}", use.measured), use.measured},
               {fmt::format("{}", use.bar), use.bar},
               {fmt::format("{}", use.refused), use.refused},
               text_cell(use.refusal.empty() ? "-" : use.refusal)});
  if (table.empty()) return "<p>No baseline is stored for these shapes.</p>\n";
  return table.print(
      "Vendor routines: each is verified like a candidate; the fastest is the bar of its shape");
}

std::string print_runs(const ReportInput& input) {
  HtmlTable table({{"run", true},
                   {"started", false, "UTC", "nowrap"},
                   {"ended"},
                   {"threads", true},
                   {"seed", true},
                   {"version"},
                   {"command", false, "", "key-text"}});
  for (const RunRow& run : input.runs)
    table.add({{fmt::format("{}", run.id), static_cast<double>(run.id)},
               text_cell(print_moment(run.started)),
               text_cell(run.imported        ? "imported"
                         : run.ended.empty() ? "not ended"
                                             : run.how),
               {run.imported ? "-" : fmt::format("{}", run.run.device.threads), run.run.device.threads},
               {run.imported ? "-" : fmt::format("{}", run.run.seed), static_cast<double>(run.run.seed)},
               text_cell(run.run.version),
               code_cell(run.run.command)});
  return table.empty() ? "<p>No run is stored.</p>\n" : table.print("Runs, oldest first");
}

}  // namespace kw
