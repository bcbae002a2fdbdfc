#include "net/socket.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/fault_point.h"
#include "net/host_addresses.h"

namespace caudal {
namespace {

constexpr size_t kReceiveBytes = 64 << 10;

Status Broken(const std::string& peer, std::string_view what) {
  return Status::External(fmt::format("{}: {}", peer, what), Retry::kBackoff);
}

Status Broken(const std::string& peer, std::string_view what, int error) {
  return Broken(peer, fmt::format("{}: {}", what, std::strerror(error)));
}

// Answers come at once, and a peer that has gone without a word is noticed.
void SetOptions(int descriptor, int family) {
  if (family == AF_UNIX) return;
  const int on = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
}

}  // namespace

std::string SocketAddress::text() const {
  if (!path.empty()) return path;
  const bool numbers = host.find(':') != std::string::npos;  // of IPv6
  return numbers ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

Result<std::unique_ptr<Socket>> Socket::Connect(const SocketAddress& address, Deadline deadline) {
  const std::string peer = address.text();
  if (!address.path.empty()) {
    sockaddr_un unix_address{};
    unix_address.sun_family = AF_UNIX;
    if (address.path.size() >= sizeof unix_address.sun_path) {
      return Status::User(fmt::format("{}: a path this long cannot name a socket", peer));
    }
    address.path.copy(unix_address.sun_path, address.path.size());
    addrinfo target{};
    target.ai_family = AF_UNIX;
    target.ai_socktype = SOCK_STREAM;
    target.ai_addr = reinterpret_cast<sockaddr*>(&unix_address);
    target.ai_addrlen = sizeof unix_address;
    return ConnectTo(target, peer, deadline);
  }
  Result<HostAddresses> found = FindHostAddresses(address.host, address.port, deadline);
  if (!found.ok()) {
    Status unknown = Broken(peer, found.status().message());
    return found.status().hint().empty() ? unknown : std::move(unknown).Hint(found.status().hint());
  }
  Status last;
  for (const addrinfo* target = found->get(); target != nullptr; target = target->ai_next) {
    auto socket = ConnectTo(*target, peer, deadline);
    if (socket.ok()) return socket;
    last = std::move(socket).status();
  }
  return last;
}

Result<std::unique_ptr<Socket>> Socket::ConnectTo(const addrinfo& target, const std::string& peer,
                                                  Deadline deadline) {
  FAULT_POINT(network_connect);
  const int descriptor =
      ::socket(target.ai_family, target.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, target.ai_protocol);
  if (descriptor < 0) return Broken(peer, "no socket", errno);
  std::unique_ptr<Socket> socket(new Socket(descriptor, peer));
  SetOptions(descriptor, target.ai_family);
  if (::connect(descriptor, target.ai_addr, target.ai_addrlen) == 0) return socket;
  if (errno != EINPROGRESS) return Broken(peer, "no connection", errno);
  RETURN_IF_ERROR(socket->Wait(POLLOUT, deadline));
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return Broken(peer, "no connection", error);
  return socket;
}

Socket::~Socket() { ::close(descriptor_); }

Status Socket::Wait(short events, Deadline deadline) const {
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    pollfd waiting{descriptor_, events, 0};
    const int ready = poll(&waiting, 1, static_cast<int>(std::clamp<int64_t>(left, 0, INT32_MAX)));
    if (ready > 0) return Status();
    if (ready == 0) return Broken(peer_, "no answer in time");
    if (errno != EINTR) return Broken(peer_, "cannot wait", errno);
  }
}

Status Socket::Send(std::string_view bytes, Deadline deadline) {
  FAULT_POINT(network_send);
  while (!bytes.empty()) {
    const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      RETURN_IF_ERROR(Wait(POLLOUT, deadline));
    } else if (errno != EINTR) {
      return Broken(peer_, "the connection broke", errno);
    }
  }
  return Status();
}

Status Socket::Receive(std::string* bytes, Deadline deadline) {
  FAULT_POINT(network_receive);
  char buffer[kReceiveBytes];
  for (;;) {
    const ssize_t got = ::recv(descriptor_, buffer, sizeof buffer, 0);
    if (got > 0) {
      bytes->append(buffer, static_cast<size_t>(got));
      return Status();
    }
    if (got == 0) return Broken(peer_, "the server closed the connection");
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      RETURN_IF_ERROR(Wait(POLLIN, deadline));
    } else if (errno != EINTR) {
      return Broken(peer_, "the connection broke", errno);
    }
  }
}

}  // namespace caudal
