// What a secure connection is made with: the authorities' certificates and our own, from files in PEM form.
//
// A free function, any thread; it reads the files. Their contents and passwords are in no message.
#pragma once

#include <memory>

#include "base/status.h"
#include "net/tls_stream.h"

struct ssl_ctx_st;

namespace caudal {

struct TlsContextDeleter {
  void operator()(ssl_ctx_st* context) const;
};
using TlsContext = std::unique_ptr<ssl_ctx_st, TlsContextDeleter>;

// User error that names the file, what is wrong with it, and the option that mends it.
Result<TlsContext> MakeTlsContext(const TlsOptions& options);

}  // namespace caudal
