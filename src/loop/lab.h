// A lab turns candidates into evaluations for one problem: emit, compile, verify, measure. Live on a device,
// or replayed from a recorded table; the round above it does not know which. An evaluation is a pure function
// of problem, source, device and protocol version.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "record/candidate.h"
#include "record/device.h"
#include "schedule/space.h"

namespace kw {

// One proposal on its way through a round. A stage that refuses it sets evaluation.verdict and `failed`.
struct Candidate {
  Evaluation evaluation;
  std::optional<Source> source;
  std::optional<Binary> binary;
  bool failed = false;
};
using Batch = std::vector<Candidate>;

struct Bar {  // the best vendor routine for the problem
  std::string baseline;
  double median_us = 0;
};

class Lab {
 public:
  virtual ~Lab() = default;
  virtual const DeviceFacts& device() const = 0;
  virtual const Space& space() const = 0;
  virtual const Bar& bar() const = 0;

  virtual void emit(Batch& batch) = 0;
  virtual void start_compile(Batch& batch) = 0;     // in the background
  virtual Status finish_compile(Batch& batch) = 0;  // the batch given to start_compile
  virtual Status verify(Candidate& candidate) = 0;
  // `best_ratio`: of the search so far; a candidate clearly below it is not measured to the end.
  virtual Status measure(Candidate& candidate, std::optional<double> best_ratio) = 0;
};

}  // namespace kw
