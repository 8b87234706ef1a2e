// Device of the CPU: refuses what may not run, then starts workers.
#include "target/cpu/device.h"

#include <algorithm>

#include "base/check.h"
#include "target/cpu/facts.h"
#include "target/cpu/program.h"
#include "target/cpu/vendor.h"
#include "target/shared_memory.h"

namespace kw {
namespace {

using CandidateResult = tl::expected<std::unique_ptr<Program>, Verdict>;

// Widest vector set first; a code needs its own or a wider one.
int rank_isa(std::string_view isa) {
  constexpr std::string_view kKnown[] = {"none", "avx2", "avx512"};
  const auto found = std::find(std::begin(kKnown), std::end(kKnown), isa);
  return found == std::end(kKnown) ? -1 : static_cast<int>(found - std::begin(kKnown));
}

CpuBuffers& as_cpu_buffers(Buffers& buffers) {
  auto* own = dynamic_cast<CpuBuffers*>(&buffers);
  KW_CHECK(own != nullptr, "buffers of another device");
  return *own;
}

// What a candidate's record must fulfil before its object is looked at.
tl::expected<void, Verdict> check_record(const LaunchRecord& launch, const DeviceFacts& facts,
                                         const Variables& variables) {
  if (launch.target != "cpu")
    return refuse(VerdictClass::kLaunchError, "wrong_target", "target " + launch.target + " on a CPU");
  if (rank_isa(launch.isa) < 0)
    return refuse(VerdictClass::kLaunchError, "unknown_isa", launch.isa + "; known are none, avx2, avx512");
  if (rank_isa(launch.isa) > rank_isa(facts.isa))
    return refuse(VerdictClass::kSkipped, "device_missing",
                  "needs " + launch.isa + ", this CPU has " + facts.isa);
  if (launch.kernels.empty())
    return refuse(VerdictClass::kLaunchError, "missing_kernel", "the record names none");
  if (launch.kernels.size() > kMaxKernels)
    return refuse(VerdictClass::kLaunchError, "too_many_kernels",
                  fmt::format("{}, at most {}", launch.kernels.size(), kMaxKernels));
  if (const auto violation = find_domain_violation(launch, variables))
    return refuse(VerdictClass::kIllegal, "outside_domain", *violation);
  return {};
}

class CpuDevice final : public Device {
 public:
  CpuDevice(DeviceFacts facts, WorkerThreads threads, fs::path worker)
      : facts_(std::move(facts)), threads_(std::move(threads)), worker_(std::move(worker)) {}

  const DeviceFacts& facts() const override { return facts_; }

  Result<std::unique_ptr<Buffers>> make_buffers(const Workload& workload, const BufferPlan& plan) override {
    return CpuBuffers::make(workload, plan);
  }

  Result<CandidateResult> start_candidate(const Binary& binary, Buffers& buffers) override;
  Result<std::vector<std::string>> find_baselines(const Workload& workload) override;
  Result<std::unique_ptr<Program>> start_baseline(const std::string& name, Buffers& buffers) override;

