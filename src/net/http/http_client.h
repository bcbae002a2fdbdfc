// HttpClient: requests to one service over HTTP and HTTPS, with connections that are kept.
//
// One thread; blocks up to the request's deadline. What changes something (all but GET and HEAD) is said once
// and over a connection of its own, so that it is never repeated unseen. Messages name the url without what
// stands behind '?', never a header or a body.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"

namespace caudal {

struct HttpRequest {
  std::string method = "GET";
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  int64_t timeout_millis = 60'000;
};

struct HttpAnswer {
  // Not OK: there is no whole answer. External, backoff.
  Status status;
  // Whether the service may have got the request: false only if it cannot have.
  bool sent = true;
  int code = 0;
  std::string body;
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
