#include "target/cuda/device.h"

#include <algorithm>

#include "base/check.h"
#include "target/cuda/cubin.h"
#include "target/cuda/launch_text.h"
#include "target/cuda/program.h"
#include "target/workload_text.h"

namespace kw {
namespace {

using cuda::Answer;
using cuda::CudaBuffers;
using cuda::CudaProgram;
using cuda::WorkerProcess;
using CandidateResult = tl::expected<std::unique_ptr<Program>, Verdict>;

constexpr Milliseconds kListLimit{60'000}, kMeasureLimit{120'000};
constexpr int kFirstSpecific = 90;  // from Hopper on an `a` names instructions of that one architecture

tl::unexpected<Verdict> refuse(VerdictClass klass, std::string reason, std::string message) {
  Verdict verdict;
  verdict.klass = klass;
  verdict.reason = std::move(reason);
  verdict.evidence["message"] = std::move(message);
  return tl::unexpected(std::move(verdict));
}

// 90 of "sm_90a".
int read_generation(std::string_view isa) {
  int generation = 0;
  for (const char c : isa)
    if (c >= '0' && c <= '9') generation = generation * 10 + (c - '0');
  return generation;
}

DeviceFacts make_facts(const Json& hello) {
  DeviceFacts facts;
  facts.target = "cuda";
  facts.name = hello["name"].get<std::string>();
  const int generation = hello["major"].get<int>() * 10 + hello["minor"].get<int>();
  facts.isa = fmt::format("sm_{}{}", generation, generation >= kFirstSpecific ? "a" : "");
  facts.cores = hello["processors"];
  facts.threads = 1;
  facts.l2_bytes = hello["l2_bytes"];
  facts.os = "CUDA " + hello["cuda"].get<std::string>();
  return facts;
}

// What a candidate's record must fulfil before its module is looked at.
tl::expected<void, Verdict> check_record(const LaunchRecord& launch, const DeviceFacts& facts,
                                         const Variables& variables) {
  if (launch.target != "cuda")
    return refuse(VerdictClass::kLaunchError, "wrong_target", "target " + launch.target + " on a GPU");
  const bool one_only = launch.isa.ends_with('a');
  if (one_only ? launch.isa != facts.isa : read_generation(launch.isa) > read_generation(facts.isa))
    return refuse(VerdictClass::kSkipped, "device_missing",
                  "needs " + launch.isa + ", this GPU is " + facts.isa);
  if (launch.kernels.empty())
    return refuse(VerdictClass::kLaunchError, "missing_kernel", "the record names none");
  if (launch.kernels.size() > kMaxKernels)
    return refuse(VerdictClass::kLaunchError, "too_many_kernels",
                  fmt::format("{}, at most {}", launch.kernels.size(), kMaxKernels));
  for (const KernelLaunch& kernel : launch.kernels)
    if (!kernel.grid) return refuse(VerdictClass::kLaunchError, "missing_grid", kernel.name + " has no grid");
  if (const auto violation = find_domain_violation(launch, variables))
    return refuse(VerdictClass::kIllegal, "outside_domain", *violation);
  return {};
}

CudaBuffers& as_cuda_buffers(Buffers& buffers) {
  auto* own = dynamic_cast<CudaBuffers*>(&buffers);
  KW_CHECK(own != nullptr, "buffers of another device");
  return *own;
}

class CudaDevice final : public Device {
 public:
  CudaDevice(std::shared_ptr<WorkerProcess> worker, DeviceFacts facts)
      : worker_(std::move(worker)), facts_(std::move(facts)) {}

  const DeviceFacts& facts() const override { return facts_; }
  WorkerProcess& worker() { return *worker_; }
  Result<std::unique_ptr<Buffers>> make_buffers(const Workload& workload, const BufferPlan& plan) override {
    return CudaBuffers::make(worker_, workload, plan, facts_.l2_bytes);
  }
  Result<CandidateResult> start_candidate(const Binary& binary, Buffers& buffers) override;
  Result<std::vector<std::string>> find_baselines(const Workload& workload) override;
  Result<std::unique_ptr<Program>> start_baseline(const std::string& name, Buffers& buffers) override;

