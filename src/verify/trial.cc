// See trial.h. Outcomes of the worker become verdicts here.
#include "verify/trial.h"

#include <fmt/format.h>

#include <csignal>
#include <cstring>

#include "base/check.h"
#include "verify/element.h"
#include "verify/reason.h"

namespace kw {
namespace {

const Operand* find_operand(const Workload& workload, const std::string& name) {
  for (const Operand& operand : workload.operands) {
    if (operand.name == name) return &operand;
  }
  return nullptr;
}

std::string name_signal(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "segfault";
    case SIGBUS:
      return "bus_error";
    case SIGFPE:
      return "arithmetic";
    case SIGILL:
      return "illegal_instruction";
    case SIGTRAP:
      return "trap";
    default:
      return "killed";
  }
}

// An access that faulted near an operand: in front, behind, or inside (inputs are read-only to the worker).
Named name_fault(const Workload& workload, const GuardHit& fault) {
  const Operand* operand = find_operand(workload, fault.operand);
  if (operand != nullptr && fault.element >= 0 && fault.element < operand->span()) {
    return {VerdictClass::kInputModified, fault.operand};
  }
  return {VerdictClass::kOutOfBounds, (fault.element < 0 ? "before_" : "past_") + fault.operand};
}

}  // namespace

Trial::Trial(std::unique_ptr<Buffers> buffers, std::unique_ptr<Program> program, const Subject& subject,
             BufferPlan plan, Milliseconds limit)
    : buffers_(std::move(buffers)),
      program_(std::move(program)),
      subject_(subject),
      plan_(std::move(plan)),
      limit_(limit) {}

void Trial::load(const Check& check, uint64_t guard_seed) { load(check, check.contents, guard_seed); }

void Trial::load(const Check& check, const std::vector<std::vector<std::byte>>& contents,
                 uint64_t guard_seed) {
  const auto& operands = buffers_->workload().operands;
  KW_CHECK(operands.size() == contents.size(), "{} operands, {} contents", operands.size(), contents.size());
  for (size_t at = 0; at < operands.size(); ++at) {
    KW_CHECK(static_cast<int64_t>(contents[at].size()) == operands[at].span_bytes(),
             "operand {}: {} bytes, not {}", operands[at].name, contents[at].size(),
             operands[at].span_bytes());
    copy_elements(operands[at], contents[at], buffers_->contents(0, static_cast<int>(at)));
  }
  buffers_->fill_guards(guard_seed);
  check_ = &check;
  contents_ = &contents;
}

const Operand& Trial::output_operand() const {
  return check_->workload.operands[static_cast<size_t>(check_->output)];
}

std::vector<std::vector<std::byte>> Trial::memory() {
  std::vector<std::vector<std::byte>> operands;
  for (size_t at = 0; at < buffers_->workload().operands.size(); ++at) {
    const auto bytes = buffers_->contents(0, static_cast<int>(at));
    operands.emplace_back(bytes.begin(), bytes.end());
  }
  return operands;
}

void Trial::prepare(const Recipe& recipe) {
  const auto& operands = buffers_->workload().operands;
  for (size_t at = 0; at < operands.size(); ++at) {
    const Operand& operand = operands[at];
    const auto bytes = buffers_->contents(0, static_cast<int>(at));
    if (operand.access == Access::kOut) poison_elements(operand, bytes, recipe.poison, recipe.output_seed);
    if (operand.access == Access::kInOut) copy_elements(operand, (*contents_)[at], bytes);
  }
  if (recipe.workspace_seed) program_->poison_workspace(*recipe.workspace_seed);
  program_->reverse_items(recipe.items_reversed);
  const auto output = buffers_->contents(0, check_->output);
  before_.assign(output.begin(), output.end());
}

std::optional<Verdict> Trial::run(const Recipe& recipe) {
  KW_CHECK(check_ != nullptr, "no check loaded");
  KW_CHECK(recipe.calls == 1 || output_is_pure(), "{} calls on an output that is also an input",
           recipe.calls);
  prepare(recipe);
  ++runs_;
  const RunOutcome outcome = program_->run(0, recipe.calls, limit_);
  if (!outcome.ok()) return judge_outcome(outcome);
  const auto output = buffers_->contents(0, check_->output);
  output_.assign(output.begin(), output.end());
  if (auto verdict = find_guard_damage()) return verdict;
  return find_changed_input();
}

