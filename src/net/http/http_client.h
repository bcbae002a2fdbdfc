// HttpClient: requests to one service over HTTP and HTTPS, with connections that are kept.
//
// One thread; blocks up to the request's deadline. What changes something (all but GET and HEAD) is said once
// and over a connection of its own, so that it is never repeated unseen, unless the request says that it may
// be. Messages name the url without what stands behind '?', never a header or a body.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"

namespace caudal {

// Who signs a request in the way of Amazon's services (SigV4). Holds secrets.
struct AwsSigner {
  std::string region;
  std::string service;
  std::string access_key;
  std::string secret_key;
  std::string session_token;  // empty: none
};

struct HttpRequest {
  std::string method = "GET";
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  int64_t timeout_millis = 60'000;
  // Ends a request on which nothing moves for so long; 0: the deadline alone does.
  int64_t stall_millis = 0;
  // Doing it twice is doing it once: it may go over a kept connection, which may say it again.
  bool repeatable = false;
  // The url's path and query are encoded and the query's names sorted, as the signature wants them.
  std::optional<AwsSigner> signer;
};

struct HttpAnswer {
  // Not OK: there is no whole answer. External, backoff.
  Status status;
  // Whether the service may have got the request: false only if it cannot have.
  bool sent = true;
  int code = 0;
  std::string body;
  std::map<std::string, std::string> headers;  // by name in small letters
  std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
};

class HttpClient {
 public:
  HttpClient();
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  HttpAnswer Send(const HttpRequest& request);

 private:
  void* handle_;  // curl's
};

// "a b" as "a%20b", for a part of a path or a form.
std::string UrlEncoded(std::string_view text);

}  // namespace caudal
