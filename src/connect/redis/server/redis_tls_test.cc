// The sink under TLS against a real redis-server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connect/redis/testing/redis_sink_fixture.h"
#include "net/testing/tls_authority.h"

namespace caudal {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class RedisTlsTest : public RedisSinkTest {
 protected:
  void SetUp() override {
    RedisSinkTest::SetUp();
    if (IsSkipped()) return;
    authority_ = std::make_unique<TlsAuthority>(folder_ / "authority");
    authority_->Issue("server", "DNS:localhost,IP:127.0.0.1");
    authority_->Issue("client", "DNS:caudal", -3600, 3600, "sesame");
  }
  struct TlsServer {
    int port = RedisServer::FreePort();
    RedisServer* server = nullptr;  // of servers_
  };
  TlsServer Start(const std::filesystem::path& folder, const std::string& clients,
                  const std::string& certificate = "server") {
    TlsServer started;
    servers_.push_back(std::make_unique<RedisServer>(
        folder, std::vector<std::string>{"--tls-port", std::to_string(started.port), "--tls-cert-file",
                                         authority_->certificate_file(certificate), "--tls-key-file",
                                         authority_->key_file(certificate), "--tls-ca-cert-file",
                                         authority_->ca_file(), "--tls-auth-clients", clients}));
    started.server = servers_.back().get();
    return started;
  }
  Table TlsTable(int port) {
    Table table = FeaturesTable();
    table.options["url"] = "rediss://localhost:" + std::to_string(port);
    table.options["ssl.ca.location"] = authority_->ca_file();
    return table;
  }

  std::unique_ptr<TlsAuthority> authority_;
};

TEST_F(RedisTlsTest, KeepsTheContractOfSinks) {
  int targets = 0;
  const int cut_short = CheckSinkContract([&] {
    const auto folder = folder_ / std::to_string(targets++);
    const TlsServer started = Start(folder, "no");
    return ContractOf(TlsTable(started.port), folder,
                      [server = started.server] { return server->Contents(); });
  });
  // As without TLS: its handshake, too, is of sends and receives.
  EXPECT_EQ(cut_short, 2 * (1 + 3 + 3 + 1));
}

TEST_F(RedisTlsTest, AServerMayWantACertificate) {
  const TlsServer started = Start(folder_ / "tls", "yes");
  Table table = TlsTable(started.port);
  // What the server says may be lost together with the connection, which it closes: it is told all the same.
  for (int i = 0; i < 20; ++i) {
    const CommitResult refused = Commit(*MakeSink(table), {1, 1}, {});
    EXPECT_NE(refused.outcome, CommitOutcome::kCommitted);
    EXPECT_THAT(refused.status.hint(), HasSubstr("'ssl.certificate.location' and 'ssl.key.location'"));
  }
  table.options["ssl.certificate.location"] = authority_->certificate_file("client");
  table.options["ssl.key.location"] = authority_->key_file("client");
  table.options["ssl.key.password"] = "sesame";
  const auto sink = MakeSink(table);
  EXPECT_TRUE(sink->CheckTarget().ok()) << sink->CheckTarget().ToString();
  Write(*sink, {1, 1}, {{kAdd, "a", 1}});
  EXPECT_EQ(started.server->Contents(), "acct:a={account=a n=1} ");
  table.options["ssl.key.password"] = "sesame2";
  const Status locked = MakeSink(table)->CheckTarget();
  EXPECT_THAT(locked.ToString(), HasSubstr("client.key"));
  EXPECT_THAT(locked.ToString(), Not(HasSubstr("sesame")));
}

TEST_F(RedisTlsTest, WhatIsWrongIsSaid) {
  const TlsServer started = Start(folder_ / "tls", "no");
  const auto refused = [&](const Table& table) {
    const Status status = MakeSink(table)->CheckTarget();
    EXPECT_EQ(status.domain(), Domain::kUser);
    return status.ToString();
  };
  Table table = TlsTable(started.port);
  table.options["caudal.ssl.server-name"] = "db.example";
  EXPECT_THAT(refused(table),
              HasSubstr("is not for 'db.example': it was made out for 'localhost', '127.0.0.1'"));
  table = TlsTable(started.port);
  table.options.erase("ssl.ca.location");
  EXPECT_THAT(refused(table), HasSubstr("nobody whom we trust"));
  table.options["url"] = "redis://localhost:" + std::to_string(started.port);
  // In the clear: the server closes, which may pass, or answers in words of TLS.
  const Committable rows = Prepare(*MakeSink(table), {1, 1}, Rows({{kAdd, "a", 1}}));
  EXPECT_NE(Commit(*MakeSink(table), {1, 1}, rows).outcome, CommitOutcome::kCommitted);
  // And a server in the clear that is asked for TLS.
  const int port = RedisServer::FreePort();
  const RedisServer plain(folder_ / "plain", {"--port", std::to_string(port)});
  table = TlsTable(port);
  table.options["connect.timeout"] = "300 ms";
  const CommitResult silent =
      Commit(*MakeSink(table), {1, 1}, Prepare(*MakeSink(table), {1, 1}, Rows({{kAdd, "a", 1}})));
  EXPECT_EQ(silent.outcome, CommitOutcome::kUnknown);
  EXPECT_THAT(silent.status.hint(), HasSubstr("has TLS"));
}

// An outage, not the query's end: somebody renews it.
TEST_F(RedisTlsTest, ACertificateThatHasExpiredIsWaitedFor) {
  authority_->Issue("renewed", "DNS:localhost", -7200, -3600);
  Table table = TlsTable(0);
  {
    const TlsServer started = Start(folder_ / "tls", "no", "renewed");
    table = TlsTable(started.port);
    const auto sink = MakeSink(table);
    EXPECT_TRUE(sink->CheckTarget().ok());
    const CommitResult result = Commit(*sink, {1, 1}, Prepare(*sink, {1, 1}, Rows({{kAdd, "a", 1}})));
    EXPECT_EQ(result.outcome, CommitOutcome::kUnknown);
    EXPECT_THAT(result.status.ToString(), HasSubstr("certificate has expired"));
  }
  authority_->Issue("renewed", "DNS:localhost");
  const TlsServer started = Start(folder_ / "tls", "no", "renewed");
  Write(*MakeSink(TlsTable(started.port)), {1, 2}, {{kAdd, "b", 1}});
}

}  // namespace
}  // namespace caudal
