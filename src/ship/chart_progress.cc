// How the searches got where they are: the middle search over time, each shape's best so far coloured by the
// proposer that found it, and a table of what every proposer did.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "base/statistics.h"
#include "ship/chart.h"
#include "ship/html.h"
#include "ship/svg.h"

namespace kw {
namespace {

constexpr int kMedianPx = 200, kPanelPx = 74;
constexpr int kTimes = 120;         // at which the middle search is looked at
constexpr size_t kOpenPanels = 24;  // more are folded away
constexpr int kProposerStyles = 8;

// A colour and a marker for each proposer; the usual ones always have the same.
class Proposers {
 public:
  explicit Proposers(const CaseGroup& group) {
    for (const CaseView& view : group.cases)
      for (const Evaluation& evaluation : view.source->evaluations)
        names_.insert(evaluation.proposal.proposer);
    int next = static_cast<int>(kUsual.size());
    for (const std::string& name : names_) {
      const auto usual = std::find(kUsual.begin(), kUsual.end(), name);
      place_[name] =
          usual != kUsual.end() ? static_cast<int>(usual - kUsual.begin()) : next++ % kProposerStyles;
    }
  }
  const std::set<std::string>& names() const { return names_; }
  std::string style(const std::string& name) const { return fmt::format("p{}", place_.at(name)); }
  Marker marker(const std::string& name) const { return static_cast<Marker>(place_.at(name) % 4); }

