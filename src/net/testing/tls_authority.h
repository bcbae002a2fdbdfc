// TlsAuthority: a certificate authority of a test's own, and the certificates that it signs, as PEM files.
//
// Owned by a test; one thread. Header only: who includes it links libcrypto.
#pragma once

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <filesystem>
#include <memory>
#include <string>

namespace caudal {

class TlsAuthority {
 public:
  // Writes ca.pem into `folder`, which is made.
  explicit TlsAuthority(std::filesystem::path folder) : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
    key_.reset(EVP_EC_gen("P-256"));
    certificate_ = Certificate("authority", key_.get(), "", -kDay, kDay);
    Write("ca.pem", [&](FILE* file) { return PEM_write_X509(file, certificate_.get()); });
  }

  std::string ca_file() const { return folder_ / "ca.pem"; }
  std::string certificate_file(const std::string& name) const { return folder_ / (name + ".pem"); }
  std::string key_file(const std::string& name) const { return folder_ / (name + ".key"); }

  // Writes <name>.pem and <name>.key, the key with a password unless that is empty. `names`:
  // "DNS:localhost,IP:127.0.0.1".
  void Issue(const std::string& name, const std::string& names, long from_seconds = -kDay,
             long to_seconds = kDay, std::string password = "") {
    const Key key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
    const Signed certificate = Certificate(name, key.get(), names, from_seconds, to_seconds);
    Write(name + ".pem", [&](FILE* file) { return PEM_write_X509(file, certificate.get()); });
    Write(name + ".key", [&](FILE* file) {
      auto* bytes = reinterpret_cast<unsigned char*>(password.data());
      const bool locked = !password.empty();
      return PEM_write_PrivateKey(file, key.get(), locked ? EVP_aes_128_cbc() : nullptr,
                                  locked ? bytes : nullptr, static_cast<int>(password.size()), nullptr,
                                  nullptr);
    });
  }

 private:
  static constexpr long kDay = 86'400;
  using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
  using Signed = std::unique_ptr<X509, decltype(&X509_free)>;

  // Without names it is an authority's.
  Signed Certificate(const std::string& subject, EVP_PKEY* key, const std::string& names, long from,
                     long to) {
    Signed made(X509_new(), &X509_free);
    X509_set_version(made.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(made.get()), ++serial_);
    X509_gmtime_adj(X509_getm_notBefore(made.get()), from);
    X509_gmtime_adj(X509_getm_notAfter(made.get()), to);
    X509_set_pubkey(made.get(), key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()), "CN", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(subject.c_str()), -1, -1, 0);
    X509_set_issuer_name(made.get(), X509_get_subject_name(certificate_ ? certificate_.get() : made.get()));
    X509V3_CTX context;
    X509V3_set_ctx(&context, made.get(), made.get(), nullptr, nullptr, 0);
    X509_EXTENSION* extension =
        names.empty() ? X509V3_EXT_conf_nid(nullptr, &context, NID_basic_constraints, "critical,CA:TRUE")
                      : X509V3_EXT_conf_nid(nullptr, &context, NID_subject_alt_name, names.c_str());
    EXPECT_NE(extension, nullptr) << names;
    X509_add_ext(made.get(), extension, -1);
    X509_EXTENSION_free(extension);
    EXPECT_GT(X509_sign(made.get(), key_.get(), EVP_sha256()), 0);
    return made;
  }
  template <typename Writer>
  void Write(const std::string& name, const Writer& write) {
    FILE* file = fopen((folder_ / name).c_str(), "w");
    ASSERT_NE(file, nullptr) << name;
    EXPECT_EQ(write(file), 1) << name;
    fclose(file);
  }

  std::filesystem::path folder_;
  Key key_{nullptr, &EVP_PKEY_free};
  Signed certificate_{nullptr, &X509_free};
  long serial_ = 0;
};

}  // namespace caudal
