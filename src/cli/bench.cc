#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/random.h"
#include "cli/bench_device.h"
#include "cli/bench_print.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "loop/bench.h"
#include "problem/grid.h"
#include "problem/model.h"
#include "store/device_lock.h"
#include "target/cpu/affinity.h"

namespace kw {
namespace {

constexpr size_t kMaxListBytes = size_t{64} << 20;
constexpr int64_t kMostPairs = 1000;

struct BenchOptions {
  std::string grid, layouts, modes = "offline", target = "cpu", out, dtype, models, check, threads = "1";
  int64_t limit = 0, pairs = BenchSettings{}.pairs;
  double sample_us = BenchSettings{}.sample_us, rate_hz = BenchSettings{}.rate_hz;
  bool resume = true, json = false, quiet = false;
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

template <class T>
Result<std::vector<T>> parse_list(const std::string& text, Result<T> (*parse)(std::string_view)) {
  std::vector<T> values;
  for (const std::string& part : split(text)) {
    KW_TRY(const T value, parse(part));
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  return values;
}

// examples/models beside the program as built, or as installed.
fs::path find_models() {
  std::error_code code;
  const fs::path folder = fs::read_symlink("/proc/self/exe", code).parent_path();
  for (const char* place : {"../examples/models", "../share/kernelwright/examples/models"})
    if (fs::is_directory(folder / place, code)) return folder / place;
  return "examples/models";
}

Result<std::vector<ModelText>> load_models(const fs::path& folder) {
  std::error_code code;
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, code))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  if (files.empty())
    return fail_user("no model files in {}; name their folder with --models", folder.string());
  std::sort(files.begin(), files.end());
  std::vector<ModelText> models;
  for (const fs::path& file : files) {
    KW_TRY(std::string text, read_file(file, kMaxListBytes));
    models.push_back({file.stem().string(), std::move(text)});
  }
  return models;
}

Result<std::vector<ProblemUse>> load_list(const BenchOptions& options, const std::vector<Layout>& layouts) {
  KW_TRY(const std::string text, read_file(options.grid, kMaxListBytes));
  KW_TRY(const auto listed, parse_shapes_csv(text, options.grid));
  const std::vector<ProblemUse> uses = merge_uses(listed);
  return layouts.empty() ? uses : with_layouts(uses, layouts);
}

Result<std::vector<ProblemUse>> find_uses(const BenchOptions& options) {
  GridPlan plan;
  if (!options.layouts.empty()) {
    KW_TRY(plan.layouts, parse_list(options.layouts, parse_layout));
  }
  std::vector<ProblemUse> uses;
  if (options.grid.ends_with(".csv")) {
    KW_TRY(uses, load_list(options, plan.layouts));
  } else {
    KW_TRY(plan.dtype, parse_dtype(!options.dtype.empty()    ? options.dtype
                                   : options.target == "cpu" ? "f32"
                                                             : "f16"));
    if (options.grid == "decode") {
      KW_TRY(plan.models, load_models(options.models.empty() ? find_models() : fs::path(options.models)));
    }
    KW_TRY(uses, make_grid(options.grid, plan));
  }
  if (uses.empty()) return fail_user("{}: holds no shapes", options.grid);
  if (options.limit > 0 && static_cast<size_t>(options.limit) < uses.size())
    uses.resize(static_cast<size_t>(options.limit));
  return uses;
}

Status apply_check(const std::string& text, BenchSettings& settings) {
  if (text.empty()) return {};
  const std::pair<const char*, BenchCheck> known[] = {
      {"none", BenchCheck::kNone}, {"spots", BenchCheck::kSpots}, {"families", BenchCheck::kFamilies}};
  for (const auto& [name, check] : known)
    if (text == name) {
      for (BenchClass& one : settings.classes) one.check = check;
      return {};
    }
  return fail_user("--check \"{}\" is not known; use none, spots or families", text);
}

Result<BenchPlan> make_plan(const BenchOptions& options) {
  BenchPlan plan;
  if (options.limit < 0) return fail_user("--limit {}: use a number of cases from 1 up", options.limit);
  if (options.pairs < 1 || options.pairs > kMostPairs)
    return fail_user("--pairs {}: use 1 to {}", options.pairs, kMostPairs);
  if (!(options.sample_us > 0 && options.sample_us <= 1e7))
    return fail_user("--sample-us {}: use a number above 0, at most 1e7", options.sample_us);
  if (!(options.rate_hz > 0 && options.rate_hz <= 1e6))
    return fail_user("--rate {}: use a number of calls a second above 0, at most 1e6", options.rate_hz);
  KW_TRY(plan.modes, parse_list(options.modes, parse_bench_mode));
  KW_TRY(plan.uses, find_uses(options));
  KW_TRY_VOID(apply_check(options.check, plan.settings));
  plan.table = options.out;
  plan.seed = make_secret_seed();
  plan.settings.pairs = static_cast<int>(options.pairs);
  plan.settings.sample_us = options.sample_us;
  plan.settings.rate_hz = options.rate_hz;
  return plan;
}

// With --no-resume an earlier table steps aside; nothing is deleted.
Status set_aside(const fs::path& table) {
  std::error_code code;
  if (!fs::exists(table, code)) return {};
  fs::path old = table;
  old += ".old";
  fs::rename(table, old, code);
  if (code) return fail("cannot rename {} to {}: {}", table.string(), old.string(), code.message());
  return {};
}

std::string print_duration(double s) {
  if (s < 120) return fmt::format("{:.0f} s", s);
  return s < 7200 ? fmt::format("{:.0f} min", s / 60) : fmt::format("{:.1f} h", s / 3600);
}

// One line on stderr, rewritten in place in a terminal, now and then when piped.
class BenchLine {
 public:
  explicit BenchLine(bool quiet) : quiet_(quiet), terminal_(::isatty(STDERR_FILENO) == 1) {}
  ~BenchLine() { clear(); }

