#include "measure/sampler.h"

#include <algorithm>
#include <cmath>

namespace kw {
namespace {

// A call cannot be shorter than this share of a sample; reached only by a clock that does not see the work.
constexpr int64_t kMaxCalls = int64_t{1} << 24;

constexpr int kLooksAtLength = 2;    // more runs that must be long enough too before a length is believed
constexpr double kMatchedRatio = 2;  // of latencies up to which both sides make the same number of calls
constexpr double kLongestInterruption = 50;  // in samples; a run beyond it is long by itself

Verdict make_verdict(VerdictClass klass, std::string reason, const Program& program) {
  Verdict verdict;
  verdict.klass = klass;
  verdict.reason = std::move(reason);
  verdict.evidence["stage"] = "measure";
  verdict.binary_hash = program.identity();
  return verdict;
}

// An address inside an operand faults only where the operand may not be written.
bool lies_inside(const GuardHit& hit, const Workload& workload) {
  const auto& all = workload.operands;
  return std::any_of(all.begin(), all.end(), [&](const Operand& operand) {
    return operand.name == hit.operand && hit.element >= 0 && hit.element < operand.span();
  });
}

Verdict verdict_of(const RunOutcome& outcome, const Side& side, Milliseconds limit,
                   const Workload& workload) {
  using S = RunOutcome::Status;
  const auto make = [&](VerdictClass klass, const char* reason) {
    Verdict verdict = make_verdict(klass, reason, *side.program);
    verdict.evidence["calls"] = side.calls;
    if (!outcome.detail.empty()) verdict.evidence["detail"] = outcome.detail;
    if (outcome.signal != 0) verdict.evidence["signal"] = outcome.signal;
    return verdict;
  };
  switch (outcome.status) {
    case S::kFault: {
      if (!outcome.fault) return make(VerdictClass::kCrash, "fault");
      Verdict verdict = lies_inside(*outcome.fault, workload)
                            ? make(VerdictClass::kInputModified, outcome.fault->operand.c_str())
                            : make(VerdictClass::kOutOfBounds, "guard_page");
      verdict.evidence["operand"] = outcome.fault->operand;
      verdict.evidence["element"] = outcome.fault->element;
      return verdict;
    }
    case S::kTimeout: {
      Verdict verdict = make(VerdictClass::kHang, "time_limit");
      verdict.evidence["limit_ms"] = limit.count();
      return verdict;
    }
    case S::kForbiddenCall:
      return make(VerdictClass::kCheat, "forbidden_call");
    case S::kClock:
      return make(VerdictClass::kCheat, "clock");
    case S::kControl:
      return make(VerdictClass::kCrash, "control_state");
    case S::kRefused:
      return make(VerdictClass::kLaunchError, "not_started");
    case S::kKilled:
      return make(VerdictClass::kCrash, "killed");
    case S::kExit:
      return make(VerdictClass::kCrash, "exit");
    case S::kOk:
      break;
  }
  return make(VerdictClass::kCrash, "unknown_outcome");
}

Verdict impossible_time(const Side& side, double elapsed_us) {
  Verdict verdict = make_verdict(VerdictClass::kCheat, "impossible_time", *side.program);
  verdict.evidence["calls"] = side.calls;
  verdict.evidence["elapsed_us"] = std::isfinite(elapsed_us) ? Json(elapsed_us) : Json("not finite");
  return verdict;
}

}  // namespace

tl::expected<double, Verdict> Sampler::run(Side& side) {
  Milliseconds limit = side.limit;
  if (side.expected_us > 0)  // a sample of known length may take 20 times that, a busy machine another second
    limit = std::min(limit, Milliseconds{1000 + static_cast<int64_t>(20 * side.expected_us / 1000)});
  const auto first_set = static_cast<int>(next_set_);
  hidden_.prepare(first_set, side.calls);
  const RunOutcome outcome = side.program->run(first_set, side.calls, limit);
  if (!outcome.ok()) return tl::unexpected(verdict_of(outcome, side, limit, workload_));
  const std::pair<std::optional<Json>, const char*> findings[] = {
      {hidden_.find_wrong(), "wrong_when_timed"}, {hidden_.find_foreign_write(), "other_operand_set"}};
  for (const auto& [evidence, reason] : findings) {
    if (!evidence) continue;
    Verdict verdict = make_verdict(VerdictClass::kCheat, reason, *side.program);
    verdict.evidence.update(*evidence);
    return tl::unexpected(verdict);
  }
  next_set_ = (next_set_ + side.calls) % sets_;
  if (!std::isfinite(outcome.elapsed_us)) return tl::unexpected(impossible_time(side, outcome.elapsed_us));
  spent_us_ += std::max(0.0, outcome.elapsed_us);
  return outcome.elapsed_us;
}

tl::expected<void, Verdict> Sampler::calibrate(Side& side) {
  for (side.calls = calls_unit_;; side.calls *= 2) {
    auto elapsed_us = run(side);
    // One long run may be an interruption: a sample that short in truth would drown in the round trip's
    // noise.
    const auto doubtful = [&] {
      return elapsed_us && *elapsed_us >= sample_us_ && *elapsed_us < kLongestInterruption * sample_us_;
    };
    for (int again = 0; again < kLooksAtLength && doubtful(); ++again) {
      const auto next_us = run(side);
      elapsed_us = next_us ? std::min(*elapsed_us, *next_us) : next_us;
    }
    if (!elapsed_us) return tl::unexpected(elapsed_us.error());
    side.expected_us = *elapsed_us;
    if (*elapsed_us >= sample_us_) return {};
    if (side.calls >= kMaxCalls) return tl::unexpected(impossible_time(side, *elapsed_us));
    side.expected_us *= 2;  // of the next, doubled sample
  }
}

void Sampler::match_calls(Side& a, Side& b) {
  const double ratio = a.latency_us() / b.latency_us();
  if (!(ratio < kMatchedRatio && ratio > 1 / kMatchedRatio)) return;
  const int64_t calls = std::max(a.calls, b.calls);
  for (Side* side : {&a, &b}) {
    side->expected_us = side->latency_us() * static_cast<double>(calls);
    side->calls = calls;
  }
}

tl::expected<double, Verdict> Sampler::sample(Side& side) {
  const auto elapsed_us = run(side);
  if (!elapsed_us) return elapsed_us;
  const bool possible = *elapsed_us > 0;
  if (!possible) return tl::unexpected(impossible_time(side, *elapsed_us));
  return *elapsed_us / static_cast<double>(side.calls);
}

}  // namespace kw
