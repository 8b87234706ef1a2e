#include "target/cuda/buffers.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/check.h"
#include "base/random.h"
#include "target/pattern.h"

namespace kw::cuda {
namespace {

constexpr Milliseconds kCopyLimit{60'000};
constexpr double kL2Multiple = 4;                  // protocol.md B: a rotation that is cold by itself
constexpr int64_t kEagerBytes = int64_t{1} << 20;  // operands this small come back with every run
constexpr size_t kMostWrites = 64;                 // of one operand, then all of it is sent

std::atomic<int64_t> next_id{1};

}  // namespace

CudaBuffers::CudaBuffers(std::shared_ptr<WorkerProcess> worker, const Workload& workload,
                         const BufferPlan& plan, int64_t l2_bytes, SharedMemory memory)
    : worker_(std::move(worker)),
      workload_(workload),
      seen_(plan.spread),
      layout_(plan_layout(workload, plan)),
      memory_(std::move(memory)),
      states_(layout_.places.size()),
      id_(next_id++),
      flush_(static_cast<double>(layout_.device_bytes) < kL2Multiple * static_cast<double>(l2_bytes)) {}

Result<std::unique_ptr<CudaBuffers>> CudaBuffers::make(std::shared_ptr<WorkerProcess> worker,
                                                       const Workload& workload, const BufferPlan& plan,
                                                       int64_t l2_bytes) {
  const std::string what =
      fmt::format("{} operand sets of {}", plan.sets, describe_problem(workload.problem));
  KW_TRY(SharedMemory memory,
         SharedMemory::make(what, static_cast<size_t>(plan_layout(workload, plan).mirror_bytes)));
  std::unique_ptr<CudaBuffers> buffers(
      new CudaBuffers(std::move(worker), workload, plan, l2_bytes, std::move(memory)));
  KW_TRY_VOID(buffers->bind());
  if (plan.sets == 1) buffers->fill_guards(make_secret_seed());
  return buffers;
}

CudaBuffers::~CudaBuffers() {
  if (worker_->runs() && worker_->generation() == generation_) [[maybe_unused]]
    const Answer gone = worker_->ask({{"do", "drop_block"}, {"block", id_}}, kCopyLimit);
}

Status CudaBuffers::bind() {
  KW_TRY(const int generation, worker_->start());
  if (generation == generation_) return {};
  const Answer made = worker_->ask(
      {{"do", "make_block"}, {"block", id_}, {"layout", print_layout(layout_)}, {"flush", flush_}},
      kCopyLimit, {}, memory_.descriptor());
  KW_TRY_VOID(to_status(made, "operands on the GPU"));
  generation_ = generation;
  for (State& state : states_) state = State();
  return {};
}

CudaBuffers::Range CudaBuffers::whole(int index) const {
  const OperandPlace& operand = place(index);
  return {-operand.guard_before, operand.guard_before + operand.span_bytes + operand.guard_behind};
}

std::span<std::byte> CudaBuffers::mirror(int index, Range range) {
  return memory_.bytes().subspan(static_cast<size_t>(place(index).mirror_offset + range.offset),
                                 static_cast<size_t>(range.size));
}

// A worker that is gone has taken its memory with it: the mirror is then all there is. The run before has
// ended well, so a copy fails only when the GPU is lost; what was to be judged is lost with it.
void CudaBuffers::fetch(int index, Range range) {
  if (!worker_->runs() || worker_->generation() != generation_) return;
  Json copies = Json::array();
  copies.push_back({index, range.offset, range.size, 0});
  const Answer copied =
      worker_->ask({{"do", "copy"}, {"block", id_}, {"copies", std::move(copies)}}, kCopyLimit);
  KW_CHECK(copied.ok(), "the GPU was lost while results were copied: {}", copied.detail);
}

std::span<std::byte> CudaBuffers::contents(int set, int operand) {
  KW_CHECK(set >= 0 && set < layout_.sets && operand >= 0 && operand < layout_.operands,
           "set {} of {}, operand {} of {}", set, layout_.sets, operand, layout_.operands);
  const int index = place_of(set, operand);
  State& state = states_[static_cast<size_t>(index)];
  if (state.device_newer) fetch(index, span_of(index));
  state = State();
  return mirror(index, span_of(index));
}

std::span<const std::byte> CudaBuffers::given(int set, int operand) {
  const int index = place_of(set, operand);
  return mirror(index, span_of(index));
}

void CudaBuffers::write(int set, int operand, size_t offset, std::span<const std::byte> bytes) {
  const int index = place_of(set, operand);
  State& state = states_[static_cast<size_t>(index)];
  const Range range{static_cast<int64_t>(offset), static_cast<int64_t>(bytes.size())};
  std::copy(bytes.begin(), bytes.end(), mirror(index, range).begin());
  if (state.mirror_newer) return;
  // An operand of which the GPU has newer parts is never sent as a whole.
  if (!state.device_newer && state.writes.size() >= kMostWrites)
    state = State();
  else
    state.writes.push_back(range);
}

void CudaBuffers::read(int set, int operand, size_t offset, std::span<std::byte> bytes) {
  const int index = place_of(set, operand);
  const Range range{static_cast<int64_t>(offset), static_cast<int64_t>(bytes.size())};
  const State& state = states_[static_cast<size_t>(index)];
  const bool written = std::any_of(state.writes.begin(), state.writes.end(), [&](const Range& write) {
    return write.offset == range.offset && write.size == range.size;
  });
  if (state.device_newer && !written) fetch(index, range);
  const auto from = mirror(index, range);
  std::copy(from.begin(), from.end(), bytes.begin());
}

Json CudaBuffers::take_copies(int first_set, int64_t calls) {
  Json copies = Json::array();
  for (int64_t at = 0; at < std::min<int64_t>(calls, layout_.sets); ++at)
    for (int operand = 0; operand < layout_.operands; ++operand) {
      const int index = place_of(static_cast<int>((first_set + at) % layout_.sets), operand);
      State& state = states_[static_cast<size_t>(index)];
      // Guards travel where somebody looks at them: with a single set.
      const Range all = layout_.sets == 1 ? whole(index) : span_of(index);
      if (state.mirror_newer) copies.push_back({index, all.offset, all.size, 1});
      for (const Range& write : state.writes) copies.push_back({index, write.offset, write.size, 1});
      state.mirror_newer = false;
      state.writes.clear();
    }
  return copies;
}

Json CudaBuffers::list_copies_back() const {
  Json copies = Json::array();
  if (!returns_with_run()) return copies;
  for (int index = 0; index < layout_.operands; ++index)
    copies.push_back({index, whole(index).offset, whole(index).size, 0});
  return copies;
}

bool CudaBuffers::returns_with_run() const {
  return layout_.sets == 1 && layout_.mirror_bytes <= kEagerBytes;
}

void CudaBuffers::note_run(int first_set, int64_t calls) {
  if (returns_with_run()) return;
  for (int64_t at = 0; at < std::min<int64_t>(calls, layout_.sets); ++at)
    for (int operand = 0; operand < layout_.operands; ++operand)
      states_[static_cast<size_t>(place_of(static_cast<int>((first_set + at) % layout_.sets), operand))]
          .device_newer = true;
}

// Calls visit(index, begin, end) for each run of the mirror that belongs to no element, until it returns
// true.
template <class Visit>
bool CudaBuffers::visit_guards(const Visit& visit) {
  if (seen_) return false;  // rows lie apart on the GPU: nothing of ours lies between them
  for (size_t at = 0; at < states_.size(); ++at) {
    const int index = static_cast<int>(at);
    const Operand& operand = workload_.operands[at % workload_.operands.size()];
    const auto start = static_cast<size_t>(place(index).mirror_offset);
    const auto end = start + static_cast<size_t>(place(index).span_bytes);
    if (visit(index, start - static_cast<size_t>(place(index).guard_before), start)) return true;
    if (visit(index, end, end + static_cast<size_t>(place(index).guard_behind))) return true;
    if (operand.ld == operand.cols || place(index).span_bytes == 0) continue;
    const auto element_bytes = static_cast<size_t>(dtype_bytes(operand.dtype));
    const size_t row_bytes = static_cast<size_t>(operand.cols) * element_bytes;
    const size_t pitch_bytes = static_cast<size_t>(operand.ld) * element_bytes;
    for (size_t row = 0; row + 1 < static_cast<size_t>(operand.rows); ++row)
      if (visit(index, start + row * pitch_bytes + row_bytes, start + (row + 1) * pitch_bytes)) return true;
  }
  return false;
}

void CudaBuffers::fill_guards(uint64_t seed) {
  guard_seed_ = seed;
  fetch_all_newer();
  visit_guards([&](int, size_t begin, size_t end) {
    fill_pattern(memory_.bytes(), begin, end, seed);
    return false;
  });
  for (State& state : states_) state = State();
}

void CudaBuffers::fetch_all_newer() {
  for (size_t at = 0; at < states_.size(); ++at)
    if (states_[at].device_newer) fetch(static_cast<int>(at), whole(static_cast<int>(at)));
}

std::optional<GuardHit> CudaBuffers::find_guard_hit() {
  fetch_all_newer();
  std::optional<GuardHit> hit;
  visit_guards([&](int index, size_t begin, size_t end) {
    const auto broken = find_pattern_break(memory_.bytes(), begin, end, guard_seed_);
    if (!broken) return false;
    const Operand& operand = workload_.operands[static_cast<size_t>(index) % workload_.operands.size()];
    const int64_t bytes = static_cast<int64_t>(*broken) - place(index).mirror_offset;
    const int64_t size = dtype_bytes(operand.dtype);
    hit = GuardHit{operand.name, bytes >= 0 ? bytes / size : -((-bytes + size - 1) / size)};
    return true;
  });
  return hit;
}

}  // namespace kw::cuda
