#include "net/tls_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <thread>

#include "net/socket.h"
#include "net/testing/tls_authority.h"

namespace caudal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Takes one connection on a loopback port, under TLS, and hands it to `serve`.
class TlsListener {
 public:
  using Serve = std::function<void(SSL*)>;

  // `clients_of`: the authority whose certificates a client must have; empty: it needs none.
  TlsListener(const TlsAuthority& authority, const std::string& name, const std::string& clients_of,
              Serve serve)
      : context_(SSL_CTX_new(TLS_server_method())), listening_(::socket(AF_INET, SOCK_STREAM, 0)) {
    EXPECT_EQ(SSL_CTX_use_certificate_chain_file(context_, authority.certificate_file(name).c_str()), 1);
    EXPECT_EQ(SSL_CTX_use_PrivateKey_file(context_, authority.key_file(name).c_str(), SSL_FILETYPE_PEM), 1);
    if (!clients_of.empty()) {
      EXPECT_EQ(SSL_CTX_load_verify_file(context_, clients_of.c_str()), 1);
      SSL_CTX_set_verify(context_, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(listening_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(listening_, 1), 0);
    getsockname(listening_, reinterpret_cast<sockaddr*>(&address), &size);
    address_ = {"127.0.0.1", ntohs(address.sin_port), ""};
    signal(SIGPIPE, SIG_IGN);  // the listener's side writes as it likes
    thread_ = std::thread([this, serve = std::move(serve)] {
      const int peer = accept(listening_, nullptr, nullptr);
      SSL* ssl = SSL_new(context_);
      SSL_set_fd(ssl, peer);
      if (SSL_accept(ssl) == 1 && serve) serve(ssl);
      SSL_free(ssl);
      close(peer);
    });
  }
  ~TlsListener() {
    thread_.join();
    close(listening_);
    SSL_CTX_free(context_);
  }
  const SocketAddress& address() const { return address_; }

 private:
  SSL_CTX* context_;
  int listening_;
  SocketAddress address_;
  std::thread thread_;
};

class TlsStreamTest : public ::testing::Test {
 protected:
  TlsStreamTest()
      : folder_(std::filesystem::temp_directory_path() /
                ("caudal-tls-" + std::to_string(getpid()) +
                 ::testing::UnitTest::GetInstance()->current_test_info()->name())),
        authority_(folder_ / "ours") {
    authority_.Issue("server", "DNS:db.example,IP:127.0.0.1");
    options_.ca_file = authority_.ca_file();
  }
  ~TlsStreamTest() override { std::filesystem::remove_all(folder_); }

  Result<std::unique_ptr<ByteStream>> Connect(const TlsListener& listener,
                                              const std::string& host = "127.0.0.1") {
    auto socket = Socket::Connect(listener.address(), Socket::In(5000));
    EXPECT_TRUE(socket.ok()) << socket.status().ToString();
    return TlsStream::Connect(options_, std::move(socket).value(), host, "db:1", Socket::In(5000));
  }
  Status Refused(const TlsListener& listener, const std::string& host = "127.0.0.1") {
    auto stream = Connect(listener, host);
    EXPECT_FALSE(stream.ok());
    return stream.ok() ? Status() : std::move(stream).status();
  }

  std::filesystem::path folder_;
  TlsAuthority authority_;
  TlsOptions options_;
};

TEST_F(TlsStreamTest, CarriesBytesBothWays) {
  const std::string much(3 << 20, 'x');
  const TlsListener listener(authority_, "server", "", [&](SSL* ssl) {
    std::string got;
    char buffer[8192];
    while (got.size() < much.size()) {
      const int size = SSL_read(ssl, buffer, sizeof buffer);
      if (size <= 0) return;
      got.append(buffer, static_cast<size_t>(size));
    }
    SSL_write(ssl, got == much ? "equal" : "other", 5);
    SSL_shutdown(ssl);
  });
  auto stream = Connect(listener);
  ASSERT_TRUE(stream.ok()) << stream.status().ToString();
  ASSERT_TRUE((*stream)->Send(much, Socket::In(30'000)).ok());
  std::string got = "so far ";
  ASSERT_TRUE((*stream)->Receive(&got, Socket::In(30'000)).ok());
  EXPECT_EQ(got, "so far equal");
  const Status closed = (*stream)->Receive(&got, Socket::In(5000));
  EXPECT_EQ(closed.domain(), Domain::kExternal);
  EXPECT_EQ(closed.retry(), Retry::kBackoff);
  EXPECT_THAT(closed.message(), HasSubstr("db:1: the server closed the connection"));
}

TEST_F(TlsStreamTest, EndsByItsDeadline) {
  const TlsListener listener(authority_, "server", "", [](SSL* ssl) {
    char byte;
    SSL_read(ssl, &byte, 1);
  });
  auto stream = Connect(listener);
  ASSERT_TRUE(stream.ok()) << stream.status().ToString();
  std::string got;
  EXPECT_THAT((*stream)->Receive(&got, Socket::In(20)).message(), HasSubstr("no answer in time"));
}

TEST_F(TlsStreamTest, TheNameIsCheckedUnlessToldOtherwise) {
  {
    const TlsListener listener(authority_, "server", "", nullptr);
    EXPECT_TRUE(Connect(listener, "db.example").ok());
  }
  {
    const TlsListener listener(authority_, "server", "", nullptr);
    const Status refused = Refused(listener, "other.example");
    EXPECT_EQ(refused.domain(), Domain::kUser);
    EXPECT_THAT(refused.message(),
                HasSubstr("is not for 'other.example': it was made out for 'db.example', '127.0.0.1'"));
    EXPECT_THAT(refused.hint(), HasSubstr("'ssl.endpoint.identification.algorithm'"));
  }
  options_.server_name = "db.example";
  {
    const TlsListener listener(authority_, "server", "", nullptr);
    EXPECT_TRUE(Connect(listener, "other.example").ok());
  }
  options_.server_name = "";
  options_.check_name = false;
  const TlsListener listener(authority_, "server", "", nullptr);
  EXPECT_TRUE(Connect(listener, "other.example").ok());
}

TEST_F(TlsStreamTest, ACertificateThatNobodyVouchesForIsRefused) {
  TlsAuthority other(folder_ / "other");
  other.Issue("server", "IP:127.0.0.1");
  options_.check_name = false;  // lets no stranger in
  const TlsListener listener(other, "server", "", nullptr);
  const Status refused = Refused(listener);
  EXPECT_EQ(refused.domain(), Domain::kUser);
  EXPECT_THAT(refused.message(), HasSubstr("nobody whom we trust"));
  EXPECT_THAT(refused.hint(), HasSubstr("'ssl.ca.location'"));
}

TEST_F(TlsStreamTest, ACertificateMayBeRenewed) {
  authority_.Issue("old", "IP:127.0.0.1", -7200, -3600);
  authority_.Issue("early", "IP:127.0.0.1", 3600, 7200);
  for (const auto& [name, text] : {std::pair("old", "has expired"), std::pair("early", "not valid yet")}) {
    const TlsListener listener(authority_, name, "", nullptr);
    const Status refused = Refused(listener);
    EXPECT_EQ(refused.domain(), Domain::kExternal);
    EXPECT_EQ(refused.retry(), Retry::kBackoff);
    EXPECT_THAT(refused.message(), HasSubstr(text));
  }
}

TEST_F(TlsStreamTest, ShowsACertificateOfItsOwn) {
  authority_.Issue("client", "DNS:caudal", -3600, 3600, "sesame");
  {
    const TlsListener listener(authority_, "server", authority_.ca_file(), nullptr);
    auto stream = Connect(listener);  // TLS 1.3 tells it behind the handshake
    std::string got;
    const Status refused = stream.ok() ? (*stream)->Receive(&got, Socket::In(5000)) : stream.status();
    EXPECT_EQ(refused.domain(), Domain::kUser);
    EXPECT_THAT(refused.message(), HasSubstr("does not take us"));
    EXPECT_THAT(refused.hint(), HasSubstr("'ssl.certificate.location'"));
  }
  options_.certificate_file = authority_.certificate_file("client");
  options_.key_file = authority_.key_file("client");
  options_.key_password = "sesame";
  const TlsListener listener(authority_, "server", authority_.ca_file(),
                             [](SSL* ssl) { SSL_write(ssl, "welcome", 7); });
  auto stream = Connect(listener);
  ASSERT_TRUE(stream.ok()) << stream.status().ToString();
  std::string got;
  EXPECT_TRUE((*stream)->Receive(&got, Socket::In(5000)).ok());
  EXPECT_EQ(got, "welcome");
}

// A stream that nothing is behind: what fails before the first byte.
class NoStream : public ByteStream {
 public:
  Status Send(std::string_view, Deadline) override { return Status(); }
  Status Receive(std::string*, Deadline) override { return Status::External("nothing comes"); }
};

TEST_F(TlsStreamTest, AFileThatIsNoneIsNamed) {
  authority_.Issue("client", "DNS:caudal", -3600, 3600, "sesame");
  const auto refused = [&](const TlsOptions& options) {
    const Status status =
        TlsStream::Connect(options, std::make_unique<NoStream>(), "db", "db:1", Socket::In(100)).status();
    EXPECT_EQ(status.domain(), Domain::kUser);
    EXPECT_THAT(status.ToString(), Not(HasSubstr("wrong-word")));
    return status.message() + " (" + status.hint() + ")";
  };
  TlsOptions options = options_;
  options.ca_file = "/no/ca.pem";
  EXPECT_THAT(refused(options),
              HasSubstr("cannot use the authorities' certificates '/no/ca.pem': No such file or directory"));
  options.ca_file = authority_.key_file("server");
  EXPECT_THAT(refused(options), HasSubstr("server.key': it holds no certificate in PEM form"));
  options = options_;
  options.certificate_file = authority_.key_file("server");
  EXPECT_THAT(refused(options),
              AllOf(HasSubstr("cannot use the certificate"), HasSubstr("server.key': it holds no")));
  options.certificate_file = authority_.certificate_file("client");
  EXPECT_THAT(refused(options),
              AllOf(HasSubstr("client.pem' of the certificate does not hold its private key"),
                    HasSubstr("'ssl.key.location'")));
  options.key_file = authority_.certificate_file("client");
  EXPECT_THAT(refused(options), HasSubstr("client.pem': it holds no private key in PEM form"));
  options.key_file = authority_.key_file("client");
  EXPECT_THAT(refused(options),
              AllOf(HasSubstr("client.key' is locked by a password"), HasSubstr("set 'ssl.key.password'")));
  options.key_password = "wrong-word";
  EXPECT_THAT(refused(options), AllOf(HasSubstr("the password does not open the private key"),
                                      HasSubstr("client.key"), HasSubstr("'ssl.key.password'")));
  options.key_file = authority_.key_file("server");
  EXPECT_THAT(refused(options),
              AllOf(HasSubstr("server.key' is not that of the certificate"), HasSubstr("client.pem")));
}

TEST_F(TlsStreamTest, APeerWithoutTlsIsSaid) {
  class Plain : public NoStream {
   public:
    Status Receive(std::string* bytes, Deadline) override {
      bytes->append("-ERR unknown command\r\n");
      return Status();
    }
  };
  const Status status =
      TlsStream::Connect(options_, std::make_unique<Plain>(), "db", "db:1", Socket::In(100)).status();
  EXPECT_EQ(status.domain(), Domain::kUser);
  EXPECT_THAT(status.message(), HasSubstr("db:1: what answers does not speak TLS"));
}

}  // namespace
}  // namespace caudal
