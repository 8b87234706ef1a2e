// The worker's requests, one function each. See worker.h; what lives between them is in resident.h.
#include "target/cuda/worker.h"

#include <unistd.h>

#include <cstdio>
#include <map>

#include "target/cuda/message.h"
#include "target/cuda/peak.h"
#include "target/cuda/resident.h"
#include "target/workload_text.h"

namespace kw::cuda {
namespace {

constexpr int kChannel = 3;

struct Reply {
  Json head = Json::object();
  std::string blob;
};
using Outcome = tl::expected<Reply, Fault>;

Fault refusal(const Error& error) { return {0, error.message, false}; }

std::vector<Dtype> read_dtypes(const Json& json) {
  std::vector<Dtype> dtypes;
  for (const Json& one : json) dtypes.push_back(static_cast<Dtype>(one.get<int>()));
  return dtypes;
}

// A vendor routine as something to enqueue.
class VendorCallable final : public Callable {
 public:
  VendorCallable(const Block& block, std::unique_ptr<VendorRoutine> routine)
      : block_(block), routine_(std::move(routine)) {}
  Done enqueue(int set, Stream stream) override {
    std::vector<DevicePointer> operands;
    for (int at = 0; at < block_.layout().operands; ++at) operands.push_back(block_.address(set, at));
    if (const Status done = routine_->enqueue(operands, stream); !done)
      return tl::unexpected(refusal(done.error()));
    return {};
  }

 private:
  const Block& block_;
  std::unique_ptr<VendorRoutine> routine_;
};

class Worker {
 public:
  explicit Worker(Gpu gpu) : gpu_(std::move(gpu)) {}

  Outcome answer(const Message& message) {
    const std::string what = message.head["do"];
    using Handler = Outcome (Worker::*)(const Message&);
    static const std::map<std::string, Handler> handlers = {{"make_block", &Worker::make_block},
                                                            {"drop_block", &Worker::drop_block},
                                                            {"copy", &Worker::copy},
                                                            {"load", &Worker::load},
                                                            {"load_vendor", &Worker::load_vendor},
                                                            {"drop", &Worker::drop},
                                                            {"run", &Worker::run},
                                                            {"serve", &Worker::serve},
                                                            {"list_vendor", &Worker::list_vendor},
                                                            {"measure", &Worker::measure}};
    const auto found = handlers.find(what);
    if (found == handlers.end()) return tl::unexpected(Fault{0, "unknown request " + what, false});
    return (this->*found->second)(message);
  }
  Gpu& gpu() { return gpu_; }

 private:
  Outcome make_block(const Message& message);
  Outcome drop_block(const Message& message);
  Outcome copy(const Message& message);
  Outcome load(const Message& message);
  Outcome load_vendor(const Message& message);
  Outcome drop(const Message& message);
  Outcome run(const Message& message);
  Outcome serve(const Message& message);
  Outcome list_vendor(const Message& message);
  Outcome measure(const Message& message);
  Done copy_all(const Json& copies, const Block& block) const;
  Resident& resident(const Json& head) { return *programs_.at(head["program"]); }
  Block& block(const Json& head) { return *blocks_.at(head["block"]); }

