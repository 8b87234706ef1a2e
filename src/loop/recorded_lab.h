// The lab that replays measurements of a device from a table: same rounds, no compiler, no kernel, no clock.
#pragma once

#include "loop/lab.h"
#include "target/recorded.h"

namespace kw {

class RecordedLab : public Lab {
 public:
  // Errors when the table has no row of the problem, or its schedules are not of a family we know.
  [[nodiscard]] static Result<std::unique_ptr<Lab>> open(const RecordedTable& table, const Problem& problem,
                                                         const DeviceFacts& device);

  const DeviceFacts& device() const override { return device_; }
  const Space& space() const override { return *space_; }
  const Bar& bar() const override { return bar_; }
  void emit(Batch&) override {}
  void start_compile(Batch&) override {}
  Status finish_compile(Batch&) override { return {}; }
  Status verify(Candidate& candidate) override;  // an error when the table has no such row
  Status measure(Candidate& candidate, std::optional<double> best_ratio) override;

 private:
  RecordedLab(const RecordedTable& table, DeviceFacts device) : table_(table), device_(std::move(device)) {}

  const RecordedTable& table_;
  DeviceFacts device_;
  std::string problem_;
  std::unique_ptr<Space> space_;
  Bar bar_;
};

}  // namespace kw
