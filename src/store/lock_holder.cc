// Reads /proc/locks ("1: POSIX  ADVISORY  WRITE 3568 fd:00:2531452 120 120") and /proc/PID/cmdline.
#include "store/lock_holder.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace kw {

std::string find_command_line(int64_t pid) {
  std::ifstream file(fmt::format("/proc/{}/cmdline", pid), std::ios::binary);
  std::string line((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  while (!line.empty() && line.back() == '\0') line.pop_back();
  for (char& c : line)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  return line;
}

std::optional<std::string> find_lock_holder(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  const std::string inode = fmt::format(":{}", status.st_ino);
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::string number, kind, strictness, access, file;
    int64_t pid = 0;
    words >> number >> kind >> strictness >> access >> pid >> file;
    if (kind != "POSIX" || access != "WRITE" || pid <= 0 || pid == ::getpid()) continue;
    if (file.size() <= inode.size() || file.substr(file.size() - inode.size()) != inode) continue;
    const std::string command = find_command_line(pid);
    return command.empty() ? fmt::format("process {}", pid) : fmt::format("process {} ({})", pid, command);
  }
  return std::nullopt;
}

}  // namespace kw