 private:
  static constexpr std::array<std::string_view, 6> kUsual = {"seed", "evolve", "random",
                                                             "user", "llm",    "policy"};
  std::set<std::string> names_;
  std::map<std::string, int> place_;
};

std::string print_key(const Proposers& proposers) {
  static constexpr std::array<const char*, 4> kGlyphs = {"●", "■", "◆", "▲"};
  std::string html;
  for (const std::string& name : proposers.names())
    html +=
        fmt::format("{}<span class=\"key {}\">{}</span> {}", html.empty() ? "" : " · ", proposers.style(name),
                    kGlyphs[static_cast<size_t>(proposers.marker(name))], escape_html(name));
  return html;
}

std::string draw_middle(const std::vector<SearchTrace>& traces, double longest_s) {
  const Axis x = Axis::make_linear(0, longest_s, 8);
  const Axis y = Axis::make_linear(0, 1, 5);
  constexpr int kTop = 34, kBottom = kMedianPx - 24;
  const auto height = [&](double share) { return kBottom - (kBottom - kTop) * y.share(share); };
  std::vector<Point> middle, upper, lower;
  for (int i = 0; i <= kTimes; ++i) {
    std::vector<double> shares;
    const double at_s = longest_s * i / kTimes;
    for (const SearchTrace& trace : traces)
      shares.push_back(best_at(trace, at_s) / trace.improvements.back().ratio);
    const double at = 100.0 * i / kTimes;
    middle.push_back({at, height(median(shares))});
    upper.push_back({at, height(quantile(shares, 0.75))});
    lower.push_back({at, height(quantile(shares, 0.25))});
  }
  Svg svg(
      kMedianPx, "Best so far over the final best",
      fmt::format("Median of {} searches against seconds of search, with the middle half.", traces.size()));
  for (const Tick& tick : y.ticks()) {
    svg.line({0, height(tick.value)}, {100, height(tick.value)}, "grid");
    svg.text({100, height(tick.value) - 3}, "end", print_percent(tick.value), "tick");
  }
  for (const Tick& tick : x.ticks()) {
    const double at = 100 * x.share(tick.value);
    if (at > 4 && at < 96) svg.text({at, kMedianPx - 8}, "middle", tick.label + " s", "tick");
  }
  svg.line({0, kBottom}, {100, kBottom}, "axis");
  std::vector<Point> band = upper;
  band.insert(band.end(), lower.rbegin(), lower.rend());
  svg.path(band, "band");
  svg.path(middle, "middle");
  svg.text({0, 12}, "start", "best so far ÷ final best, median and middle half of shapes", "title");
  return "<figure class=\"plot\">" + svg.print() + "</figure>\n";
}

// Steps of the best so far, each in the colour of the proposer that made it.
void draw_steps(Svg& svg, const SearchTrace& trace, const Proposers& proposers, const Axis& x,
                const Axis& y) {
  constexpr double kTop = 7, kBottom = kPanelPx - 6;
  const auto place = [&](double at_s, double ratio) {
    return Point{1.5 + 97 * x.share(at_s), kBottom - (kBottom - kTop) * y.share(ratio)};
  };
  svg.line(place(0, 1), {100, place(0, 1).y}, "one");
  svg.line({0, kPanelPx - 1}, {100, kPanelPx - 1}, "axis");
  for (size_t i = 0; i < trace.improvements.size(); ++i) {
    const Improvement& step = trace.improvements[i];
    const bool last = i + 1 == trace.improvements.size();
    const double until_s = last ? trace.total_s : trace.improvements[i + 1].at_s;
    std::vector<Point> points = {place(step.at_s, step.ratio), place(until_s, step.ratio)};
    if (i > 0) points.insert(points.begin(), place(step.at_s, trace.improvements[i - 1].ratio));
    svg.path(points, "step " + proposers.style(step.evaluation->proposal.proposer));
  }
  for (const Improvement& step : trace.improvements) {
    const Proposal& proposal = step.evaluation->proposal;
    svg.marker(place(step.at_s, step.ratio), proposers.marker(proposal.proposer), 2.6,
               "dot " + proposers.style(proposal.proposer),
               fmt::format("{}× after {:.1f} s by {}{}{}", print_ratio(step.ratio), step.at_s,
                           proposal.proposer, proposal.note.empty() ? "" : ": ", proposal.note));
  }
}

std::string draw_panel(const CaseView& view, const SearchTrace& trace, const Proposers& proposers,
                       const Axis& x) {
  Svg svg(kPanelPx, "Search of " + view.label,
          fmt::format("{} evaluations, {} improvements in {:.0f} s.", view.source->evaluations.size(),
                      trace.improvements.size(), trace.total_s));
  std::string value = "nothing right";
  if (!trace.improvements.empty()) {
    const double first = trace.improvements.front().ratio, best = trace.improvements.back().ratio;
    draw_steps(svg, trace, proposers, x, Axis::make_log(std::min(first, 0.95), std::max(best, 1.05), 3));
    value = print_ratio(best) + "×";
  }
  return fmt::format("<div class=\"panel\"><div><span>{}</span><b>{}</b></div>{}</div>\n",
                     escape_html(view.label), value, svg.print());
}

struct Tally {
  int64_t proposals = 0, passes = 0, improvements = 0, final_bests = 0;
};

std::map<std::string, Tally> count_proposers(const CaseGroup& group) {
  std::map<std::string, Tally> tallies;
  for (const CaseView& view : group.cases) {
    for (const Evaluation& evaluation : view.source->evaluations) {
      Tally& tally = tallies[evaluation.proposal.proposer];
      ++tally.proposals;
      if (evaluation.verdict.passed()) ++tally.passes;
    }
    const SearchTrace trace = trace_search(view.source->evaluations);
    for (const Improvement& step : trace.improvements)
      ++tallies[step.evaluation->proposal.proposer].improvements;
    if (!trace.improvements.empty())
      ++tallies[trace.improvements.back().evaluation->proposal.proposer].final_bests;
  }
  return tallies;
}

}  // namespace

std::string draw_progress(const CaseGroup& group) {
  const Proposers proposers(group);
  std::vector<SearchTrace> traces, arrived;
  double longest_s = 0;
  for (const CaseView& view : group.cases) {
    traces.push_back(trace_search(view.source->evaluations));
    longest_s = std::max(longest_s, traces.back().total_s);
    if (!traces.back().improvements.empty()) arrived.push_back(traces.back());
  }
  if (arrived.empty() || !(longest_s > 0)) return "<p>No search with times is stored for these shapes.</p>\n";
  std::string html = draw_middle(arrived, longest_s);
  html += fmt::format(
      "<p class=\"note\">Below, the best speedup so far of each shape against the seconds of its search, 0 "
      "to "
      "{:.0f} s in every panel. The height is logarithmic and each panel's own; the dashed line is the "
      "vendor "
      "(1×). The number is the best of the search, before confirmation. {}</p>\n",
      longest_s, print_key(proposers));
  const Axis x = Axis::make_linear(0, longest_s, 4);
  html += "<div class=\"panels\">\n";
  for (size_t i = 0; i < group.cases.size(); ++i) {
    if (i == kOpenPanels)
      html += fmt::format("</div>\n<details><summary>{} more shapes</summary><div class=\"panels\">\n",
                          group.cases.size() - kOpenPanels);
    html += draw_panel(group.cases[i], traces[i], proposers, x);
  }
  return html + (group.cases.size() > kOpenPanels ? "</div></details>\n" : "</div>\n");
}

std::string draw_proposers(const CaseGroup& group) {
  const Proposers proposers(group);
  HtmlTable table({{"proposer"},
                   {"proposals", true},
                   {"right", true},
                   {"share right", true},
                   {"improvements", true},
                   {"per 100 proposals", true},
                   {"final bests", true, "shapes"}});
  for (const auto& [name, tally] : count_proposers(group)) {
    const auto proposals = static_cast<double>(tally.proposals);
    const auto count = [](int64_t value) { return Cell{print_count(value), static_cast<double>(value)}; };
    table.add(
        {{fmt::format("<span class=\"key {}\">■</span> {}", proposers.style(name), escape_html(name)), {}},
         count(tally.proposals),
         count(tally.passes),
         number_cell(static_cast<double>(tally.passes) / proposals, print_percent),
         count(tally.improvements),
         number_cell(100 * static_cast<double>(tally.improvements) / proposals),
         count(tally.final_bests)});
  }
  return table.empty() ? ""
                       : table.print("Who found the improvements: an improvement is a new best of its shape");
}

}  // namespace kw
