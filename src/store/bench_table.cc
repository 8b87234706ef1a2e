#include "store/bench_table.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace kw {
namespace {

constexpr size_t kMaxBytes = size_t{256} << 20;

std::string last_error() { return std::strerror(errno); }

}  // namespace

BenchTable::BenchTable(BenchTable&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      rows_(std::move(other.rows_)),
      repaired_(other.repaired_) {}

BenchTable::~BenchTable() {
  if (fd_ >= 0) ::close(fd_);
}

Result<BenchTable> BenchTable::open(const fs::path& path) {
  std::error_code code;
  if (fs::exists(path, code) && !fs::is_regular_file(path, code))
    return fail_user("{}: not a plain file; name another one", path.string());
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) return fail_user("cannot write {}: {}", path.string(), last_error());
  BenchTable table(path, fd);
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0)
    return fail_user("{}: another bench writes to it; wait for it or name another file", path.string());
  KW_TRY_VOID(table.load());
  return table;
}

Status BenchTable::load() {
  KW_TRY(std::string content, read_file(path_, kMaxBytes));
  const std::string header = bench_header() + "\n";
  const bool torn_header = content.size() < header.size() && header.starts_with(content);
  if (!torn_header && !content.starts_with(header))
    return fail_user("{}: not a bench table of this version; name another file", path_.string());
  const size_t whole = torn_header ? 0 : content.rfind('\n') + 1;
  if (whole < content.size()) {
    if (::ftruncate(fd_, static_cast<off_t>(whole)) != 0)
      return fail("cannot repair {}: {}", path_.string(), last_error());
    repaired_ = true;
    content.resize(whole);
  }
  if (content.empty()) return write_text(header);
  KW_TRY(rows_, parse_bench_table(content, path_.string()));
  return {};
}

Status BenchTable::write_text(std::string_view text) {
  const off_t before = ::lseek(fd_, 0, SEEK_END);
  for (std::string_view left = text; !left.empty();) {
    const ssize_t put = ::write(fd_, left.data(), left.size());
    if (put < 0 && errno == EINTR) continue;
    if (put >= 0) {
      left.remove_prefix(static_cast<size_t>(put));
      continue;
    }
    const int why = errno;
    (void)!::ftruncate(fd_, before);
    const char* advice = why == ENOSPC ? "; free space and run the same command again" : "";
    return fail("{} cannot be written ({}); all {} rows before are kept{}", path_.string(),
                std::strerror(why), rows_.size(), advice);
  }
  return {};
}

Status BenchTable::append(const BenchRow& row) {
  KW_TRY_VOID(write_text(print_bench_row(row)));
  rows_.push_back(row);
  return {};
}

}  // namespace kw
