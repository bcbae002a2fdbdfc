// Socket: one connection to a server, by TCP or a Unix socket, in the clear.
//
// Every call blocks until it is done or its deadline is over, so it is for I/O threads alone; only the
// look-up of a host's name has the system's own time limit. One thread; closed when destroyed, and of no use
// after an error. All errors are External and may pass (Retry::kBackoff).
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

struct addrinfo;

namespace caudal {

struct SocketAddress {
  std::string host;
  int port = 0;
  std::string path;  // of a Unix socket; empty: host and port count

  // "host:port", "[::1]:port" or the path.
  std::string text() const;
};

class Socket {
 public:
  using Deadline = std::chrono::steady_clock::time_point;
  static Deadline In(int64_t millis) {
    return std::chrono::steady_clock::now() + std::chrono::milliseconds(millis);
  }

  // Tries each address that the name has until one takes the connection.
  static Result<std::unique_ptr<Socket>> Connect(const SocketAddress& address, Deadline deadline);
  ~Socket();
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  Status Send(std::string_view bytes, Deadline deadline);
  // Appends what has arrived, at least one byte.
  Status Receive(std::string* bytes, Deadline deadline);

 private:
  Socket(int descriptor, std::string peer) : descriptor_(descriptor), peer_(std::move(peer)) {}
  static Result<std::unique_ptr<Socket>> ConnectTo(const addrinfo& target, const std::string& peer,
                                                   Deadline deadline);
  // Until it can be read or written, as `events` of poll says.
  Status Wait(short events, Deadline deadline) const;

  int descriptor_;
  std::string peer_;  // for messages
};

}  // namespace caudal
