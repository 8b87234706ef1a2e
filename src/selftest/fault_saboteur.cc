#include "selftest/fault_saboteur.h"

#include <fmt/format.h>

#include <csignal>
#include <fstream>

#include "selftest/fault_footprint.h"

namespace kw {
namespace {

constexpr std::chrono::microseconds kLook{300};

// First field of /proc/PID/schedstat; 0 when it has gone.
std::chrono::nanoseconds read_worked(int process) {
  std::ifstream file(fmt::format("/proc/{}/schedstat", process));
  int64_t worked_ns = 0;
  file >> worked_ns;
  return std::chrono::nanoseconds(worked_ns);
}

}  // namespace

Saboteur::Saboteur(int signal, std::chrono::microseconds worked)
    : thread_([this, signal, worked] { watch(signal, worked); }) {}

Saboteur::~Saboteur() {
  stop_ = true;
  thread_.join();
}

void Saboteur::watch(int signal, std::chrono::microseconds worked) {
  while (!stop_ && !struck_) {
    for (const int child : find_children())
      if (!struck_ && read_worked(child) >= worked) struck_ = ::kill(child, signal) == 0;
    std::this_thread::sleep_for(kLook);
  }
}

}  // namespace kw
