// RestOptions: where an Iceberg REST catalog is, and who asks it. Plain data; holds secrets.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace caudal::iceberg {

struct RestOptions {
  std::string uri;         // "https://host/path", without "/v1"
  std::string warehouse;   // what the service calls it; empty: its own choice
  std::string prefix;      // of paths, unless the service says one
  std::string token;       // as it is, or
  std::string credential;  // "id:secret", or a secret alone, to get one for
  std::string scope = "catalog";
  std::string oauth2_server_uri;  // where; empty: the catalog itself
  std::map<std::string, std::string> headers;
  int64_t timeout_millis = 60'000;
  int retries = 5;  // of what changes nothing
};

}  // namespace caudal::iceberg
