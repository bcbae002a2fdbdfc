#include "net/tls_stream.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <climits>

#include "net/tls_files.h"

namespace caudal {
namespace {

constexpr size_t kRecordBytes = 16 << 10;  // a record of TLS holds no more

bool IsAddress(const std::string& name) {
  unsigned char bytes[16];
  return inet_pton(AF_INET, name.c_str(), bytes) == 1 || inet_pton(AF_INET6, name.c_str(), bytes) == 1;
}

// The oldest error of this thread; the others are forgotten.
std::string TakeLibraryError() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? "unknown reason" : reason;
}

// "'db.bank.example', '10.0.0.7'"
std::string NamesIn(const X509* certificate) {
  std::vector<std::string> names;
  auto* found = static_cast<GENERAL_NAMES*>(
      certificate == nullptr ? nullptr
                             : X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; found != nullptr && i < sk_GENERAL_NAME_num(found); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(found, i);
    const ASN1_STRING* text = name->type == GEN_DNS     ? name->d.dNSName
                              : name->type == GEN_IPADD ? name->d.iPAddress
                                                        : nullptr;
    if (text == nullptr) continue;
    const auto* bytes = ASN1_STRING_get0_data(text);
    const auto size = static_cast<size_t>(ASN1_STRING_length(text));
    if (name->type == GEN_DNS) {
      names.push_back(fmt::format("'{}'", std::string_view(reinterpret_cast<const char*>(bytes), size)));
    } else {
      char shown[INET6_ADDRSTRLEN] = "";
      inet_ntop(size == 4 ? AF_INET : AF_INET6, bytes, shown, sizeof shown);
      names.push_back(fmt::format("'{}'", shown));
    }
  }
  GENERAL_NAMES_free(found);
  return names.empty() ? "no name" : fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

// A certificate that is refused is kept nowhere: its names are read while it is looked at.
int TlsStream::Heard::OnRefused(int good, X509_STORE_CTX* store) {
  const X509* certificate = X509_STORE_CTX_get_current_cert(store);
  auto* ssl = static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  if (good == 0 && certificate != nullptr && X509_STORE_CTX_get_error_depth(store) == 0) {
    static_cast<Heard*>(SSL_get_app_data(ssl))->names = NamesIn(certificate);
  }
  return good;
}

int TlsStream::Heard::OnWanted(SSL* ssl, X509**, EVP_PKEY**) {
  static_cast<Heard*>(SSL_get_app_data(ssl))->wants_certificate = true;
  return 0;  // we have none
}

Result<std::unique_ptr<ByteStream>> TlsStream::Connect(const TlsOptions& options,
                                                       std::unique_ptr<ByteStream> below,
                                                       const std::string& host, const std::string& peer,
                                                       Deadline deadline) {
  std::unique_ptr<TlsStream> stream(new TlsStream(std::move(below), peer));
  const std::string& name = options.server_name.empty() ? host : options.server_name;
  ERR_clear_error();
  RETURN_IF_ERROR(stream->Prepare(options, name));
  RETURN_IF_ERROR(stream->ShakeHands(name, deadline));
  return std::unique_ptr<ByteStream>(std::move(stream));
}

TlsStream::~TlsStream() { SSL_free(ssl_); }

Status TlsStream::Prepare(const TlsOptions& options, const std::string& name) {
  ASSIGN_OR_RETURN(const TlsContext context, MakeTlsContext(options));
  SSL_CTX_set_client_cert_cb(context.get(), &Heard::OnWanted);
  ssl_ = SSL_new(context.get());
  arrived_ = BIO_new(BIO_s_mem());
  to_send_ = BIO_new(BIO_s_mem());
  SSL_set_bio(ssl_, arrived_, to_send_);
  SSL_set_connect_state(ssl_);
  SSL_set_app_data(ssl_, &heard_);
  SSL_set_verify(ssl_, SSL_VERIFY_PEER, &Heard::OnRefused);
  const bool address = IsAddress(name);
  if (!address) SSL_set_tlsext_host_name(ssl_, name.c_str());
  if (!options.check_name) return Status();
  X509_VERIFY_PARAM* wanted = SSL_get0_param(ssl_);
  X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  const int taken = address ? X509_VERIFY_PARAM_set1_ip_asc(wanted, name.c_str())
                            : X509_VERIFY_PARAM_set1_host(wanted, name.c_str(), name.size());
  if (taken == 1 && !name.empty()) return Status();
  return Status::User(fmt::format("{}: no certificate can show the name '{}'", peer_, name));
}

Status TlsStream::ShakeHands(const std::string& name, Deadline deadline) {
  for (;;) {
    const int done = SSL_do_handshake(ssl_);
    if (done == 1) return Flush(deadline);
    const bool waits = SSL_get_error(ssl_, done) == SSL_ERROR_WANT_READ;
    if (!waits) {
      Status failed = Failed(name);
      static_cast<void>(Flush(deadline));  // the peer is told why, if it still listens
      return failed;
    }
    RETURN_IF_ERROR(Flush(deadline));
    RETURN_IF_ERROR(Feed(deadline));
  }
}

Status TlsStream::Send(std::string_view bytes, Deadline deadline) {
  while (!bytes.empty()) {
    const int piece = static_cast<int>(std::min<size_t>(bytes.size(), INT_MAX));
    ERR_clear_error();
    const int taken = SSL_write(ssl_, bytes.data(), piece);
    if (taken <= 0 && SSL_get_error(ssl_, taken) != SSL_ERROR_WANT_READ) return Failed("");
    Status flushed = Flush(deadline);
    if (!flushed.ok()) return Explain(std::move(flushed));
    if (taken > 0) {
      bytes.remove_prefix(static_cast<size_t>(taken));
    } else {
      RETURN_IF_ERROR(Feed(deadline));
    }
  }
  return Status();
}

Status TlsStream::Receive(std::string* bytes, Deadline deadline) {
  char buffer[kRecordBytes];
  for (;;) {
    ERR_clear_error();
    const int got = SSL_read(ssl_, buffer, sizeof buffer);
    if (got > 0) {
      answered_ = true;
      bytes->append(buffer, static_cast<size_t>(got));
      return Status();
    }
    const int error = SSL_get_error(ssl_, got);
    if (error == SSL_ERROR_ZERO_RETURN) return Explain(Broken("the server closed the connection"));
    if (error != SSL_ERROR_WANT_READ) return Failed("");
    RETURN_IF_ERROR(Flush(deadline));
    Status fed = Feed(deadline);
    if (!fed.ok()) return Explain(std::move(fed));
  }
}

Status TlsStream::Flush(Deadline deadline) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(to_send_, &bytes);
  if (size <= 0) return Status();
  RETURN_IF_ERROR(below_->Send({bytes, static_cast<size_t>(size)}, deadline));
  BIO_reset(to_send_);
  return Status();
}

Status TlsStream::Feed(Deadline deadline) {
  std::string bytes;
  RETURN_IF_ERROR(below_->Receive(&bytes, deadline));
  BIO_write(arrived_, bytes.data(), static_cast<int>(bytes.size()));
  return Status();
}

Status TlsStream::Broken(std::string_view what) const {
  return Status::External(fmt::format("{}: {}", peer_, what), Retry::kBackoff);
}

// What the server says of a client without a certificate comes behind the handshake, and may be lost together
// with the connection. It may be an outage as well.
Status TlsStream::Explain(Status broken) const {
  if (answered_ || !heard_.wants_certificate) return broken;
  return std::move(broken).Hint(
      "the server asks for a certificate of ours, and there is none: 'ssl.certificate.location' and "
      "'ssl.key.location'; it is tried again");
}

Status TlsStream::NotTaken(std::string_view why) const {
  return Status::User(fmt::format("{}: the server does not take us: {}", peer_, why))
      .Hint(
          "give it a certificate of ours that it trusts: 'ssl.certificate.location' and 'ssl.key.location'");
}

Status TlsStream::Failed(const std::string& name) const {
  const long verdict = SSL_get_verify_result(ssl_);
  if (verdict != X509_V_OK) {
    ERR_clear_error();
    return CertificateFailed(verdict, name);
  }
  const int reason = ERR_GET_REASON(ERR_peek_error());
  const std::string text = TakeLibraryError();
  switch (reason) {
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_PACKET_LENGTH_TOO_LONG:
    case SSL_R_HTTP_REQUEST:
    case SSL_R_BAD_RECORD_TYPE:
      return Status::User(fmt::format("{}: what answers does not speak TLS", peer_))
          .Hint("connect without TLS, or name the port that has it");
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
    case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
    case SSL_R_TLSV1_ALERT_ACCESS_DENIED:
      return NotTaken(text);
    default:
      return Broken("TLS: " + text);
  }
}

Status TlsStream::CertificateFailed(long verdict, const std::string& name) const {
  switch (verdict) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return Broken("the server's certificate has expired").Hint("renew it there; it is tried again");
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return Broken("the server's certificate is not valid yet")
          .Hint("look at the clocks of both machines; it is tried again");
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return Status::User(fmt::format("{}: the server's certificate is not for '{}': it was made out for {}",
                                      peer_, name, heard_.names))
          .Hint(
              "connect by a name that it shows, or set 'ssl.endpoint.identification.algorithm' = 'none' to "
              "look "
              "at no name");
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_UNTRUSTED:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:  // by another authority of the same name
      return Status::User(fmt::format("{}: nobody whom we trust has signed the server's certificate ({})",
                                      peer_, X509_verify_cert_error_string(verdict)))
          .Hint("name the file with its authority's certificate in 'ssl.ca.location'");
    default:
      return Status::User(fmt::format("{}: the server's certificate is not good: {}", peer_,
                                      X509_verify_cert_error_string(verdict)));
  }
}

}  // namespace caudal
