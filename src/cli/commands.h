// One function per command: adds it to the parser; its callback runs the command and sets the exit code.
#pragma once

#include <CLI/CLI.hpp>

#include "base/result.h"

namespace kw {

inline constexpr int kExitOk = 0;
inline constexpr int kExitWorld = 1;    // the world failed us
inline constexpr int kExitUser = 2;     // bad input: one line on stderr
inline constexpr int kExitRefused = 3;  // a kernel is not right or not honest; selftest: the bench is fooled
inline constexpr int kExitInterrupted = 130;  // Ctrl-C

void add_arena(CLI::App& app, int& exit_code);
void add_bench(CLI::App& app, int& exit_code);
void add_best(CLI::App& app, int& exit_code);
void add_check(CLI::App& app, int& exit_code);
void add_confirm(CLI::App& app, int& exit_code);
void add_doctor(CLI::App& app, int& exit_code);
void add_calibrate(CLI::App& app, int& exit_code);
void add_ls(CLI::App& app, int& exit_code);
void add_report(CLI::App& app, int& exit_code);
void add_selftest(CLI::App& app, int& exit_code);
void add_shapes(CLI::App& app, int& exit_code);
void add_show(CLI::App& app, int& exit_code);
void add_store(CLI::App& app, int& exit_code);
void add_tune(CLI::App& app, int& exit_code);
void add_verify(CLI::App& app, int& exit_code);

// Prints the error's one line on stderr; returns the exit code of its kind.
[[nodiscard]] int explain(const Error& error);

}  // namespace kw
