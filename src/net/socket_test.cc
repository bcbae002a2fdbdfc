#include "net/socket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace caudal {
namespace {

using ::testing::HasSubstr;

// A listener on a loopback port that the system chose. Nobody accepts unless told to.
class Listener {
 public:
  explicit Listener(int backlog = 8) : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(descriptor_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(descriptor_, backlog), 0);
    getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  ~Listener() { close(descriptor_); }
  SocketAddress address() const { return {"127.0.0.1", port_, ""}; }
  int Accept() const { return accept(descriptor_, nullptr, nullptr); }

 private:
  int descriptor_;
  int port_ = 0;
};

std::unique_ptr<Socket> Connected(const SocketAddress& address) {
  auto socket = Socket::Connect(address, Socket::In(5000));
  EXPECT_TRUE(socket.ok()) << socket.status().ToString();
  return std::move(socket).value();
}

void ExpectPasses(const Status& status, const std::string& text) {
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.domain(), Domain::kExternal);
  EXPECT_EQ(status.retry(), Retry::kBackoff);
  EXPECT_THAT(status.message(), HasSubstr(text));
}

TEST(Socket, SendsAndReceives) {
  const Listener listener;
  const auto socket = Connected(listener.address());
  const int peer = listener.Accept();
  ASSERT_TRUE(socket->Send("ping", Socket::In(5000)).ok());
  char bytes[8];
  ASSERT_EQ(recv(peer, bytes, sizeof bytes, 0), 4);
  ASSERT_EQ(send(peer, "pong", 4, 0), 4);
  std::string got = "so far ";
  ASSERT_TRUE(socket->Receive(&got, Socket::In(5000)).ok());
  EXPECT_EQ(got, "so far pong");
  close(peer);
  ExpectPasses(socket->Receive(&got, Socket::In(5000)), "closed the connection");
}

TEST(Socket, EndsByItsDeadline) {
  const Listener listener;
  const auto socket = Connected(listener.address());
  std::string got;
  ExpectPasses(socket->Receive(&got, Socket::In(20)), "no answer in time");
  EXPECT_EQ(got, "");
  // Nobody reads: the buffers between the two fill up.
  ExpectPasses(socket->Send(std::string(64 << 20, 'x'), Socket::In(20)), "no answer in time");
}

TEST(Socket, SaysWhoDoesNotAnswer) {
  SocketAddress address;
  {
    const Listener listener;
    address = listener.address();
  }
  const Status refused = Socket::Connect(address, Socket::In(5000)).status();
  ExpectPasses(refused, "Connection refused");
  EXPECT_THAT(refused.message(), HasSubstr(address.text()));
  ExpectPasses(Socket::Connect({"no-such-host.invalid", 1, ""}, Socket::In(5000)).status(),
               "no-such-host.invalid:1");
  ExpectPasses(Socket::Connect({"", 0, "/no/such.sock"}, Socket::In(5000)).status(), "/no/such.sock");
  const Status too_long = Socket::Connect({"", 0, std::string(200, 'a')}, Socket::In(5000)).status();
  EXPECT_EQ(too_long.domain(), Domain::kUser);  // no waiting helps
  EXPECT_THAT(too_long.message(), HasSubstr("this long"));
}

TEST(Socket, ShowsAnAddressAsPeopleWriteIt) {
  EXPECT_EQ((SocketAddress{"localhost", 6379, ""}).text(), "localhost:6379");
  EXPECT_EQ((SocketAddress{"::1", 6379, ""}).text(), "[::1]:6379");
  EXPECT_EQ((SocketAddress{"", 0, "/run/redis.sock"}).text(), "/run/redis.sock");
}

}  // namespace
}  // namespace caudal
