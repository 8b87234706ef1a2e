#include "ship/report.h"

#include <cmath>

#include "ship/chart.h"
#include "ship/html.h"
#include "ship/report_case.h"
#include "ship/report_style.h"
#include "ship/report_tables.h"
#include "ship/summary.h"

namespace kw {
namespace {

constexpr const char* kMeaning =
    "<p>A speedup is the vendor's time divided by ours for one call of the same problem: 1.20 means that the "
    "vendor takes 1.20 times as long. The vendor is the fastest of all baselines on that shape. Both sides "
    "were "
    "timed in pairs in random order, with operands rotated through more memory than the caches hold; the "
    "speedup "
    "is the median over the pairs, its interval a {} % bootstrap interval. A kernel ships only when it was "
    "right "
    "in every check and a re-measurement in a fresh process put its whole interval above 1; "
    "everywhere "
    "else the vendor's routine stays and counts as 1.</p>\n";

std::string count_shapes(size_t count) { return fmt::format("{} shape{}", count, count == 1 ? "" : "s"); }

std::string print_date(const std::string& iso) { return iso.substr(0, 10); }

// "geometric mean 1.24, interval, vendor share": one sentence of a group.
std::string print_result(const CaseGroup& group, bool name_it) {
  std::vector<GridCase> grid;
  for (const CaseView& view : group.cases)
    if (view.valid) grid.push_back({view.decision(), view.source->flops});
  const auto summary = summarize(grid);
  if (!summary)
    return fmt::format("<p class=\"result\">No valid ratio on {}.</p>\n", escape_html(group.name));
  const Interval interval = summary->geomean_interval;
  const std::string sure = summary->cases < 2
                               ? ""
                               : fmt::format(" (95 % interval over shapes {}–{})", print_ratio(interval.low),
                                             print_ratio(interval.high));
  std::string html = "<p class=\"result\">";
  if (name_it) html += escape_html(group.name) + ": ";
  html += fmt::format(
      "{} run{} <b>{}×</b> as fast as with the best vendor routine, geometric mean{}; on <b>{}</b> of them "
      "the "
      "vendor stays and counts as 1.",
      count_shapes(grid.size()), grid.size() == 1 ? "s" : "", print_ratio(summary->geomean), sure,
      print_percent(summary->vendor_share));
  if (summary->share_below_one > 0)
    html += fmt::format(" <b>{}</b> are slower than the vendor.", print_percent(summary->share_below_one));
  return html + "</p>\n";
}

std::string print_head(const std::vector<CaseGroup>& groups, const ReportInput& input) {
  std::string title = "Kernelwright report: " + groups.front().device.name;
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n"
      "<title>{}</title>\n<style>{}</style></head>\n<body>\n<header><h1>Kernelwright report</h1>\n",
      escape_html(title), get_report_style());
  for (const CaseGroup& group : groups) {
    const std::string first = print_date(group.first_decided), last = print_date(group.last_decided);
    html += fmt::format("<div class=\"soft\">{} · {} · decided {}{}</div>\n", escape_html(group.name),
                        escape_html(group.device.isa), escape_html(first),
                        first == last ? "" : " to " + escape_html(last));
  }
  for (const CaseGroup& group : groups) html += print_result(group, groups.size() > 1);
  html += fmt::format(kMeaning, kShapeIntervalPercent);
  if (!input.undecided.empty()) {
    int64_t evaluations = 0;
    for (const ProblemSummary& problem : input.undecided) evaluations += problem.evaluations;
    html +=
        fmt::format("<p class=\"note\">Not in this report: {} with {} evaluations and no decision yet.</p>\n",
                    count_shapes(input.undecided.size()), print_count(evaluations));
  }
  return html +
         "<nav aria-label=\"Sections\"><a href=\"#losses\">Losses</a><a href=\"#speedup\">Speedup</a>"
         "<a href=\"#shapes\">All shapes</a><a href=\"#oddities\">Does it add up?</a><a href=\"#bands\">By "
         "size</a><a href=\"#roofline\">Roofline</a>"
         "<a href=\"#progress\">Search</a><a href=\"#failures\">Failures</a><a "
         "href=\"#schedules\">Schedules</a>"
         "<a href=\"#machine\">Machine and runs</a></nav></header>\n<main>\n";
}

// A section that says the same for each group, with the group's name where there are several.
std::string print_section(const char* id, const char* title, const char* lead,
                          const std::vector<CaseGroup>& groups, std::string (*print)(const CaseGroup&)) {
  std::string html = fmt::format("<section id=\"{}\"><h2>{}</h2>\n", id, title);
  if (*lead != '\0') html += fmt::format("<p class=\"note\">{}</p>\n", lead);
  for (const CaseGroup& group : groups) {
    if (groups.size() > 1) html += fmt::format("<h3>{}</h3>\n", escape_html(group.name));
    html += print(group);
  }
  return html + "</section>\n";
}

std::string print_search(const CaseGroup& group) { return draw_progress(group) + draw_proposers(group); }

std::string print_machine(const std::vector<CaseGroup>& groups, const ReportInput& input) {
  return "<section id=\"machine\"><h2>Machine, baselines and runs</h2>\n" + print_devices(groups, input) +
         print_baselines(groups) + print_runs(input) +
         fmt::format(
             "<h3>This report</h3>\n<p>Made {} UTC from {} by</p>\n<pre><code>{}</code></pre>\n</section>\n",
             escape_html(print_moment(input.made)), escape_html(input.store), escape_html(input.command));
}

}  // namespace

Result<std::string> make_report(const ReportInput& input) {
  if (input.cases.empty())
    return fail_user(
        "{} holds no decision yet{}; run: kernelwright tune --m 64 --n 64 --k 64 --budget 10s", input.store,
        input.undecided.empty() ? "" : fmt::format(" ({} measured)", count_shapes(input.undecided.size())));
  const std::vector<CaseGroup> groups = group_cases(input.cases);
  std::string html = print_head(groups, input);
  html += print_section("losses", "Losses first", "", groups, print_losses);
  html += print_section("speedup", "Speedup per shape", "", groups, draw_speedups);
  html += print_section(
      "shapes", "All shapes",
      "The roofline floor is the least possible time of a call: max(flop / peak, bytes / bandwidth) + "
      "launch floor, with the peaks measured on this device. A share above 100 % would mean a wrong "
      "peak, not a record.",
      groups, print_shapes);
  html +=
      print_section("oddities", "Does it add up?",
                    "Every time is held against the measured peak, and against larger problems of the same "
                    "kind.",
                    groups, print_oddities);
  html += print_section("bands", "By size", "", groups, print_bands);
  html += print_section(
      "roofline", "Roofline",
      "How near each shape is to what this device can do. The slope is the measured memory bandwidth, "
      "the flat line the measured peak.",
      groups, draw_roofline);
  html += print_section("progress", "Search", "", groups, print_search);
  html += "<section id=\"failures\"><h2>Failures by kind</h2>\n" + draw_failures(groups) + "</section>\n";
  html += "<section id=\"schedules\"><h2>What the winners have in common</h2>\n" +
          draw_winning_schedules(groups, input) + "</section>\n";
  html += print_machine(groups, input);
  return html + fmt::format("</main>\n<script>{}</script>\n</body></html>\n", get_report_script());
}

}  // namespace kw
