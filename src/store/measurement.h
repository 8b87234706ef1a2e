// One line of the measurements table (query.h) as a record: fields <-> text. Used by measurements.cc; touches
// no database.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "record/candidate.h"

namespace kw {

struct Measurement {
  std::string device_key;
  int protocol_version = 0;
  Evaluation
      evaluation;  // problem, proposal's family and schedule, binary hash, verdict, timing without samples
};

[[nodiscard]] std::string print_measurement(const Measurement& measurement);

// The whole table with its header. Errors name origin, line and column; a (device, protocol version, problem,
// family, schedule) that stands twice is one.
[[nodiscard]] Result<std::vector<Measurement>> parse_measurements(std::string_view csv,
                                                                  const std::string& origin);

}  // namespace kw
