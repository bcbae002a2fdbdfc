#include "net/host_addresses.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

namespace caudal {
namespace {

using ::testing::HasSubstr;

std::atomic<bool> name_servers_are_away{false};
std::atomic<int> asked{0}, answered{0};

int SilentResolver(const char*, const char*, const addrinfo*, addrinfo**) {
  ++asked;
  name_servers_are_away.wait(true);
  ++answered;
  answered.notify_all();
  return EAI_AGAIN;
}

int UnknownName(const char*, const char*, const addrinfo*, addrinfo**) { return EAI_NONAME; }

TEST(HostAddresses, FindsNumbersAndNames) {
  for (const char* host : {"127.0.0.1", "localhost"}) {
    const auto found = FindHostAddresses(host, 7, ByteStream::In(5000));
    ASSERT_TRUE(found.ok()) << found.status().ToString();
    const addrinfo* v4 = found->get();
    while (v4 != nullptr && v4->ai_family != AF_INET) v4 = v4->ai_next;
    ASSERT_NE(v4, nullptr) << host;
    EXPECT_EQ(ntohs(reinterpret_cast<const sockaddr_in*>(v4->ai_addr)->sin_port), 7);
  }
}

TEST(HostAddresses, WaitsForNameServersNoLongerThanTheDeadline) {
  name_servers_are_away = true;
  const auto found = FindHostAddresses("bank.example", 7, ByteStream::In(20), &SilentResolver);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.status().domain(), Domain::kExternal);
  EXPECT_THAT(found.status().message(), HasSubstr("did not answer in time"));
  EXPECT_EQ(answered, 0);
  // An address needs no resolver.
  EXPECT_TRUE(FindHostAddresses("::1", 7, ByteStream::In(0), &SilentResolver).ok());
  EXPECT_LE(asked, 1);
  // The thread that still asks ends by itself.
  name_servers_are_away = false;
  name_servers_are_away.notify_all();
  answered.wait(0);
}

TEST(HostAddresses, ANameThatIsNoneIsSaid) {
  const auto found = FindHostAddresses("bank.example", 7, ByteStream::In(5000), &UnknownName);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.status().message(), gai_strerror(EAI_NONAME));
}

}  // namespace
}  // namespace caudal