 private:
  std::shared_ptr<WorkerProcess> worker_;
  DeviceFacts facts_;
};

Result<CandidateResult> CudaDevice::start_candidate(const Binary& binary, Buffers& buffers) {
  const auto refused = [&](Verdict verdict) {
    verdict.binary_hash = binary.hash;
    return CandidateResult(tl::unexpected(std::move(verdict)));
  };
  CudaBuffers& operands = as_cuda_buffers(buffers);
  const Workload& workload = operands.seen_workload();
  Variables variables = make_variables(workload, facts_.threads);
  variables["sm_count"] = facts_.cores;
  if (auto checked = check_record(binary.launch, facts_, variables); !checked)
    return refused(checked.error());
  const auto numbers = evaluate_launch(binary.launch, variables);
  if (!numbers)
    return refused(refuse(VerdictClass::kLaunchError, "launch_numbers", numbers.error().message).value());
  if (auto verdict = cuda::check_cubin(binary.object, binary.launch)) return refused(std::move(*verdict));

  Json launches = Json::array(), dtypes = Json::array();
  for (size_t at = 0; at < numbers->grids.size(); ++at) {
    const auto bound = cuda::bind_launch(binary.launch.kernels[at].name, numbers->grids[at], workload);
    if (!bound)
      return refused(refuse(VerdictClass::kLaunchError, "arguments", bound.error().message).value());
    launches.push_back(cuda::print_bound_launch(*bound));
  }
  for (const Operand& operand : workload.operands) dtypes.push_back(static_cast<int>(operand.dtype));
  Json load = {{"do", "load"},
               {"launches", std::move(launches)},
               {"dtypes", std::move(dtypes)},
               {"workspace_bytes", numbers->workspace_bytes}};
  auto program =
      std::make_unique<CudaProgram>(worker_, operands, std::move(load), binary.object, binary.hash);
  KW_TRY(const Answer started, program->start());
  if (!started.ok()) return refused(refuse(VerdictClass::kLaunchError, "not_loaded", started.detail).value());
  return CandidateResult(std::move(program));
}

Result<std::vector<std::string>> CudaDevice::find_baselines(const Workload& workload) {
  KW_TRY_VOID(worker_->start());
  const Answer answer =
      worker_->ask({{"do", "list_vendor"}, {"workload", print_workload_text(workload)}}, kListLimit);
  KW_TRY_VOID(cuda::to_status(answer, "list vendor routines"));
  return answer.head["names"].get<std::vector<std::string>>();
}

Result<std::unique_ptr<Program>> CudaDevice::start_baseline(const std::string& name, Buffers& buffers) {
  CudaBuffers& operands = as_cuda_buffers(buffers);
  Json load = {
      {"do", "load_vendor"}, {"name", name}, {"workload", print_workload_text(operands.seen_workload())}};
  auto program = std::make_unique<CudaProgram>(worker_, operands, std::move(load), std::string(), name);
  KW_TRY(const Answer started, program->start());
  if (!started.ok()) return fail("baseline {}: {}", name, started.detail);
  return std::unique_ptr<Program>(std::move(program));
}

std::shared_ptr<WorkerProcess> make_worker(const CudaDevicePlan& plan) {
  return std::make_shared<WorkerProcess>(WorkerProcess::Plan{plan.worker, plan.ordinal});
}

}  // namespace

Result<std::unique_ptr<Device>> make_cuda_device(const CudaDevicePlan& plan) {
  auto worker = make_worker(plan);
  if (const auto started = worker->start(); !started) return tl::unexpected(started.error());
  DeviceFacts facts = make_facts(worker->hello());
  return std::make_unique<CudaDevice>(std::move(worker), std::move(facts));
}

Result<CudaPeaks> measure_cuda_peaks(Device& device) {
  auto* own = dynamic_cast<CudaDevice*>(&device);
  KW_CHECK(own != nullptr, "a device of another target");
  KW_TRY_VOID(own->worker().start());
  const Answer answer = own->worker().ask({{"do", "measure"}}, kMeasureLimit);
  KW_TRY_VOID(cuda::to_status(answer, "measure the GPU's peaks"));
  return CudaPeaks{answer.head["peak_gflops"], answer.head["bandwidth_gbs"], answer.head["launch_floor_us"]};
}

CudaSetup find_cuda_setup(const CudaDevicePlan& plan) {
  CudaSetup setup;
  const auto worker = make_worker(plan);
  if (const auto started = worker->start(); !started) {
    setup.error = started.error().message;
    return setup;
  }
  const DeviceFacts facts = make_facts(worker->hello());
  setup.driver = facts.os;
  setup.device = fmt::format("{}, {}, {} SMs", facts.name, facts.isa, facts.cores);
  for (const Json& library : worker->hello()["libraries"])
    setup.libraries.push_back({library["name"], library["version"], library["missing"]});
  return setup;
}

}  // namespace kw
