// GFLOP/s against flop per byte below the measured peaks of the device (protocol.md B, "Roofline").
#include <algorithm>
#include <cmath>
#include <limits>

#include "ship/chart.h"
#include "ship/html.h"
#include "ship/svg.h"

namespace kw {
namespace {

constexpr int kHeightPx = 440, kTopPx = 24, kBottomPx = 400;  // bottom of the plot; below it the axis
constexpr double kNarrowestPx =
    640;  // narrower than this labels of points are hidden; they are placed for this width
constexpr double kLetterPx = 6.2, kLabelPx = 13, kDotPx = 5;  // of the 11 px labels

struct Frame {
  Axis x, y;
  Point place(double intensity, double gflops) const {
    return {100 * x.share(intensity), kBottomPx - (kBottomPx - kTopPx) * y.share(gflops)};
  }
};

struct Box {
  double left = 0, top = 0, right = 0, bottom = 0;  // pixels
  bool meets(const Box& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

Frame make_frame(const std::vector<RooflinePoint>& points, const DeviceFacts& device) {
  double x_low = HUGE_VAL, x_high = 0, y_low = HUGE_VAL, y_high = 0;
  for (const RooflinePoint& point : points) {
    x_low = std::min(x_low, point.intensity);
    x_high = std::max(x_high, point.intensity);
    y_low = std::min({y_low, point.vendor_gflops, point.chosen_gflops});
    y_high = std::max({y_high, point.vendor_gflops, point.chosen_gflops});
  }
  if (device.peak_gflops > 0) {
    y_high = std::max(y_high, device.peak_gflops);
    if (device.bandwidth_gbs > 0) {
      const double ridge = device.peak_gflops / device.bandwidth_gbs;
      x_low = std::min(x_low, ridge);
      x_high = std::max(x_high, ridge);
    }
  }
  return {Axis::make_log(x_low / 2, x_high * 2, 7), Axis::make_log(y_low / 2, y_high * 1.6, 7)};
}

void draw_axes(Svg& svg, const Frame& frame) {
  for (const Tick& tick : frame.y.ticks()) {
    const double y = frame.place(frame.x.low(), tick.value).y;
    svg.line({0, y}, {100, y}, "grid");
  }
  for (const Tick& tick : frame.x.ticks()) {
    const double x = frame.place(tick.value, frame.y.low()).x;
    svg.line({x, kTopPx}, {x, kBottomPx}, "grid");
    if (x > 3 && x < 97) svg.text({x, kBottomPx + 16}, "middle", tick.label, "tick");
  }
  svg.line({0, kBottomPx}, {100, kBottomPx}, "axis");
  svg.text({0, 12}, "start", "GFLOP/s", "title");
  svg.text({100, kBottomPx + 34}, "end", "arithmetic intensity, flop per byte →", "title");
}

Box box_around(Point at, double left, double up, double right, double down) {
  const double x = at.x / 100 * kNarrowestPx;
  return {x - left, at.y - up, x + right, at.y + down};
}

double roof_at(const DeviceFacts& device, double intensity) {
  const double slope = device.bandwidth_gbs > 0 ? device.bandwidth_gbs * intensity : HUGE_VAL;
  const double flat = device.peak_gflops > 0 ? device.peak_gflops : HUGE_VAL;
  return std::min(slope, flat);
}

// Above the roof, which may pass behind them.
void draw_heights(Svg& svg, const Frame& frame) {
  for (const Tick& tick : frame.y.ticks())
    svg.text({0, frame.place(frame.x.low(), tick.value).y - 4}, "start", tick.label, "tick");
}

// Returns where its labels lie.
std::vector<Box> draw_roof(Svg& svg, const Frame& frame, const DeviceFacts& device) {
  std::vector<Box> taken;
  const double peak = device.peak_gflops, bandwidth = device.bandwidth_gbs;
  double ridge = frame.x.low();
  if (peak > 0 && bandwidth > 0) {
    ridge = std::max(ridge, peak / bandwidth);
    const double start = std::min(ridge, std::max(frame.x.low(), frame.y.low() / bandwidth));
    svg.line(frame.place(start, bandwidth * start), frame.place(ridge, peak), "roof",
             fmt::format("measured bandwidth {} GB/s", print_figure(bandwidth)));
    const double middle = std::sqrt(start * ridge);
    Point at = frame.place(middle, bandwidth * middle);
    const bool has_room = at.x > 22;
    svg.text(at, has_room ? "end" : "start", fmt::format("{} GB/s", print_figure(bandwidth)), "roof-label",
             has_room ? -10 : 10);
    taken.push_back(has_room ? box_around(at, 100, 14, 0, 4) : box_around(at, 0, 14, 100, 4));
  }
  if (!(peak > 0)) return taken;
  svg.line(frame.place(ridge, peak), frame.place(frame.x.high(), peak), "roof",
           fmt::format("measured peak {} GFLOP/s", print_figure(peak)));
  const Point corner{100, frame.place(ridge, peak).y - 6};
  svg.text(corner, "end", fmt::format("peak {} GFLOP/s", print_figure(peak)), "roof-label");
  taken.push_back(box_around(corner, 150, 14, 0, 4));
  return taken;
}

// Names as many points as there is room for beside what is `taken`, right or left of the chosen dot; all
// names are in the tooltips.
void draw_names(Svg& svg, const Frame& frame, const DeviceFacts& device,
                const std::vector<RooflinePoint>& points, std::vector<Box> taken) {
  for (const RooflinePoint& point : points)
    for (const double gflops : {point.vendor_gflops, point.chosen_gflops})
      taken.push_back(box_around(frame.place(point.intensity, gflops), kDotPx, kDotPx, kDotPx, kDotPx));
  for (double intensity = frame.x.low(); intensity < frame.x.high(); intensity *= 1.02)
    taken.push_back(box_around(frame.place(intensity, roof_at(device, intensity)), 1, 1, 1, 1));
  for (const Tick& tick : frame.y.ticks())
    taken.push_back(box_around(frame.place(frame.x.low(), tick.value), 0, 14, 34, 0));
  for (const RooflinePoint& point : points) {
    const std::string& name = point.view->short_label;
    const Point at = frame.place(point.intensity, point.chosen_gflops);
    const double length = kLetterPx * static_cast<double>(name.size());
    for (const bool right : {true, false}) {
      const Box box = right ? box_around(at, -kDotPx - 1, kLabelPx / 2, length + kDotPx + 3, kLabelPx / 2)
                            : box_around(at, length + kDotPx + 3, kLabelPx / 2, -kDotPx - 1, kLabelPx / 2);
      const bool inside = box.left > 0 && box.right < kNarrowestPx && box.bottom < kBottomPx;
      if (!inside ||
          std::any_of(taken.begin(), taken.end(), [&](const Box& other) { return box.meets(other); }))
        continue;
      taken.push_back(box);
      svg.text({at.x, at.y + 4}, right ? "start" : "end", name, "name wide",
               right ? kDotPx + 3 : -kDotPx - 3);
      break;
    }
  }
}

void draw_point(Svg& svg, const Frame& frame, const RooflinePoint& point) {
  const CaseView& view = *point.view;
  const Point vendor = frame.place(point.intensity, point.vendor_gflops);
  const Point chosen = frame.place(point.intensity, point.chosen_gflops);
  const std::string where = fmt::format("{} at {} flop/byte", view.label, print_figure(point.intensity));
  if (view.ours) svg.line(vendor, chosen, view.loss ? "joint loss" : "joint ours");
  svg.marker(
      vendor, Marker::kDiamond, 3, "mark vendor",
      fmt::format("{}: {} {} GFLOP/s", where, view.decision().baseline, print_figure(point.vendor_gflops)));
  if (view.ours)
    svg.marker(chosen, Marker::kCircle, 4, view.loss ? "mark loss" : "mark ours",
               fmt::format("{}: our kernel {} GFLOP/s, {} of the roofline", where,
                           print_figure(point.chosen_gflops), print_percent(view.floor_share)));
}

}  // namespace

std::vector<RooflinePoint> list_roofline_points(const CaseGroup& group) {
  std::vector<RooflinePoint> points;
  for (const CaseView& view : group.cases) {
    const bool ok = view.intensity > 0 && view.vendor_gflops > 0 && view.chosen_gflops > 0;
    if (ok) points.push_back({view.intensity, view.vendor_gflops, view.chosen_gflops, &view});
  }
  return points;
}

std::string draw_roofline(const CaseGroup& group) {
  const std::vector<RooflinePoint> points = list_roofline_points(group);
  if (points.empty()) return "<p>No shape here has work and traffic to place under a roofline.</p>\n";
  const DeviceFacts& device = group.device;
  const Frame frame = make_frame(points, device);
  Svg svg(kHeightPx, "Roofline of " + group.name,
          fmt::format("{} shapes by GFLOP/s and flop per byte; measured peak {} GFLOP/s, bandwidth {} GB/s.",
                      points.size(), print_figure(device.peak_gflops), print_figure(device.bandwidth_gbs)));
  draw_axes(svg, frame);
  std::vector<Box> taken = draw_roof(svg, frame, device);
  draw_heights(svg, frame);
  for (const RooflinePoint& point : points) draw_point(svg, frame, point);
  draw_names(svg, frame, device, points, std::move(taken));
  const size_t left_out = group.cases.size() - points.size();
  return fmt::format(
      "<figure class=\"plot\">{}<figcaption><span class=\"key vendor\">◆</span> vendor · "
      "<span class=\"key ours\">●</span> our kernel where it ships, joined to the vendor on the same "
      "shape · both axes logarithmic{}{}</figcaption></figure>\n",
      svg.print(),
      device.peak_gflops > 0 && device.bandwidth_gbs > 0 ? "" : " · this device's peaks were not measured",
      left_out == 0 ? "" : fmt::format(" · {} without work, traffic or time left out", left_out));
}

}  // namespace kw