std::optional<Verdict> Trial::judge_outcome(const RunOutcome& outcome) const {
  Json evidence = print_circumstances();
  if (!outcome.detail.empty()) evidence["detail"] = outcome.detail;
  if (outcome.signal != 0) evidence["signal"] = outcome.signal;
  switch (outcome.status) {
    case RunOutcome::Status::kOk:
      return std::nullopt;
    case RunOutcome::Status::kTimeout:
      evidence["limit_ms"] = limit_.count();
      return make_verdict({VerdictClass::kHang, "time_limit"}, evidence);
    case RunOutcome::Status::kForbiddenCall:
      return make_verdict({VerdictClass::kCheat, "forbidden_syscall"}, evidence);
    case RunOutcome::Status::kClock:
      return make_verdict({VerdictClass::kCheat, "clock"}, evidence);
    case RunOutcome::Status::kControl:
      return make_verdict({VerdictClass::kCrash, "control_state"}, evidence);
    case RunOutcome::Status::kRefused:
      return make_verdict({VerdictClass::kLaunchError, "not_started"}, evidence);
    case RunOutcome::Status::kKilled:
      return make_verdict({VerdictClass::kCrash, name_signal(outcome.signal)}, evidence);
    case RunOutcome::Status::kExit:
      return make_verdict({VerdictClass::kCrash, "exit"}, evidence);
    case RunOutcome::Status::kFault:
      break;
  }
  if (!outcome.fault) return make_verdict({VerdictClass::kCrash, name_signal(outcome.signal)}, evidence);
  evidence["operand"] = outcome.fault->operand;
  evidence["offset"] = outcome.fault->element;
  const Workload& seen = plan_.spread ? *plan_.spread : buffers_->workload();
  return make_verdict(name_fault(seen, *outcome.fault), evidence);
}

std::optional<Verdict> Trial::find_guard_damage() {
  const auto hit = buffers_->find_guard_hit();
  if (!hit) return std::nullopt;
  const Operand* operand = find_operand(buffers_->workload(), hit->operand);
  const bool is_gap = operand != nullptr && hit->element >= 0 && hit->element < operand->span();
  const std::string side = hit->element < 0 ? "before" : is_gap ? "gap" : "past";
  Json evidence = print_circumstances();
  evidence["operand"] = hit->operand;
  evidence["offset"] = hit->element;
  return make_verdict({VerdictClass::kOutOfBounds, fmt::format("write_{}_{}", side, hit->operand)}, evidence);
}

std::optional<Verdict> Trial::find_changed_input() {
  const auto& operands = buffers_->workload().operands;
  for (size_t at = 0; at < operands.size(); ++at) {
    const Operand& operand = operands[at];
    if (operand.access != Access::kIn || operand.span() == 0) continue;
    const auto bytes = buffers_->contents(0, static_cast<int>(at));
    const auto& want = (*contents_)[at];
    const auto size = static_cast<size_t>(dtype_bytes(operand.dtype));
    for (int64_t row = 0; row < operand.rows; ++row) {
      const size_t start = static_cast<size_t>(row * operand.ld) * size;
      const size_t length = static_cast<size_t>(operand.cols) * size;
      if (std::memcmp(bytes.data() + start, want.data() + start, length) == 0) continue;
      Json evidence = print_circumstances();
      evidence["operand"] = operand.name;
      evidence["row"] = row;
      return make_verdict({VerdictClass::kInputModified, operand.name}, evidence);
    }
  }
  return std::nullopt;
}

Json Trial::print_circumstances() const {
  Json json = Json::object();
  json["family"] = check_->family;
  json["seed"] = check_->seed;
  json["problem"] = print_problem(check_->workload.problem);
  if (plan_.spread) json["seen_as"] = print_problem(plan_.spread->problem);
  json["placement"] = plan_.placement == Placement::kAligned ? "aligned" : "end";
  json["threads"] = subject_.threads;
  json["run"] = runs_;
  return json;
}

}  // namespace kw
