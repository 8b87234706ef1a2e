// One finished case of a benchmark: what the vendor's routines take for a problem, and ours where there is
// one. Made by loop/bench.h; written and read by store/bench_table.h; summed up by ship/bench_summary.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kw {

// protocol.md B. kOffline: device time of back-to-back calls; kServer: single calls at exponential gaps;
// kCudaL2: that paper's rule, host clock around one synchronised call, mean of TFLOP/s.
enum class BenchMode { kOffline, kServer, kCudaL2 };

[[nodiscard]] std::string_view print_bench_mode(BenchMode mode);  // "offline", "server", "cuda-l2"
[[nodiscard]] Result<BenchMode> parse_bench_mode(std::string_view text);

// One routine's time: median device time in offline and server mode, flops / mean TFLOP/s in cuda-l2 mode.
struct BenchFigure {
  std::string name;      // "cublaslt_w32_3"
  std::string identity;  // version, algorithm, tile
  double us = 0;
  bool operator==(const BenchFigure&) const = default;
};

// Of the calls of server mode.
struct ServerTimes {
  double device_p50_us = 0, device_p99_us = 0;
  double host_p50_us = 0, host_p99_us = 0;  // end to end
  bool operator==(const ServerTimes&) const = default;
};

struct BenchOurs {
  std::string kernel;  // binary hash
  double us = 0;
  double ratio = 0, low = 0,
         high = 0;  // the bar's time over ours, with its interval; above 1 = ours is faster
  std::optional<ServerTimes> server;
  bool operator==(const BenchOurs&) const = default;
};

// Empty where the device does not tell.
struct BenchState {
  std::optional<double> sm_mhz, power_w;
  std::string throttle;  // reasons, such as "power cap"
  bool operator==(const BenchState&) const = default;
};

struct BenchRow {
  std::string problem;  // print_problem
  std::string name;     // where it is from: "cuda-l2", "gpt2/lm_head"
  BenchMode mode = BenchMode::kOffline;
  std::string device_key;
  int protocol_version = 0;
  std::optional<double> cublas_us, heuristic_us,
      torch_us;                         // the usual ways to call the vendor, where verified
  std::optional<BenchFigure> cublaslt;  // fastest verified algorithm of cuBLASLt
  std::optional<BenchFigure> bar;       // fastest verified routine of all
  int64_t algorithms = 0;               // routines that were found
  std::string refused;  // "cublaslt_w32_5 precision_downgrade/f16_partials; ..."; those are in no figure
  std::optional<double> agreement;  // |second - first| / first of two separate measurements of the bar
  std::optional<BenchOurs> ours;
  std::optional<double> rate_hz;      // server mode: calls a second
  std::optional<ServerTimes> server;  // server mode: the bar's
  BenchState state;
  std::optional<int64_t> workspace_mib;  // that routines were given
  bool operator==(const BenchRow&) const = default;
};

}  // namespace kw
