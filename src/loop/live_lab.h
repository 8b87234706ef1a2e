// The lab on real hardware: compiles with the host compiler, verifies and measures in caged workers of a
// device.
#pragma once

#include <span>

#include "base/random.h"
#include "compile/compile.h"
#include "loop/lab.h"
#include "measure/measure.h"
#include "problem/check.h"
#include "record/check.h"
#include "target/device.h"
#include "verify/verify.h"

namespace kw {

struct LabPlan {
  uint64_t seed = 0;              // secret: inputs, poison, order of pairs; logged with the run
  std::vector<int> compile_cpus;  // cores that compile while one measures
  std::vector<int>
      measure_cpus;            // one a thread of the kernel; the last also compiles while nothing is measured
  double peak_gflops = 0;      // measured; a faster time is an error, not a record
  bool verifies_only = false;  // for verify_domain alone: no checks of the search, no vendor, no timing
  double max_flops_of_all_families =
      1e8;  // above it a search verifies on kScreeningFamilies, promotion on all
};

class LiveLab : public Lab {
 public:
  // Makes inputs and references, has null kernels refused by every family, verifies and measures the vendor
  // routines.
  [[nodiscard]] static Result<std::unique_ptr<LiveLab>> open(Device& device, const Compiler& compiler,
                                                             const Problem& problem,
                                                             std::unique_ptr<Space> space,
                                                             const LabPlan& plan);

  const DeviceFacts& device() const override { return device_.facts(); }
  const Space& space() const override { return *space_; }
  const Bar& bar() const override { return bar_; }
  const std::vector<BaselineRow>& baselines() const { return baselines_; }
  const Workload& workload() const { return workload_; }

  void emit(Batch& batch) override;
  void start_compile(Batch& batch) override;
  Status finish_compile(Batch& batch) override;
  Status verify(Candidate& candidate) override;
  Status measure(Candidate& candidate, std::optional<double> best_ratio) override;

  // Candidate against every baseline that comes near the bar, in fresh processes; the timing with the lowest
  // ratio. One process a side is enough to rank; what is claimed afterwards takes new ones for every pair.
  enum class Workers { kOneASide, kNewForEveryPair };
  [[nodiscard]] Result<tl::expected<Timing, Verdict>> compare_fresh(const Binary& binary, Workers workers,
                                                                    int min_pairs, int max_pairs,
                                                                    double budget_us, uint64_t seed);
  // All families with fresh inputs, then shapes of the binary's domain, in fresh processes.
  [[nodiscard]] Result<Verdict> verify_domain(const Binary& binary, const std::vector<int64_t>& tile,
                                              uint64_t seed);

 private:
  LiveLab(Device& device, const Compiler& compiler, const Problem& problem, std::unique_ptr<Space> space,
          const LabPlan& plan);
  Status open_baselines();
  Result<tl::expected<Timing, Verdict>> compare_once(const Binary& binary, std::optional<double> best_ratio);
  Result<tl::expected<Timing, Verdict>> compare_workers(const Binary& binary, Workers workers,
                                                        const MeasurePlan& plan);
  Status repair(const Verdict& verdict);  // restarts the vendor's process, or measures the peak again
  MeasurePlan make_measure_plan(const Contract& contract, uint64_t seed) const;

  Device& device_;
  const Compiler& compiler_;
  Problem problem_;
  std::unique_ptr<Space> space_;
  LabPlan plan_;
  Random draws_;
  Workload workload_;
  std::vector<Check> checks_;
  std::unique_ptr<Buffers> timing_buffers_;
  std::unique_ptr<Program> bar_program_;
  std::vector<BaselineRow> baselines_;
  Bar bar_;
  std::unique_ptr<CompileBatch> compiling_;
};

}  // namespace kw
