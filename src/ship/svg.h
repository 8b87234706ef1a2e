// Inline SVG that keeps its text size at every width: x in percent of the drawing, y in pixels. In: values
// and an axis. Out: SVG text. Used by the report's charts; knows nothing of kernels.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kw {

struct Tick {
  double value = 0;
  std::string label;
};

// A range of values on a linear or logarithmic scale, with round numbers in it.
class Axis {
 public:
  // From low to high; a range of no width is widened. Values must be finite, and above 0 for log.
  [[nodiscard]] static Axis make_linear(double low, double high, int most_ticks);
  [[nodiscard]] static Axis make_log(double low, double high, int most_ticks);
  // 0 at low, 1 at high; values outside are clamped, NaN becomes 0.
  [[nodiscard]] double share(double value) const;
  double low() const { return low_; }
  double high() const { return high_; }
  bool log() const { return log_; }
  const std::vector<Tick>& ticks() const { return ticks_; }

 private:
  double low_ = 0, high_ = 1;
  bool log_ = false;
  std::vector<Tick> ticks_;
};

enum class Marker { kCircle, kSquare, kDiamond, kTriangle };

struct Point {
  double x = 0, y = 0;  // percent, pixels
};

class Svg {
 public:
  // Title and description are for readers who do not see the drawing.
  Svg(int height_px, std::string_view title, std::string_view description);

  // `style` is a CSS class of the report; tooltips may be empty.
  void line(Point from, Point to, std::string_view style, std::string_view tooltip = {});
  void marker(Point at, Marker shape, double radius_px, std::string_view style, std::string_view tooltip);
  // anchor: "start", "middle" or "end"; dx moves it by pixels.
  void text(Point at, std::string_view anchor, std::string_view text, std::string_view style, double dx = 0);
  void rectangle(Point corner, double width_percent, double height_px, std::string_view style,
                 std::string_view tooltip = {});
  // Straight pieces through all points; needs two.
  void path(const std::vector<Point>& points, std::string_view style);

  [[nodiscard]] std::string print() const;

 private:
  int height_px_;
  std::string head_, body_;
};

}  // namespace kw
