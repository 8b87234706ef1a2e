#include "record/bench_row.h"

namespace kw {

std::string_view print_bench_mode(BenchMode mode) {
  switch (mode) {
    case BenchMode::kServer:
      return "server";
    case BenchMode::kCudaL2:
      return "cuda-l2";
    case BenchMode::kOffline:
      break;
  }
  return "offline";
}

Result<BenchMode> parse_bench_mode(std::string_view text) {
  for (const BenchMode mode : {BenchMode::kOffline, BenchMode::kServer, BenchMode::kCudaL2})
    if (text == print_bench_mode(mode)) return mode;
  return fail_user("mode \"{}\" is not known; use offline, server or cuda-l2", text);
}

}  // namespace kw