  void show(const BenchProgress& progress) {
    constexpr double kTerminalPeriodS = 0.1, kPipePeriodS = 5;
    if (quiet_ || seconds_since(last_) < (terminal_ ? kTerminalPeriodS : kPipePeriodS)) return;
    last_ = Clock::now();
    const std::string left = progress.left_s ? ", " + print_duration(*progress.left_s) + " left" : "";
    std::fprintf(stderr, terminal_ ? "\r\033[K%s" : "%s\n",
                 fmt::format("[{}{}] {}/{} {}", print_duration(progress.elapsed_s), left, progress.done,
                             progress.total, progress.problem)
                     .c_str());
    shown_ = terminal_;
  }
  void say(const std::string& line) {
    if (quiet_) return;
    clear();
    std::fprintf(stderr, "%s\n", line.c_str());
  }

 private:
  void clear() {
    if (shown_) std::fprintf(stderr, "\r\033[K");
    shown_ = false;
  }
  bool quiet_, terminal_, shown_ = false;
  Clock::time_point last_{};
};

Result<DeviceLock> take_device(const DeviceFacts& facts, BenchLine& line) {
  return DeviceLock::take(facts.target, [&](const LockHolder& holder, double waited_s) {
    if (waited_s == 0)
      line.say(fmt::format("the device is in use by {}; waiting for it to end", print_holder(holder)));
    return !was_interrupted();
  });
}

void print_end(const BenchOptions& options, const BenchOutcome& outcome, const DeviceFacts& facts) {
  const std::vector<BenchSummary> summaries = summarize_bench(outcome.cases);
  if (options.json) {
    const Json json = {{"device", print_device(facts)},
                       {"table", options.out},
                       {"measured", outcome.measured},
                       {"known", outcome.known},
                       {"failed", outcome.failed},
                       {"interrupted", outcome.interrupted},
                       {"summaries", make_bench_json(summaries)}};
    std::printf("%s\n", print_json(json, 2).c_str());
    return;
  }
  std::printf("%s%s: %lld rows measured, %lld were there, %lld problems failed%s\n",
              print_bench_text(summaries).c_str(), options.out.c_str(),
              static_cast<long long>(outcome.measured), static_cast<long long>(outcome.known),
              static_cast<long long>(outcome.failed),
              outcome.interrupted ? "; interrupted, the same command goes on" : "");
}

int run_bench_command(const BenchOptions& options) {
  const auto threads = parse_threads(options.threads);
  if (!threads) return explain(threads.error());
  auto plan = make_plan(options);
  if (!plan) return explain(plan.error());
  auto opened = open_bench_device(options.target, *threads);
  if (!opened) return explain(opened.error());
  plan->settings.cores = opened->cores;
  plan->settings.workspace_mib = opened->workspace_mib;
  plan->settings.read_state = opened->read_state;
  const DeviceFacts& facts = opened->device->facts();
  catch_interrupts();
  BenchLine line(options.quiet);
  const auto lock = take_device(facts, line);
  if (!lock) return explain(lock.error());
  if (!options.resume) {
    if (const Status aside = set_aside(options.out); !aside) return explain(aside.error());
  }
  const AwayFrom away(opened->cores);
  const BenchWatcher watcher{[&](const BenchProgress& progress) { line.show(progress); },
                             [&](const std::string& text) { line.say(text); }, was_interrupted};
  const auto outcome = run_bench(*opened->device, *plan, watcher);
  if (!outcome) return explain(outcome.error());
  print_end(options, *outcome, facts);
  if (outcome->interrupted) return kExitInterrupted;
  return outcome->failed > 0 ? kExitWorld : kExitOk;
}

}  // namespace

void add_bench(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("bench", "the vendor's routines over a list of shapes, into a table");
  auto options = std::make_shared<BenchOptions>();
  command->add_option("--grid", options->grid, "cuda-l2, decode, odd, server, or a list FILE.csv")
      ->required();
  command->add_option("--out", options->out, "table: one line a finished case")->required();
  command->add_option(
      "--layouts", options->layouts,
      "nn, nt, tn, tt with commas between: each shape in each (default: as the grid has them)");
  command->add_option("--mode", options->modes, "offline, server, cuda-l2 with commas between")
      ->capture_default_str();
  command->add_option("--target", options->target, "cpu or cuda")->capture_default_str();
  command->add_option("--dtype", options->dtype, "of a named grid (default: f32 on cpu, f16 on cuda)");
  command->add_option("--limit", options->limit, "the first so many cases only");
  command->add_option("--models", options->models, "folder of model files for the grid decode");
  command->add_option("--check", options->check,
                      "none, spots or families for all cases (default: families where operands are small)");
  command->add_option("--pairs", options->pairs, "samples of each routine that is measured on")
      ->capture_default_str();
  command->add_option("--sample-us", options->sample_us, "least length of a sample")->capture_default_str();
  command->add_option("--rate", options->rate_hz, "server mode: calls a second")->capture_default_str();
  command->add_option("--threads", options->threads, "target cpu: a number or all")->capture_default_str();
  command->add_flag("--resume,!--no-resume", options->resume,
                    "go on with the table where it ended (the default), or rename it to .old and begin anew");
  command->add_flag("--json", options->json, "one JSON document");
  command->add_flag("--quiet", options->quiet, "no progress");
  command->callback([options, &exit_code] { exit_code = run_bench_command(*options); });
}

}  // namespace kw