 private:
  const std::vector<VendorInfo>& vendors() {
    if (!vendors_) vendors_ = find_vendors();
    return *vendors_;
  }
  DeviceFacts facts_;
  WorkerThreads threads_;
  fs::path worker_;
  std::optional<std::vector<VendorInfo>> vendors_;
};

Result<CandidateResult> CpuDevice::start_candidate(const Binary& binary, Buffers& buffers) {
  const auto refused = [&](Verdict verdict) {
    verdict.binary_hash = binary.hash;
    return CandidateResult(tl::unexpected(std::move(verdict)));
  };
  auto& operands = as_cpu_buffers(buffers);
  const Variables variables = make_variables(operands.seen_workload(), threads_.count);
  if (auto checked = check_record(binary.launch, facts_, variables); !checked)
    return refused(checked.error());
  const auto numbers = evaluate_launch(binary.launch, variables);
  if (!numbers)
    return refused(refuse(VerdictClass::kLaunchError, "launch_numbers", numbers.error().message).value());
  std::vector<std::string> names;
  for (const KernelLaunch& kernel : binary.launch.kernels) names.push_back(kernel.name);
  const auto image = parse_object(binary.object, names);
  if (!image) return refused(image.error());

  const ProgramSetup setup = plan_candidate_setup(operands, threads_, *image, *numbers);
  if (const size_t spare = find_spare_bytes(); setup.file_bytes > spare)
    return refused(refuse(VerdictClass::kSkipped, "memory_needed",
                          fmt::format("workspace and scratch take {} MiB, {} MiB are free",
                                      setup.file_bytes >> 20, spare >> 20))
                       .value());
  const auto start = [&] {
    return CpuProgram::start(worker_, threads_, setup, &*image, operands, binary.hash);
  };
  auto program = start();
  if (!program) program = start();  // a worker killed while it got ready says nothing about the candidate
  if (!program) return tl::unexpected(program.error());
  if (!*program) return refused(program->error());
  return CandidateResult(std::move(**program));
}

Result<std::vector<std::string>> CpuDevice::find_baselines(const Workload& workload) {
  std::vector<std::string> names;
  for (const VendorInfo& vendor : vendors())
    if (vendor.missing.empty() && !find_vendor_refusal(vendor.name, workload)) names.push_back(vendor.name);
  return names;
}

Result<std::unique_ptr<Program>> CpuDevice::start_baseline(const std::string& name, Buffers& buffers) {
  const auto found = std::find_if(vendors().begin(), vendors().end(),
                                  [&](const VendorInfo& vendor) { return vendor.name == name; });
  if (found == vendors().end()) return fail_user("baseline {}: not known", name);
  if (!found->missing.empty()) return fail("baseline {}: {}", name, found->missing);
  auto& operands = as_cpu_buffers(buffers);
  if (const auto refusal = find_vendor_refusal(name, operands.seen_workload()))
    return fail("baseline {}: {}", name, *refusal);
  const ProgramSetup setup = plan_baseline_setup(operands, threads_, name);
  auto program = CpuProgram::start(worker_, threads_, setup, nullptr, operands, name + " " + found->version);
  if (!program) return with_context(program.error(), "baseline " + name);
  KW_CHECK(program->has_value(), "only linking is refused, and a baseline has no code to link");
  return std::unique_ptr<Program>(std::move(**program));
}

Result<WorkerThreads> choose_threads(const CpuDevicePlan& plan) {
  const std::vector<int> usable = find_usable_cpus();
  if (plan.threads < 1 || plan.threads > kMaxThreads)
    return fail_user("threads {}: allowed are 1 to {}", plan.threads, kMaxThreads);
  WorkerThreads threads{plan.threads, plan.cores};
  if (threads.cores.empty())
    threads.cores.assign(
        usable.end() - std::min<ptrdiff_t>(plan.threads, static_cast<ptrdiff_t>(usable.size())),
        usable.end());
  for (const int core : threads.cores)
    if (std::find(usable.begin(), usable.end(), core) == usable.end())
      return fail_user("core {}: usable are {} to {}, as far as this process may run there", core,
                       usable.front(), usable.back());
  return threads;
}

}  // namespace

Result<std::unique_ptr<Device>> make_cpu_device(const CpuDevicePlan& plan) {
  KW_TRY(WorkerThreads threads, choose_threads(plan));
  auto facts = plan.facts ? Result<DeviceFacts>(*plan.facts) : find_cpu_facts(plan.threads);
  if (!facts) return tl::unexpected(std::move(facts).error());
  return std::make_unique<CpuDevice>(*std::move(facts), std::move(threads), plan.worker);
}

Result<double> measure_launch_floor_us(const CpuDevicePlan& plan) {
  constexpr int kRuns = 7;
  constexpr int64_t kCalls = 2000;
  KW_TRY(const WorkerThreads threads, choose_threads(plan));
  KW_TRY(const auto buffers, CpuBuffers::make(Workload{}, BufferPlan{}));
  CodeImage image;
  image.bytes = "\xc3";  // ret
  image.entries = {0};
  LaunchNumbers numbers;
  numbers.items = {plan.threads};
  const ProgramSetup setup = plan_candidate_setup(*buffers, threads, image, numbers);
  KW_TRY(auto program, CpuProgram::start(plan.worker, threads, setup, &image, *buffers, "empty kernel"));
  if (!program) return fail("cannot link the empty kernel: {}", program.error().code());
  double least_us = 0;
  for (int i = 0; i < kRuns; ++i) {
    const RunOutcome outcome = (*program)->run(0, kCalls, Milliseconds(10'000));
    if (!outcome.ok()) return fail("the empty kernel does not run: {}", outcome.detail);
    const double call_us = outcome.elapsed_us / static_cast<double>(kCalls);
    least_us = i == 0 ? call_us : std::min(least_us, call_us);
  }
  return least_us;
}

}  // namespace kw
