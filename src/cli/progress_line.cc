#include "cli/progress_line.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

#include "cli/table.h"

namespace kw {
namespace {

constexpr double kTerminalPeriodS = 0.1, kPipePeriodS = 5;

}  // namespace

std::string print_progress(const ProgressState& state) {
  std::string text = state.budget_s > 0 ? fmt::format("[{:.0f}/{:.0f} s]", state.elapsed_s, state.budget_s)
                                        : fmt::format("[{:.0f} s]", state.elapsed_s);
  if (state.problems > 1) text += fmt::format(" {}/{}", state.problem_index + 1, state.problems);
  text += " " + state.problem;
  if (state.phase != "searching") text += " " + state.phase;
  text += state.trials > 0 ? fmt::format(" | {}/{} tried", state.tried, state.trials)
                           : fmt::format(" | {} tried", state.tried);
  text += fmt::format(", {} right", state.passed);
  for (const auto& [code, number] : state.failures) text += fmt::format(", {} {}", code, number);
  if (state.best_ratio)
    text +=
        fmt::format(" | best {:.2f}x {} ({})", *state.best_ratio, state.baseline, print_time(*state.best_us));
  else if (!state.baseline.empty())
    text += fmt::format(" | bar {} ({})", state.baseline, print_time(state.baseline_us));
  if (!state.proposer.empty()) text += " | " + state.proposer;
  if (state.disturbed) text += " | machine busy";
  return text;
}

ProgressLine::ProgressLine(bool quiet, const std::string& trace)
    : quiet_(quiet), terminal_(::isatty(STDERR_FILENO) == 1) {
  if (!trace.empty()) trace_.open(trace, std::ios::app);
  if (!trace.empty() && !trace_) say(fmt::format("--trace {} cannot be written; going on without it", trace));
}

void ProgressLine::record(const Evaluation& evaluation) {
  if (!trace_.is_open()) return;
  const Json line = {{"problem", evaluation.problem},
                     {"schedule", evaluation.proposal.schedule},
                     {"proposer", evaluation.proposal.proposer},
                     {"kernel", evaluation.binary_hash},
                     {"verdict", evaluation.verdict.code()},
                     {"median_us", evaluation.timing ? Json(evaluation.timing->median_us) : Json()},
                     {"ratio", evaluation.timing ? Json(evaluation.timing->ratio) : Json()}};
  trace_ << print_json(line) << std::endl;
}

void ProgressLine::clear() {
  if (shown_) std::fprintf(stderr, "\r\033[K");
  shown_ = false;
}

void ProgressLine::update(const ProgressState& state) {
  if (quiet_) return;
  if (state.disturbed && !told_busy_) {
    told_busy_ = true;
    say("other programs use the measuring core; times are noisier than on a quiet machine");
  }
  const bool news = state.problem_index != last_problem_ || state.phase != last_phase_;
  if (!news && seconds_since(last_time_) < (terminal_ ? kTerminalPeriodS : kPipePeriodS)) return;
  last_time_ = Clock::now();
  last_problem_ = state.problem_index;
  last_phase_ = state.phase;
  std::string text = print_progress(state);
  if (!terminal_) {
    std::fprintf(stderr, "%s\n", text.c_str());
    return;
  }
  winsize size{};
  const size_t columns =
      ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col - 1u : 119u;
  if (text.size() > columns) text.resize(columns);
  std::fprintf(stderr, "\r\033[K%s", text.c_str());
  shown_ = true;
}

void ProgressLine::say(const std::string& line) {
  if (quiet_) return;
  clear();
  std::fprintf(stderr, "%s\n", line.c_str());
}

}  // namespace kw
