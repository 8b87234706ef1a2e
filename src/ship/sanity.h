// Figures that cannot be, or that need an explanation, found before a table is published (E20, E21 of the
// reports): faster than the arithmetic peak, more time for less work. In: the times of one device. Out:
// findings in words. Called by report, tune and the bars. Measures nothing.
#pragma once

#include <string>
#include <vector>

#include "record/candidate.h"
#include "record/device.h"

namespace kw {

struct PublishedTime {
  Problem problem;
  std::string who;  // "ours", or the vendor routine's name
  double median_us = 0, flops = 0;
};

struct Oddity {
  bool impossible = false;  // else only worth a look
  std::string text;
};

// impossible: below 0.9 of flops / measured peak (no claim without a measured peak), or a time or ratio that
// is not a finite number above 0. Worth a look: a problem takes more than 1.25 times as long as another of
// the same kind (layout, types, scalars, who) that is at least as large in m, n and k.
[[nodiscard]] std::vector<Oddity> find_oddities(const DeviceFacts& device,
                                                const std::vector<PublishedTime>& times);

// What a table of decisions claims: the chosen kernel's and the vendor's time of each.
void add_times(const Decision& decision, double flops, std::vector<PublishedTime>& times);

}  // namespace kw
