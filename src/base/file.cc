#include "base/file.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace kw {
namespace {

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

std::string last_error() { return std::strerror(errno); }

}  // namespace

Result<std::string> read_file(const fs::path& path, size_t max_bytes) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return fail_user("cannot read {}: {}", path.string(), last_error());
  std::string content;
  char block[1 << 16];
  while (true) {
    const ssize_t got = ::read(file.get(), block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_user("cannot read {}: {}", path.string(), last_error());
    if (got == 0) return content;
    if (content.size() + static_cast<size_t>(got) > max_bytes)
      return fail_user("{} is larger than {} bytes, the most that is read here", path.string(), max_bytes);
    content.append(block, static_cast<size_t>(got));
  }
}

Status write_file_atomically(const fs::path& path, std::string_view content) {
  static std::atomic<unsigned> counter{0};
  const std::string temp = fmt::format("{}.tmp.{}.{}", path.string(), ::getpid(), counter++);
  auto give_up = [&](const char* what) {
    const std::string why = last_error();
    ::unlink(temp.c_str());
    return fail("cannot {} {}: {}", what, path.string(), why);
  };
  {
    FileDescriptor file(::open(temp.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (file.get() < 0) return give_up("write");
    while (!content.empty()) {
      const ssize_t put = ::write(file.get(), content.data(), content.size());
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return give_up("write");
      content.remove_prefix(static_cast<size_t>(put));
    }
    if (::fsync(file.get()) != 0) return give_up("sync");
  }
  if (::rename(temp.c_str(), path.c_str()) != 0) return give_up("rename to");
  return {};
}

fs::path find_cache_folder() {
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg && *xdg) return fs::path(xdg) / "kernelwright";
  const char* home = std::getenv("HOME");
  return fs::path(home && *home ? home : "/tmp") / ".cache" / "kernelwright";
}

Result<TempFolder> TempFolder::make(const fs::path& parent) {
  std::error_code code;
  const fs::path where = parent.empty() ? fs::temp_directory_path(code) : parent;
  std::string pattern = (where / "kernelwright.XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr)
    return fail("cannot make a private folder in {}: {}", where.string(), last_error());
  return TempFolder(fs::path(pattern));
}

TempFolder::TempFolder(TempFolder&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }

TempFolder& TempFolder::operator=(TempFolder&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

TempFolder::~TempFolder() {
  std::error_code ignored;  // a folder we cannot remove is no reason to stop a destructor
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace kw
