// What passes between a program and its GPU worker: a JSON head, bytes behind it, and at times a descriptor,
// over a stream socket. Both ends are the same build. Called by worker_process (our side) and worker (the
// other); knows no request's meaning.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"

namespace kw::cuda {

struct Message {
  Json head;
  std::string blob;
  int descriptor = -1;  // received; the receiver owns it
};

// False when the other end is gone.
[[nodiscard]] bool send_message(int socket, const Json& head, std::string_view blob = {},
                                int descriptor = -1);

enum class Receipt { kOk, kTimeout, kClosed };
// Waits at most `limit` for the first byte (negative = for ever); what has begun to arrive is read whole.
[[nodiscard]] Receipt receive_message(int socket, Milliseconds limit, Message& message);

}  // namespace kw::cuda
