// Socket: one connection to a server, by TCP or a Unix socket, in the clear.
//
// A ByteStream; only the look-up of a host's name has the system's own time limit. Errors are External
// and may pass (Retry::kBackoff), but for a path that can be none.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "net/byte_stream.h"

struct addrinfo;

namespace caudal {

struct SocketAddress {
  std::string host;
  int port = 0;
  std::string path;  // of a Unix socket; empty: host and port count

  // "host:port", "[::1]:port" or the path.
  std::string text() const;
};

class Socket : public ByteStream {
 public:
  // Tries each address that the name has until one takes the connection.
  static Result<std::unique_ptr<Socket>> Connect(const SocketAddress& address, Deadline deadline);
  ~Socket() override;
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  Status Send(std::string_view bytes, Deadline deadline) override;
  Status Receive(std::string* bytes, Deadline deadline) override;

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
