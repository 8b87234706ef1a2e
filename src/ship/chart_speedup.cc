// One row per shape: label, interval on a common axis, value. Rows are HTML, so that labels never overlap and
// the drawing fills what is left of the page.
#include <algorithm>
#include <cmath>

#include "ship/chart.h"
#include "ship/html.h"
#include "ship/svg.h"

namespace kw {
namespace {

constexpr int kRowPx = 20, kAxisPx = 22, kMostTicks = 6;
constexpr double kMiddle = kRowPx / 2.0;
constexpr double kWideRange = 3;          // largest / smallest ratio above which the axis is logarithmic
constexpr double kInset = 2, kSpan = 96;  // percent kept free at both ends for dots

struct Mark {
  double ratio = 1, low = 1, high = 1;
  std::string style;
  std::string tooltip;
};

bool is_drawable(double ratio, double low, double high) {
  return ratio > 0 && low > 0 && std::isfinite(ratio) && std::isfinite(low) && std::isfinite(high);
}

std::string describe(const CaseView& view, double ratio, double low, double high, const char* what) {
  return fmt::format("{}: {} {} ({} % interval {} to {})", view.label, what, print_ratio(ratio),
                     kShapeIntervalPercent, print_ratio(low), print_ratio(high));
}

std::vector<Mark> list_marks(const CaseView& view) {
  std::vector<Mark> marks;
  if (view.ours && view.valid && is_drawable(view.ratio, view.low, view.high))
    marks.push_back({view.ratio, view.low, view.high, view.loss ? "mark loss" : "mark ours",
                     describe(view, view.ratio, view.low, view.high, "speedup")});
  if (view.ours) return marks;
  const Timing* tried = view.tried;
  if (tried != nullptr && is_drawable(tried->ratio, tried->ratio_low, tried->ratio_high))
    marks.push_back({tried->ratio, tried->ratio_low, tried->ratio_high, "mark tried",
                     describe(view, tried->ratio, tried->ratio_low, tried->ratio_high,
                              tried->confirmed ? "vendor stays; best kernel, confirmed:"
                                               : "vendor stays; best kernel in the search:")});
  marks.push_back({1, 1, 1, "mark vendor", view.label + ": vendor's routine stays and counts as 1"});
  return marks;
}

Axis make_axis(const CaseGroup& group) {
  double low = 1, high = 1;
  for (const CaseView& view : group.cases)
    for (const Mark& mark : list_marks(view)) {
      low = std::min(low, mark.low);
      high = std::max(high, mark.high);
    }
  low = std::min(low, 0.95);
  high = std::max(high, 1.05);
  return high / low > kWideRange ? Axis::make_log(low, high, kMostTicks)
                                 : Axis::make_linear(low, high, kMostTicks);
}

double place(const Axis& axis, double ratio) { return kInset + kSpan * axis.share(ratio); }

void draw_grid(Svg& svg, const Axis& axis, double top, double bottom) {
  for (const Tick& tick : axis.ticks())
    svg.line({place(axis, tick.value), top}, {place(axis, tick.value), bottom}, "grid");
  svg.line({place(axis, 1), top}, {place(axis, 1), bottom}, "one");
}

std::string draw_axis(const Axis& axis) {
  Svg svg(kAxisPx, "Speedup axis", axis.log() ? "Logarithmic scale." : "Linear scale.");
  for (const Tick& tick : axis.ticks())
    svg.text({place(axis, tick.value), 14}, "middle", tick.label + "×", "tick");
  return fmt::format(
      "<div class=\"row axis\" aria-hidden=\"true\"><span class=\"label\">shape</span>{}"
      "<span class=\"value\">speedup</span></div>\n",
      svg.print());
}

std::string draw_row(const CaseView& view, const Axis& axis) {
  const std::vector<Mark> marks = list_marks(view);
  Svg svg(kRowPx, marks.empty() ? view.label + ": no valid ratio" : marks.front().tooltip, "");
  draw_grid(svg, axis, 0, kRowPx);
  for (const Mark& mark : marks) {
    svg.line({place(axis, mark.low), kMiddle}, {place(axis, mark.high), kMiddle}, mark.style, mark.tooltip);
    svg.marker({place(axis, mark.ratio), kMiddle},
               mark.style == "mark vendor" ? Marker::kDiamond : Marker::kCircle, 4, mark.style, mark.tooltip);
  }
  const std::string value = !view.ours ? "vendor" : view.valid ? print_ratio(view.ratio) + "×" : "-";
  return fmt::format(
      "<div class=\"row\"><span class=\"label\">{}</span>{}<span class=\"value{}\">{}</span></div>\n",
      escape_html(view.label), svg.print(), view.loss ? " soft" : "", value);
}

}  // namespace

std::string draw_speedups(const CaseGroup& group) {
  const Axis axis = make_axis(group);
  std::string html = "<figure class=\"rows\">\n" + draw_axis(axis);
  for (const CaseView& view : group.cases) html += draw_row(view, axis);
  return html +
         fmt::format(
             "<figcaption><span class=\"key ours\">●</span> our kernel ships, with its {0} % interval · "
             "<span class=\"key vendor\">◆</span> vendor stays, counted as 1 · "
             "<span class=\"key tried\">○</span> best kernel where the vendor "
             "stays{1}</figcaption></figure>\n",
             kShapeIntervalPercent, axis.log() ? " · logarithmic axis" : "");
}

}  // namespace kw
