#include "ship/svg.h"

#include <gtest/gtest.h>

#include <limits>

namespace kw {
namespace {

std::vector<double> values_of(const Axis& axis) {
  std::vector<double> values;
  for (const Tick& tick : axis.ticks()) values.push_back(tick.value);
  return values;
}

TEST(Axis, log_axis_puts_equal_factors_at_equal_distances) {
  const Axis axis = Axis::make_log(1, 100, 8);
  EXPECT_DOUBLE_EQ(axis.share(1), 0);
  EXPECT_DOUBLE_EQ(axis.share(10), 0.5);
  EXPECT_DOUBLE_EQ(axis.share(100), 1);
  EXPECT_EQ(values_of(axis), (std::vector<double>{1, 2, 5, 10, 20, 50, 100}));
}

TEST(Axis, linear_axis_has_round_ticks) {
  const Axis axis = Axis::make_linear(0, 21, 5);
  EXPECT_DOUBLE_EQ(axis.share(10.5), 0.5);
  EXPECT_EQ(values_of(axis), (std::vector<double>{0, 5, 10, 15, 20}));
  EXPECT_EQ(axis.ticks()[1].label, "5");
}

TEST(Axis, clamps_what_lies_outside_and_nan) {
  for (const Axis& axis : {Axis::make_log(1, 10, 5), Axis::make_linear(1, 10, 5)}) {
    EXPECT_EQ(axis.share(0.1), 0);
    EXPECT_EQ(axis.share(1000), 1);
    EXPECT_EQ(axis.share(std::numeric_limits<double>::quiet_NaN()), 0);
  }
  EXPECT_EQ(Axis::make_log(1, 10, 5).share(-1), 0);
}

TEST(Axis, widens_a_range_of_no_width) {
  EXPECT_GT(Axis::make_linear(3, 3, 5).high(), 3);
  EXPECT_GT(Axis::make_log(3, 3, 5).high(), 3);
}

TEST(Axis, never_has_more_ticks_than_asked_for) {
  for (const double high : {1.01, 1.5, 3.0, 40.0, 1e3, 1e9, 1e30})
    for (const int most : {1, 3, 7}) {
      EXPECT_LE(Axis::make_log(1, high, most).ticks().size(), static_cast<size_t>(most)) << high;
      EXPECT_LE(Axis::make_linear(1, high, most).ticks().size(), static_cast<size_t>(most)) << high;
    }
}

TEST(Svg, places_things_and_escapes_text) {
  Svg svg(100, "a<b", "it's");
  svg.marker({12.5, 40}, Marker::kCircle, 3, "ours", "5 > 4");
  svg.marker({50, 60}, Marker::kDiamond, 3, "vendor", "");
  svg.text({0, 12}, "start", "<i>", "tick");
  svg.path({{0, 0}}, "one-point");
  svg.path({{0, 1}, {100, 2.25}}, "line");
  const std::string text = svg.print();
  EXPECT_NE(text.find("height=\"100\"><title>a&lt;b</title><desc>it&#39;s</desc>"), std::string::npos);
  EXPECT_NE(text.find("<circle cx=\"12.5%\" cy=\"40\" r=\"3\" class=\"ours\"><title>5 &gt; 4</title>"),
            std::string::npos);
  EXPECT_NE(text.find("<svg x=\"50%\" y=\"60\""), std::string::npos);
  EXPECT_NE(text.find(">&lt;i&gt;</text>"), std::string::npos);
  EXPECT_NE(text.find("viewBox=\"0 0 100 100\""), std::string::npos);
  EXPECT_NE(text.find("d=\"M0 1L100 2.25\""), std::string::npos);
  EXPECT_EQ(text.find("one-point"), std::string::npos);
}

}  // namespace
}  // namespace kw
