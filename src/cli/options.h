// Options that several commands share, and what they mean: shapes, stores, durations.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/file.h"
#include "record/problem.h"

namespace kw {

// --model/--tokens, --shapes, or --m --n --k: what to compute.
struct ShapeOptions {
  std::string model, shapes, tokens;
  int64_t m = -1, n = -1, k = -1, lda = 0, ldb = 0, ldc = 0;
  std::string dtype = "f32", layout;
  double alpha = 1, beta = 0;
  bool training = false, no_lm_head = false;

  void add_to(CLI::App& command);
  // The shapes asked for, equal ones joined; a user error when none or two ways were given.
  [[nodiscard]] Result<std::vector<ProblemUse>> find_uses() const;
};

// "60s", "2m", "1h", "90": seconds.
[[nodiscard]] Result<double> parse_duration(const std::string& text);
// "1,16,128"
[[nodiscard]] Result<std::vector<int64_t>> parse_numbers(const std::string& text, const std::string& option);

// --threads: a number, or "all".
[[nodiscard]] Result<int> parse_threads(const std::string& text);

// --store, else KERNELWRIGHT_STORE, else kernelwright.db in the working folder.
void add_store_option(CLI::App& command, std::string& path);
[[nodiscard]] std::string default_store_path();

// The command line as text, for the store and the report.
[[nodiscard]] std::string print_command(const CLI::App& command);

}  // namespace kw
