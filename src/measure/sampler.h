// Samples: one sample is as many calls as last plan.sample_us, timed from outside. In: programs. Out: latency
// per call, or the Verdict of a program that failed. Used by comparison and baselines; keeps the operands
// rotating and counts the time spent.
#pragma once

#include "measure/hidden.h"
#include "measure/measure.h"

namespace kw {

// A program under measurement and what calibration found.
struct Side {
  Program* program = nullptr;
  Milliseconds limit{};    // of a sample whose length is not known yet
  int64_t calls = 1;       // per sample
  double expected_us = 0;  // length of a sample, from calibration
  double latency_us() const { return expected_us / static_cast<double>(calls); }
};

class Sampler {
 public:
  Sampler(Buffers& buffers, const MeasurePlan& plan)
      : workload_(buffers.workload()),
        sets_(buffers.sets()),
        calls_unit_(buffers.calls_unit()),
        sample_us_(plan.sample_us),
        hidden_(buffers, plan.reference, plan.seed) {}

  // Doubles side.calls from the buffers' unit on until one sample lasts sample_us.
  [[nodiscard]] tl::expected<void, Verdict> calibrate(Side& side);
  // Latency per call in us of one sample; starts at the operand set behind the last one used by any side.
  [[nodiscard]] tl::expected<double, Verdict> sample(Side& side);
  double spent_us() const { return spent_us_; }
  // After calibration: sides of nearly equal speed get equally many calls a sample. What a sample costs
  // besides its calls would else favour, in every pair, the side whose calibration ended one doubling later.
  static void match_calls(Side& a, Side& b);

 private:
  [[nodiscard]] tl::expected<double, Verdict> run(Side& side);
  const Workload& workload_;
  int sets_;
  int64_t calls_unit_;
  double sample_us_;
  HiddenSpots hidden_;
  int64_t next_set_ = 0;
  double spent_us_ = 0;
};

}  // namespace kw
