#include "selftest/fault_footprint.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace kw {
namespace {

int64_t count_entries(const fs::path& folder, bool recursive) {
  std::error_code code;
  int64_t count = 0;
  if (recursive) {
    for (fs::recursive_directory_iterator at(folder, code), end; !code && at != end; at.increment(code))
      ++count;
  } else {
    for (fs::directory_iterator at(folder, code), end; !code && at != end; at.increment(code)) ++count;
  }
  return count;
}

int64_t count_memory_files() {
  std::ifstream maps("/proc/self/maps");
  int64_t count = 0;
  for (std::string line; std::getline(maps, line);) count += line.find("memfd:") != std::string::npos;
  return count;
}

int64_t read_resident_kb() {
  std::ifstream memory("/proc/self/statm");
  int64_t total = 0, resident = 0;
  memory >> total >> resident;
  return resident * (::sysconf(_SC_PAGESIZE) >> 10);
}

// Parent's process id of /proc/PID/stat; the name in parentheses may hold anything.
int read_parent(const fs::path& process) {
  std::ifstream file(process / "stat");
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return -1;
  std::istringstream words(text.substr(name_end + 1));
  std::string state;
  int parent = -1;
  words >> state >> parent;
  return parent;
}

}  // namespace

std::vector<int> find_children() {
  std::vector<int> children;
  std::error_code code;
  for (fs::directory_iterator at("/proc", code), end; !code && at != end; at.increment(code)) {
    const std::string name = at->path().filename();
    const bool is_process = name.find_first_not_of("0123456789") == std::string::npos;
    if (is_process && read_parent(at->path()) == ::getpid()) children.push_back(std::atoi(name.c_str()));
  }
  return children;
}

void reap_orphans() {
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

Footprint read_footprint(const fs::path& temp_folder) {
  return {.children = find_children(),
          .descriptors = count_entries("/proc/self/fd", false),
          .memory_files = count_memory_files(),
          .files = count_entries(temp_folder, true),
          .resident_kb = read_resident_kb()};
}

Result<TempRedirect> TempRedirect::make(const fs::path& parent) {
  KW_TRY(TempFolder folder, TempFolder::make(parent));
  return TempRedirect(std::move(folder));
}

TempRedirect::TempRedirect(TempFolder folder) : folder_(std::move(folder)) {
  if (const char* before = std::getenv("TMPDIR")) {
    before_ = before;
    was_set_ = true;
  }
  ::setenv("TMPDIR", folder_.path().c_str(), 1);
}

TempRedirect::~TempRedirect() {
  if (folder_.path().empty()) return;  // moved from
  if (was_set_) ::setenv("TMPDIR", before_.c_str(), 1);
  if (!was_set_) ::unsetenv("TMPDIR");
}

}  // namespace kw
