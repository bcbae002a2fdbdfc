// TlsStream: a connection under TLS (1.2 and later), over another ByteStream.
//
// The peer's certificate is checked, and that it was made out for the host that was asked for. A ByteStream:
// one thread, every call within its deadline. A certificate that may be renewed, and a connection that
// breaks, are External with Retry::kBackoff; what only other options can mend is a User error. Messages name
// the peer, never the password of a key.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "net/byte_stream.h"

// The library's own, so that its headers stay in the file that calls it.
struct bio_st;
struct evp_pkey_st;
struct ssl_st;
struct x509_st;
struct x509_store_ctx_st;

namespace caudal {

struct TlsOptions {
  std::string ca_file;           // PEM, of those whom we trust; empty: whom the system trusts
  std::string certificate_file;  // PEM with our own certificate and what stands behind it; empty: none
  std::string key_file;          // PEM; empty: in certificate_file
  std::string key_password;
  bool check_name = true;   // false: any certificate that those whom we trust have signed
  std::string server_name;  // that the certificate must show; empty: the host
};

class TlsStream : public ByteStream {
 public:
  // Shakes hands with `peer` (for messages, "host:port") over `below`.
  static Result<std::unique_ptr<ByteStream>> Connect(const TlsOptions& options,
                                                     std::unique_ptr<ByteStream> below,
                                                     const std::string& host, const std::string& peer,
                                                     Deadline deadline);
  ~TlsStream() override;
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;

  Status Send(std::string_view bytes, Deadline deadline) override;
  Status Receive(std::string* bytes, Deadline deadline) override;

 private:
  // What the handshake tells nowhere else.
  struct Heard {
    std::string names;               // in a certificate that was refused
    bool wants_certificate = false;  // of ours, and there is none
    static int OnRefused(int good, x509_store_ctx_st* store);
    static int OnWanted(ssl_st* ssl, x509_st** certificate, evp_pkey_st** key);
  };

  TlsStream(std::unique_ptr<ByteStream> below, std::string peer)
      : below_(std::move(below)), peer_(std::move(peer)) {}
  Status Prepare(const TlsOptions& options, const std::string& name);
  Status ShakeHands(const std::string& name, Deadline deadline);
  Status Flush(Deadline deadline);  // what the library wants sent
  Status Feed(Deadline deadline);   // what has arrived, to the library
  Status Failed(const std::string& name) const;
  Status CertificateFailed(long verdict, const std::string& name) const;
  Status Broken(std::string_view what) const;
  // A connection that broke: perhaps the server has closed it because it does not know us.
  Status Explain(Status broken) const;
  Status NotTaken(std::string_view why) const;

  std::unique_ptr<ByteStream> below_;
  std::string peer_;
  Heard heard_;
  bool answered_ = false;  // something was received since the handshake
  ssl_st* ssl_ = nullptr;
  bio_st* arrived_ = nullptr;  // belong to ssl_
  bio_st* to_send_ = nullptr;
};

}  // namespace caudal