  Gpu gpu_;
  std::map<int64_t, std::unique_ptr<Block>> blocks_;
  std::map<int64_t, std::unique_ptr<Resident>> programs_;
};

Outcome Worker::make_block(const Message& message) {
  auto made = Block::make(gpu_, read_layout(message.head["layout"]), message.descriptor,
                          message.head["flush"].get<bool>());
  if (!made) return tl::unexpected(made.error());
  blocks_[message.head["block"]] = std::move(*made);
  return Reply{};
}

Outcome Worker::drop_block(const Message& message) {
  blocks_.erase(message.head["block"].get<int64_t>());
  return Reply{};
}

// Each copy: [place, offset, bytes, 1 = to the GPU].
Done Worker::copy_all(const Json& copies, const Block& block) const {
  for (const Json& one : copies) KW_GPU(block.copy(one[0], one[1], one[2], one[3].get<int>() == 1));
  return {};
}

Outcome Worker::copy(const Message& message) {
  KW_GPU(copy_all(message.head["copies"], block(message.head)));
  KW_GPU(gpu_.synchronize());
  return Reply{};
}

Outcome Worker::load(const Message& message) {
  const Json& head = message.head;
  const Block& operands = block(head);
  auto resident = std::make_unique<Resident>(gpu_, operands);
  const auto workspace = resident->make_workspace(head["workspace_bytes"]);
  if (!workspace) return tl::unexpected(workspace.error());
  auto loaded =
      load_kernels(gpu_, operands, message.blob, head["launches"], read_dtypes(head["dtypes"]), *workspace);
  if (!loaded) return tl::unexpected(loaded.error());
  resident->set_callable(std::move(loaded->callable));
  programs_[head["program"]] = std::move(resident);
  return Reply{{{"kernels", std::move(loaded->facts)}}, {}};
}

Outcome Worker::load_vendor(const Message& message) {
  const Json& head = message.head;
  const Block& operands = block(head);
  const auto workload = parse_workload_text(head["workload"].get<std::string>());
  if (!workload) return tl::unexpected(refusal(workload.error()));
  auto resident = std::make_unique<Resident>(gpu_, operands);
  const auto workspace = resident->make_workspace(kVendorWorkspaceBytes);
  if (!workspace) return tl::unexpected(workspace.error());
  auto routine = open_vendor_routine(head["name"], *workload, *workspace, kVendorWorkspaceBytes);
  if (!routine) return tl::unexpected(refusal(routine.error()));
  Reply reply{{{"identity", (*routine)->identity()}}, {}};
  resident->set_callable(std::make_unique<VendorCallable>(operands, std::move(*routine)));
  programs_[head["program"]] = std::move(resident);
  return reply;
}

Outcome Worker::drop(const Message& message) {
  programs_.erase(message.head["program"].get<int64_t>());
  return Reply{};
}

// Copies what changed, runs, copies back what the caller looks at.
Outcome Worker::run(const Message& message) {
  const Json& head = message.head;
  Resident& program = resident(head);
  KW_GPU(copy_all(head["before"], block(head)));
  if (head.contains("poison")) KW_GPU(program.poison(head["poison"]));
  const auto elapsed_us = program.run(head["first_set"], head["calls"]);
  if (!elapsed_us) return tl::unexpected(elapsed_us.error());
  if (!head["after"].empty()) {
    KW_GPU(copy_all(head["after"], block(head)));
    KW_GPU(gpu_.synchronize());
  }
  return Reply{{{"elapsed_us", *elapsed_us}}, {}};
}

Outcome Worker::serve(const Message& message) {
  const Json& head = message.head;
  KW_GPU(copy_all(head["before"], block(head)));
  const auto times = resident(head).serve(head["calls"], head["rate_hz"], head["seed"]);
  if (!times) return tl::unexpected(times.error());
  return Reply{{{"device_us", times->device_us}, {"host_us", times->host_us}}, {}};
}

Outcome Worker::list_vendor(const Message& message) {
  const auto workload = parse_workload_text(message.head["workload"].get<std::string>());
  if (!workload) return tl::unexpected(refusal(workload.error()));
  const auto names = list_vendor_routines(*workload);
  if (!names) return tl::unexpected(refusal(names.error()));
  return Reply{{{"names", *names}}, {}};
}

Outcome Worker::measure(const Message&) {
  auto peaks = measure_peaks(gpu_);
  if (!peaks) return tl::unexpected(peaks.error());
  return Reply{std::move(*peaks), {}};
}

Json print_libraries() {
  Json json = Json::array();
  for (const VendorLibrary& library : find_vendor_libraries())
    json.push_back({{"name", library.name}, {"version", library.version}, {"missing", library.missing}});
  return json;
}

}  // namespace

int run_cuda_worker(int ordinal) {
  auto gpu = Gpu::open(ordinal);
  if (!gpu) return send_message(kChannel, {{"error", gpu.error().message}}) ? 1 : 2;
  Worker worker(std::move(*gpu));
  Json hello = worker.gpu().print_facts();
  hello["libraries"] = print_libraries();
  if (!send_message(kChannel, hello)) return 2;
  Message message;
  while (receive_message(kChannel, Milliseconds(-1), message) == Receipt::kOk) {
    const Outcome outcome = worker.answer(message);
    message = Message();
    if (outcome) {
      if (!send_message(kChannel, outcome->head, outcome->blob)) return 2;
      continue;
    }
    Fault fault = outcome.error();
    // A vendor library reports the death of the context as an error of its own.
    if (const Done alive = worker.gpu().synchronize(); !alive && alive.error().fatal && !fault.fatal)
      fault = {alive.error().code, fault.text + "; " + alive.error().text, true};
    const char* kind = fault.fatal ? "fault" : "refused";
    const bool sent = send_message(kChannel, {{kind, fault.text}, {"code", fault.code}});
    if (!sent || fault.fatal) _exit(sent ? 0 : 2);  // the context is gone: nothing of it can be torn down
  }
  _exit(0);
}

}  // namespace kw::cuda
