// RestSession: requests to an Iceberg REST catalog, as whoever its options name: configuration asked for
// once, a token got and renewed, what may be repeated repeated.
//
// One thread; blocks. No message says a token or a credential.
#pragma once

#include <string>

#include "base/env.h"
#include "base/status.h"
#include "iceberg/rest/rest_answer.h"
#include "iceberg/rest/rest_options.h"
#include "net/http/http_client.h"

namespace caudal::iceberg {

class RestSession {
 public:
  RestSession(RestOptions options, Env* env) : options_(std::move(options)), env_(env) {}

  // `path` behind "/v1/<prefix>/". Repeated while the service does not answer.
  Result<RestAnswer> Get(const std::string& path);
  // Once, but for a token that has run out, which says that nothing was done. An error: it was not even sent.
  Result<RestAnswer> Change(const std::string& method, const std::string& path, const std::string& body);
  // What the service said of itself. Asked for once.
  Result<Json> Configuration();
  // What stands between the levels of a namespace in a path, in the form that paths have.
  Result<std::string> NamespaceSeparator();

 private:
  Status Configure();
  Status Authorize();
  Status CheckToken();
  Result<RestAnswer> Send(const std::string& method, const std::string& url, const std::string& body);
  RestAnswer SendOnce(const HttpRequest& request);
  std::string Url(const std::string& path) const;

  RestOptions options_;
  Env* env_;
  HttpClient http_;
  bool configured_ = false;
  Json configuration_;
  std::string separator_ = "%1F";  // the unit separator, unless the service wants another
  std::string token_;
  int64_t renew_at_millis_ = 0;  // 0: it does not run out
};

}  // namespace caudal::iceberg
