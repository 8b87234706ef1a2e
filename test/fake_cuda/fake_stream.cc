// Streams, graphs and events of the fake driver. An operation runs when it is enqueued, in the calling
// thread; in a capture it is kept, and runs each time that the graph is started. Events read the host's
// clock.
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "fake_driver.h"
#include "target/cuda/driver.h"

namespace kw::cuda {

using Operations = std::vector<fake::Operation>;

struct GraphTag {
  std::shared_ptr<const Operations> operations;
};

struct GraphExecTag {
  std::shared_ptr<const Operations> operations;
};

struct StreamTag {
  std::shared_ptr<Operations> captured;  // not null: a capture is open
};

struct EventTag {
  bool recorded = false;
  std::chrono::steady_clock::time_point time;
};

}  // namespace kw::cuda

namespace kw::fake {
namespace {

using cuda::DriverResult;
using cuda::Event;
using cuda::Graph;
using cuda::GraphExec;
using cuda::Stream;

int open_captures = 0;
bool capture_spoiled = false;

bool is_capturing(Stream stream) { return stream != nullptr && stream->captured; }

}  // namespace

DriverResult check_idle() {
  if (open_captures == 0) return get_fault();
  capture_spoiled = true;
  return kCaptureUnsupported;
}

DriverResult enqueue(Stream stream, Operation operation) {
  if (const DriverResult fault = get_fault(); fault != 0) return fault;
  if (is_capturing(stream))
    stream->captured->push_back(std::move(operation));
  else
    operation();
  return 0;
}

DriverResult launch(Stream stream, Operation operation) {
  if (const DriverResult fault = get_fault(); fault != 0) return fault;
  if (!is_capturing(stream) && !count_launch()) return 0;
  return enqueue(stream, std::move(operation));
}

extern "C" {

DriverResult fake_cuda_launch(Stream stream, void (*run)(void*), void* argument, void (*release)(void*)) {
  const std::shared_ptr<void> owned(argument, release);
  return launch(stream, [run, owned] { run(owned.get()); });
}

DriverResult cuStreamCreate(Stream* stream, unsigned) {
  *stream = new cuda::StreamTag;
  return get_fault();
}

DriverResult cuStreamDestroy_v2(Stream stream) {
  if (stream == nullptr) return kInvalidHandle;
  if (stream->captured) --open_captures;
  delete stream;
  return 0;
}

DriverResult cuStreamSynchronize(Stream) { return check_idle(); }

DriverResult cuStreamBeginCapture_v2(Stream stream, int) {
  if (stream == nullptr || stream->captured) return kInvalidValue;
  if (open_captures++ == 0) capture_spoiled = false;
  stream->captured = std::make_shared<cuda::Operations>();
  return get_fault();
}

DriverResult cuStreamEndCapture(Stream stream, Graph* graph) {
  *graph = nullptr;
  if (!is_capturing(stream)) return kInvalidValue;
  const auto operations = std::exchange(stream->captured, nullptr);
  --open_captures;
  if (capture_spoiled) return kCaptureInvalidated;
  *graph = new cuda::GraphTag{operations};
  return get_fault();
}

DriverResult cuGraphInstantiateWithFlags(GraphExec* exec, Graph graph, unsigned long long) {
  if (graph == nullptr) return kInvalidHandle;
  *exec = new cuda::GraphExecTag{graph->operations};
  return get_fault();
}

DriverResult cuGraphUpload(GraphExec exec, Stream) { return exec == nullptr ? kInvalidHandle : get_fault(); }

DriverResult cuGraphLaunch(GraphExec exec, Stream stream) {
  if (exec == nullptr) return kInvalidHandle;
  return launch(stream, [operations = exec->operations] {
    for (const Operation& operation : *operations) operation();
  });
}

DriverResult cuGraphDestroy(Graph graph) {
  delete graph;
  return 0;
}

DriverResult cuGraphExecDestroy(GraphExec exec) {
  delete exec;
  return 0;
}

DriverResult cuEventCreate(Event* event, unsigned) {
  *event = new cuda::EventTag;
  return get_fault();
}

// Not kept in a capture: the real driver has no time of an event that is a node of a graph either.
DriverResult cuEventRecord(Event event, Stream stream) {
  if (event == nullptr) return kInvalidHandle;
  if (is_capturing(stream)) return check_idle();
  event->recorded = true;
  event->time = std::chrono::steady_clock::now();
  return get_fault();
}

DriverResult cuEventSynchronize(Event event) { return event == nullptr ? kInvalidHandle : check_idle(); }

DriverResult cuEventElapsedTime(float* ms, Event start, Event stop) {
  if (start == nullptr || stop == nullptr || !start->recorded || !stop->recorded) return kInvalidHandle;
  *ms = std::chrono::duration<float, std::milli>(stop->time - start->time).count();
  return get_fault();
}

DriverResult cuEventDestroy_v2(Event event) {
  delete event;
  return 0;
}

}  // extern "C"

namespace {

// Compiles only while these functions are of the types through which the program calls them.
[[maybe_unused]] constexpr cuda::Driver kTypes = {.stream_create = cuStreamCreate,
                                                  .stream_destroy = cuStreamDestroy_v2,
                                                  .stream_synchronize = cuStreamSynchronize,
                                                  .stream_begin_capture = cuStreamBeginCapture_v2,
                                                  .stream_end_capture = cuStreamEndCapture,
                                                  .graph_instantiate = cuGraphInstantiateWithFlags,
                                                  .graph_upload = cuGraphUpload,
                                                  .graph_launch = cuGraphLaunch,
                                                  .graph_destroy = cuGraphDestroy,
                                                  .graph_exec_destroy = cuGraphExecDestroy,
                                                  .event_create = cuEventCreate,
                                                  .event_record = cuEventRecord,
                                                  .event_synchronize = cuEventSynchronize,
                                                  .event_elapsed_ms = cuEventElapsedTime,
                                                  .event_destroy = cuEventDestroy_v2};

}  // namespace
}  // namespace kw::fake
