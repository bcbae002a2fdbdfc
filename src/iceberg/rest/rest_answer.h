// RestAnswer: what a catalog service says, taken apart. Whatever the bytes are, it ends in a value or an
// error.
//
// Pure functions; any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/status.h"
#include "iceberg/catalog/catalog.h"
#include "iceberg/metadata/json_fields.h"
#include "net/http/http_client.h"

namespace caudal::iceberg {

// `error`: what it says is wrong, in its own words; empty if nothing is.
struct RestAnswer {
  HttpAnswer http;
  Json json;
  std::string error_type, error;
  bool ok() const { return http.status.ok() && http.code >= 200 && http.code < 300; }
};

// `what` was asked, for messages. An answer that was cut is none: External, may be repeated.
RestAnswer ReadAnswer(HttpAnswer http, const std::string& what);
// An answer that is not as wanted, as an error: User for what is asked wrongly, External for the rest.
Status Failure(const RestAnswer& answer);

bool IsRefusedToken(int code);
bool MayAnswerLater(int code);

// The text of a member; empty if there is none, or something else.
std::string TextOf(const Json& json, const char* name);
Result<LoadedTable> TableOf(const Json& json);
// What is no name is passed over.
std::vector<std::string> TableNamesOf(const Json& identifiers);
std::vector<std::vector<std::string>> NamespacesOf(const Json& spaces);

// What a service lets its client do with a table's files in a store, in the words of Iceberg's clients
// ('s3.access-key-id', …); what is none of them is left out.
struct TableGrant {
  std::map<std::string, std::string, std::less<>> options;
  int64_t expires_millis = 0;  // wall clock; 0: it does not say
};
// Of the service's configuration and its answer for a table. Of several credentials that for the longest
// part of the table's location is taken.
TableGrant GrantOf(const Json& configuration, const Json& table);

}  // namespace caudal::iceberg
