// The fault that a test plans. KERNELWRIGHT_FAKE_FAULT=N: the Nth launch of a process touches memory that is
// not there; as on a GPU that call still succeeds, and all later ones report it.
// KERNELWRIGHT_FAKE_STARTS=FILE: every process that starts the driver adds a line, and only the first of them
// meets the fault. The names begin so because the worker is handed no others.
#include <cstdlib>
#include <fstream>
#include <string>

#include "fake_driver.h"

namespace kw::fake {
namespace {

long launches_until_fault = 0;  // 0: none is planned
cuda::DriverResult fault = 0;

const char* find_word(const char* name) {
  const char* word = std::getenv(name);
  return word == nullptr || *word == '\0' ? nullptr : word;
}

bool is_empty(const char* file) { return std::ifstream(file).peek() == std::ifstream::traits_type::eof(); }

}  // namespace

bool note_start() {
  const char *planned = find_word("KERNELWRIGHT_FAKE_FAULT"), *starts = find_word("KERNELWRIGHT_FAKE_STARTS");
  if (planned != nullptr && (starts == nullptr || is_empty(starts)))
    launches_until_fault = std::strtol(planned, nullptr, 10);
  if (starts == nullptr) return true;
  return static_cast<bool>(std::ofstream(starts, std::ios::app) << "start\n" << std::flush);
}

bool count_launch() {
  if (launches_until_fault == 0 || --launches_until_fault > 0) return true;
  fault = cuda::kErrorIllegalAddress;
  return false;
}

cuda::DriverResult get_fault() { return fault; }

}  // namespace kw::fake
