// ByteStream: bytes to and from one peer, in the clear (Socket) or encrypted (TlsStream).
//
// Every call blocks until it is done or its deadline is over, so it is for I/O threads alone. One thread;
// closed when destroyed, and of no use after an error.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/status.h"

namespace caudal {

class ByteStream {
 public:
  using Deadline = std::chrono::steady_clock::time_point;
  static Deadline In(int64_t millis) {
    return std::chrono::steady_clock::now() + std::chrono::milliseconds(millis);
  }

  virtual ~ByteStream() = default;
  virtual Status Send(std::string_view bytes, Deadline deadline) = 0;
  // Appends what has arrived, at least one byte.
  virtual Status Receive(std::string* bytes, Deadline deadline) = 0;
};

}  // namespace caudal
