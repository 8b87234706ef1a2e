#include "cli/options.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "problem/model.h"

namespace kw {
namespace {

constexpr size_t kMaxListBytes = size_t{64} << 20;

Result<std::vector<ProblemUse>> load_model(const ShapeOptions& options) {
  ModelPlan plan;
  KW_TRY(plan.tokens, parse_numbers(options.tokens.empty() ? "1,16,128" : options.tokens, "--tokens"));
  plan.training = options.training;
  plan.lm_head = !options.no_lm_head;
  KW_TRY(plan.dtype, parse_dtype(options.dtype));
  KW_TRY(const std::string text, read_file(options.model, kMaxListBytes));
  KW_TRY(const auto uses, parse_model(text, options.model, plan));
  return merge_uses(uses);
}

Result<std::vector<ProblemUse>> load_list(const ShapeOptions& options) {
  KW_TRY(const std::string text, read_file(options.shapes, kMaxListBytes));
  KW_TRY(const auto uses, parse_shapes_csv(text, options.shapes));
  return merge_uses(uses);
}

Result<std::vector<ProblemUse>> make_single(const ShapeOptions& options) {
  if (options.m < 0 || options.n < 0 || options.k < 0)
    return fail_user("--m {} --n {} --k {}: all three are needed, each 0 or more", options.m, options.n,
                     options.k);
  Problem problem;
  KW_TRY(problem.dtype, parse_dtype(options.dtype));
  KW_TRY(problem.layout, parse_layout(options.layout.empty() ? "nn" : options.layout));
  problem.m = options.m;
  problem.n = options.n;
  problem.k = options.k;
  problem.alpha = options.alpha;
  problem.beta = options.beta;
  problem = with_tight_strides(problem);
  if (options.lda != 0) problem.lda = options.lda;
  if (options.ldb != 0) problem.ldb = options.ldb;
  if (options.ldc != 0) problem.ldc = options.ldc;
  KW_TRY_VOID(check_problem(problem));
  return std::vector<ProblemUse>{{.problem = problem}};
}

}  // namespace

void ShapeOptions::add_to(CLI::App& command) {
  command.add_option("--model", model, "model file (Hugging Face style config.json): tune its GEMMs");
  command.add_option("--tokens", tokens, "with --model: rows of activations, such as 1,16,128 (the default)");
  command.add_flag("--training", training, "with --model: forward, dgrad and wgrad of a training step");
  command.add_flag("--no-lm-head", no_lm_head, "with --model: leave the output projection out");
  command.add_option("--shapes", shapes, "CSV list with columns m,n,k and optionally layout,dtype,lda,... ");
  command.add_option("--m", m, "rows of C");
  command.add_option("--n", n, "columns of C");
  command.add_option("--k", k, "depth");
  command.add_option("--dtype", dtype, "f32")->capture_default_str();
  command.add_option("--layout", layout, "nn, nt, tn or tt: A then B, t = stored transposed (default nn)");
  command.add_option("--lda", lda, "row stride of A in elements (default: tight)");
  command.add_option("--ldb", ldb, "row stride of B in elements (default: tight)");
  command.add_option("--ldc", ldc, "row stride of C in elements (default: tight)");
  command.add_option("--alpha", alpha, "factor of the product")->capture_default_str();
  command.add_option("--beta", beta, "factor of C before the call")->capture_default_str();
}

Result<std::vector<ProblemUse>> ShapeOptions::find_uses() const {
  const bool single = m >= 0 || n >= 0 || k >= 0;
  const int ways = (model.empty() ? 0 : 1) + (shapes.empty() ? 0 : 1) + (single ? 1 : 0);
  if (ways != 1)
    return fail_user("{}: give --model FILE, or --shapes FILE, or --m --n --k",
                     ways == 0 ? "no shape given" : "shapes given in more than one way");
  if (!model.empty()) return load_model(*this);
  if (!shapes.empty()) return load_list(*this);
  return make_single(*this);
}

Result<double> parse_duration(const std::string& text) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string unit(end, text.data() + text.size());
  const double scale = unit.empty() || unit == "s" ? 1
                       : unit == "ms"              ? 1e-3
                       : unit == "m"               ? 60
                       : unit == "h"               ? 3600
                                                   : 0;
  if (code != std::errc() || scale == 0 || !(value > 0) || !std::isfinite(value))
    return fail_user("duration \"{}\": use a positive number with s, m or h, such as 60s", text);
  return value * scale;
}

Result<std::vector<int64_t>> parse_numbers(const std::string& text, const std::string& option) {
  std::vector<int64_t> numbers;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    int64_t value = 0;
    const auto [end, code] = std::from_chars(text.data() + at, text.data() + comma, value);
    if (code != std::errc() || end != text.data() + comma || value < 1 || value > (int64_t{1} << 30))
      return fail_user("{} \"{}\": use whole numbers from 1 to 2^30 with commas between, such as 1,16,128",
                       option, text);
    numbers.push_back(value);
    at = comma + 1;
  }
  return numbers;
}

Result<int> parse_threads(const std::string& text) {
  if (text == "all") return static_cast<int>(std::max<unsigned>(1, std::thread::hardware_concurrency()));
  KW_TRY(const auto numbers, parse_numbers(text, "--threads"));
  if (numbers.size() != 1 || numbers[0] > 1024)
    return fail_user("--threads \"{}\": use a number or all", text);
  return static_cast<int>(numbers[0]);
}

std::string default_store_path() {
  const char* path = std::getenv("KERNELWRIGHT_STORE");
  return path != nullptr && *path != '\0' ? path : "kernelwright.db";
}

void add_store_option(CLI::App& command, std::string& path) {
  path = default_store_path();
  command.add_option("--store", path, "database of all measurements (or KERNELWRIGHT_STORE)")
      ->capture_default_str();
}

std::string print_command(const CLI::App& command) {
  std::string text = "kernelwright " + command.get_name();
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0) continue;
    const std::string name = option->get_positional() ? "" : " " + option->get_name();
    text += name;
    if (option->get_expected_min() > 0)
      for (const std::string& value : option->results()) text += " " + value;
  }
  return text;
}

}  // namespace kw
