#include "net/tls_files.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace caudal {
namespace {

int GivePassword(char* buffer, int size, int, void* password) {
  const auto* text = static_cast<const std::string*>(password);
  return static_cast<int>(text->copy(buffer, static_cast<size_t>(size)));
}

Status CannotUse(std::string_view what, const std::string& path, std::string_view why) {
  return Status::User(fmt::format("cannot use {} '{}': {}", what, path, why))
      .Hint("it is a file in PEM form, -----BEGIN …, that this process can read");
}

Result<std::string> ReadFile(std::string_view what, const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  std::string text;
  char block[4096];
  for (size_t got = 1; file != nullptr && got > 0;) {
    got = std::fread(block, 1, sizeof block, file.get());
    text.append(block, got);
  }
  if (file != nullptr && std::ferror(file.get()) == 0) return text;
  return CannotUse(what, path, std::strerror(errno));
}

// What the library says of files that are not what they should be is for those who know it.
std::string TakeReason() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? "it cannot be read" : reason;
}

Status LoadCertificates(std::string_view what, const std::string& path, bool loaded) {
  if (loaded) return Status();
  ASSIGN_OR_RETURN(const std::string text, ReadFile(what, path));
  const std::string reason = TakeReason();
  const bool none = text.find("CERTIFICATE-----") == std::string::npos;
  return CannotUse(what, path, none ? "it holds no certificate in PEM form" : reason);
}

Status BadKey(const TlsOptions& options, const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile("the private key", path));
  const unsigned long last = ERR_peek_last_error();
  const bool of_another =
      ERR_GET_LIB(last) == ERR_LIB_X509 && (ERR_GET_REASON(last) == X509_R_KEY_VALUES_MISMATCH ||
                                            ERR_GET_REASON(last) == X509_R_KEY_TYPE_MISMATCH);
  const std::string reason = TakeReason();
  if (of_another) {
    return Status::User(fmt::format("the private key '{}' is not that of the certificate '{}'", path,
                                    options.certificate_file))
        .Hint("'ssl.key.location' and 'ssl.certificate.location' name two files of one pair");
  }
  if (text.find("PRIVATE KEY-----") == std::string::npos) {
    if (!options.key_file.empty()) {
      return CannotUse("the private key", path, "it holds no private key in PEM form");
    }
    return Status::User(fmt::format("the file '{}' of the certificate does not hold its private key", path))
        .Hint("set 'ssl.key.location' to the file that does");
  }
  if (text.find("ENCRYPTED") == std::string::npos) return CannotUse("the private key", path, reason);
  if (options.key_password.empty()) {
    return Status::User(fmt::format("the private key '{}' is locked by a password", path))
        .Hint("set 'ssl.key.password', as ${env:NAME}");
  }
  return Status::User(fmt::format("the password does not open the private key '{}'", path))
      .Hint("look at 'ssl.key.password'");
}

Status LoadOwnCertificate(const TlsOptions& options, SSL_CTX* context) {
  if (options.certificate_file.empty()) return Status();
  const std::string& certificate = options.certificate_file;
  RETURN_IF_ERROR(LoadCertificates("the certificate", certificate,
                                   SSL_CTX_use_certificate_chain_file(context, certificate.c_str()) == 1));
  SSL_CTX_set_default_passwd_cb(context, &GivePassword);
  SSL_CTX_set_default_passwd_cb_userdata(context, const_cast<std::string*>(&options.key_password));
  const std::string& key = options.key_file.empty() ? certificate : options.key_file;
  const bool read = SSL_CTX_use_PrivateKey_file(context, key.c_str(), SSL_FILETYPE_PEM) == 1;
  SSL_CTX_set_default_passwd_cb_userdata(context, nullptr);
  return read ? Status() : BadKey(options, key);
}

}  // namespace

void TlsContextDeleter::operator()(ssl_ctx_st* context) const { SSL_CTX_free(context); }

Result<TlsContext> MakeTlsContext(const TlsOptions& options) {
  TlsContext context(SSL_CTX_new(TLS_client_method()));
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  if (options.ca_file.empty()) {
    SSL_CTX_set_default_verify_paths(context.get());
  } else {
    RETURN_IF_ERROR(LoadCertificates("the authorities' certificates", options.ca_file,
                                     SSL_CTX_load_verify_file(context.get(), options.ca_file.c_str()) == 1));
  }
  RETURN_IF_ERROR(LoadOwnCertificate(options, context.get()));
  return context;
}

}  // namespace caudal
