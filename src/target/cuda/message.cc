#include "target/cuda/message.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>

#include <algorithm>

namespace kw::cuda {
namespace {

struct Frame {
  uint64_t head_bytes = 0, blob_bytes = 0;
};

constexpr uint64_t kMaxHeadBytes = uint64_t{64} << 20, kMaxBlobBytes = uint64_t{1} << 30;

bool send_all(int socket, const char* data, size_t size) {
  while (size > 0) {
    const ssize_t sent = ::send(socket, data, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    data += sent;
    size -= static_cast<size_t>(sent);
  }
  return true;
}

bool receive_all(int socket, char* data, size_t size) {
  while (size > 0) {
    const ssize_t got = ::recv(socket, data, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    data += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

// The frame travels in one packet with the descriptor, if there is one.
bool send_frame(int socket, const Frame& frame, int descriptor) {
  iovec part{const_cast<Frame*>(&frame), sizeof frame};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof descriptor)] = {};
  if (descriptor >= 0) {
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(rights), &descriptor, sizeof descriptor);
  }
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(socket, &header, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == sizeof frame;
}

bool receive_frame(int socket, Frame& frame, int& descriptor) {
  iovec part{&frame, sizeof frame};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof descriptor)] = {};
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  ssize_t got = 0;
  do {
    got = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC | MSG_WAITALL);
  } while (got < 0 && errno == EINTR);
  if (got != sizeof frame) return false;
  if (const cmsghdr* rights = CMSG_FIRSTHDR(&header); rights != nullptr && rights->cmsg_type == SCM_RIGHTS)
    std::memcpy(&descriptor, CMSG_DATA(rights), sizeof descriptor);
  return frame.head_bytes <= kMaxHeadBytes && frame.blob_bytes <= kMaxBlobBytes;
}

}  // namespace

bool send_message(int socket, const Json& head, std::string_view blob, int descriptor) {
  const std::string text = print_json(head);
  return send_frame(socket, {text.size(), blob.size()}, descriptor) &&
         send_all(socket, text.data(), text.size()) && send_all(socket, blob.data(), blob.size());
}

Receipt receive_message(int socket, Milliseconds limit, Message& message) {
  const auto deadline = Clock::now() + limit;
  while (true) {
    const auto left = std::chrono::ceil<Milliseconds>(deadline - Clock::now()).count();
    if (limit.count() >= 0 && left <= 0) return Receipt::kTimeout;
    pollfd arrived{socket, POLLIN, 0};
    const int wait_ms = limit.count() < 0 ? -1 : static_cast<int>(std::min<int64_t>(left, INT_MAX));
    const int ready = ::poll(&arrived, 1, wait_ms);
    if (ready < 0 && errno != EINTR) return Receipt::kClosed;
    if (ready > 0) break;
  }
  Frame frame;
  std::string text;
  if (!receive_frame(socket, frame, message.descriptor)) return Receipt::kClosed;
  text.resize(frame.head_bytes);
  message.blob.resize(frame.blob_bytes);
  if (!receive_all(socket, text.data(), text.size()) ||
      !receive_all(socket, message.blob.data(), message.blob.size()))
    return Receipt::kClosed;
  auto head = parse_json(text, "message");
  if (!head) return Receipt::kClosed;
  message.head = std::move(*head);
  return Receipt::kOk;
}

}  // namespace kw::cuda
