// Host time as std::chrono on the monotonic clock. Unit in every plain number's name.
#pragma once

#include <chrono>

namespace kw {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

inline double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}
inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace kw
