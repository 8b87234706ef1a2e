#include "ship/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "base/check.h"
#include "ship/html.h"

namespace kw {
namespace {

// Shortest of at most three decimals: "12.5", "0".
std::string shorten_number(double value) {
  std::string text = fmt::format("{:.3f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string print_tick(double value) {
  if (value == 0) return "0";
  const double size = std::abs(value);
  if (size >= 1e6) return fmt::format("{:g}M", value * 1e-6);
  if (size >= 1e4) return fmt::format("{:g}k", value * 1e-3);
  return fmt::format("{:g}", value);
}

std::vector<Tick> list_log_ticks(double low, double high, std::span<const double> mantissas,
                                 int every_decade) {
  constexpr double kSlack = 1e-9;
  std::vector<Tick> ticks;
  for (int decade = static_cast<int>(std::floor(std::log10(low))); decade <= std::log10(high) + 1; ++decade) {
    if (decade % every_decade != 0) continue;
    for (const double mantissa : mantissas) {
      const double value = mantissa * std::pow(10.0, decade);
      if (value >= low * (1 - kSlack) && value <= high * (1 + kSlack))
        ticks.push_back({value, print_tick(value)});
    }
  }
  return ticks;
}

std::string tooltip_element(std::string_view tooltip) {
  return tooltip.empty() ? "" : fmt::format("<title>{}</title>", escape_html(tooltip));
}

}  // namespace

Axis Axis::make_linear(double low, double high, int most_ticks) {
  KW_CHECK(std::isfinite(low) && std::isfinite(high) && most_ticks >= 1, "{} to {}", low, high);
  Axis axis;
  axis.low_ = low;
  axis.high_ = high > low ? high : low + 1;
  const double width = axis.high_ - axis.low_;
  const double magnitude = std::pow(10.0, std::floor(std::log10(width / most_ticks)));
  double step = magnitude;
  for (const double factor : {1.0, 2.0, 5.0, 10.0, 20.0}) {
    step = factor * magnitude;
    if (std::floor(axis.high_ / step) - std::ceil(axis.low_ / step) + 1 <= most_ticks) break;
  }
  for (double i = std::ceil(axis.low_ / step); i * step <= axis.high_; ++i)
    axis.ticks_.push_back({i * step, print_tick(i * step)});
  return axis;
}

Axis Axis::make_log(double low, double high, int most_ticks) {
  KW_CHECK(low > 0 && std::isfinite(high) && most_ticks >= 1, "{} to {}", low, high);
  static constexpr std::array kFine = {1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0};
  static constexpr std::array kHalf = {1.0, 1.5, 2.0, 3.0, 5.0, 7.0};
  static constexpr std::array kThirds = {1.0, 2.0, 5.0};
  static constexpr std::array kWhole = {1.0};
  Axis axis;
  axis.log_ = true;
  axis.low_ = low;
  axis.high_ = high > low ? high : low * 2;
  for (const std::span<const double> mantissas :
       {std::span<const double>(kFine), std::span<const double>(kHalf), std::span<const double>(kThirds),
        std::span<const double>(kWhole)}) {
    axis.ticks_ = list_log_ticks(axis.low_, axis.high_, mantissas, 1);
    if (static_cast<int>(axis.ticks_.size()) <= most_ticks) return axis;
  }
  for (int every = 2; static_cast<int>(axis.ticks_.size()) > most_ticks; ++every)
    axis.ticks_ = list_log_ticks(axis.low_, axis.high_, kWhole, every);
  return axis;
}

double Axis::share(double value) const {
  const double place =
      log_ ? std::log(value / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
  return place >= 0 ? std::min(place, 1.0) : 0.0;
}

Svg::Svg(int height_px, std::string_view title, std::string_view description)
    : height_px_(height_px),
      head_(fmt::format("<svg role=\"img\" width=\"100%\" height=\"{}\"><title>{}</title>", height_px,
                        escape_html(title))) {
  if (!description.empty()) head_ += fmt::format("<desc>{}</desc>", escape_html(description));
  head_ += "\n";
}

void Svg::line(Point from, Point to, std::string_view style, std::string_view tooltip) {
  body_ += fmt::format("<line x1=\"{}%\" y1=\"{}\" x2=\"{}%\" y2=\"{}\" class=\"{}\">{}</line>\n",
                       shorten_number(from.x), shorten_number(from.y), shorten_number(to.x),
                       shorten_number(to.y), style, tooltip_element(tooltip));
}

void Svg::marker(Point at, Marker shape, double radius_px, std::string_view style, std::string_view tooltip) {
  const std::string x = shorten_number(at.x), y = shorten_number(at.y), r = shorten_number(radius_px);
  if (shape == Marker::kCircle) {
    body_ += fmt::format("<circle cx=\"{}%\" cy=\"{}\" r=\"{}\" class=\"{}\">{}</circle>\n", x, y, r, style,
                         tooltip_element(tooltip));
    return;
  }
  const char* outline = shape == Marker::kSquare    ? "M-.9-.9H.9V.9H-.9Z"
                        : shape == Marker::kDiamond ? "M0-1.3L1.3 0L0 1.3L-1.3 0Z"
                                                    : "M0-1.3L1.2.9H-1.2Z";
  body_ += fmt::format(
      "<svg x=\"{}%\" y=\"{}\" width=\"1\" height=\"1\" class=\"free\"><path transform=\"scale({})\" "
      "d=\"{}\" class=\"{}\">{}</path></svg>\n",
      x, y, r, outline, style, tooltip_element(tooltip));
}

void Svg::text(Point at, std::string_view anchor, std::string_view text, std::string_view style, double dx) {
  body_ += fmt::format("<text x=\"{}%\" y=\"{}\" dx=\"{}\" text-anchor=\"{}\" class=\"{}\">{}</text>\n",
                       shorten_number(at.x), shorten_number(at.y), shorten_number(dx), anchor, style,
                       escape_html(text));
}

void Svg::rectangle(Point corner, double width_percent, double height_px, std::string_view style,
                    std::string_view tooltip) {
  body_ += fmt::format("<rect x=\"{}%\" y=\"{}\" width=\"{}%\" height=\"{}\" class=\"{}\">{}</rect>\n",
                       shorten_number(corner.x), shorten_number(corner.y), shorten_number(width_percent),
                       shorten_number(height_px), style, tooltip_element(tooltip));
}

void Svg::path(const std::vector<Point>& points, std::string_view style) {
  if (points.size() < 2) return;
  std::string outline;
  for (const Point& point : points)
    outline +=
        fmt::format("{}{} {}", outline.empty() ? "M" : "L", shorten_number(point.x), shorten_number(point.y));
  body_ += fmt::format(
      "<svg width=\"100%\" height=\"{0}\" viewBox=\"0 0 100 {0}\" preserveAspectRatio=\"none\">"
      "<path d=\"{1}\" class=\"{2}\"/></svg>\n",
      height_px_, outline, style);
}

std::string Svg::print() const { return head_ + body_ + "</svg>"; }

}  // namespace kw
