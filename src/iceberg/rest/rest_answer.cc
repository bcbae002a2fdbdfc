#include "iceberg/rest/rest_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace caudal::iceberg {
namespace {

constexpr size_t kShownBytes = 300;
constexpr int kUnauthorized = 401;
constexpr int kNoLongerValid = 419;

// Of an answer that is no JSON: its first line.
std::string Shortened(const std::string& body) {
  std::string line = body.substr(0, std::min(body.find('\n'), kShownBytes));
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return line;
}

constexpr std::string_view kStoreOptions[] = {"s3.endpoint",          "s3.region",        "client.region",
                                              "s3.path-style-access", "s3.access-key-id", "s3.session-token",
                                              "s3.secret-access-key"};
constexpr const char* kExpiry = "s3.session-token-expires-at-ms";

// Later ones win.
void Take(const Json& config, TableGrant* grant) {
  if (!config.is_object()) return;
  for (const std::string_view name : kStoreOptions) {
    std::string value = TextOf(config, name.data());
    if (value == "True") value = "true";
    if (value == "False") value = "false";
    if (!value.empty()) grant->options.insert_or_assign(std::string(name), std::move(value));
  }
  const std::string expiry = TextOf(config, kExpiry);
  int64_t millis = 0;
  const auto [end, error] = std::from_chars(expiry.data(), expiry.data() + expiry.size(), millis);
  if (error == std::errc() && end == expiry.data() + expiry.size()) grant->expires_millis = millis;
}

const Json& Member(const Json& json, const char* name) {
  static const Json none;
  const auto found = json.is_object() ? json.find(name) : json.end();
  return found == json.end() ? none : *found;
}

}  // namespace

bool IsRefusedToken(int code) { return code == kUnauthorized || code == kNoLongerValid; }

bool MayAnswerLater(int code) { return code == 429 || code >= 500; }

std::string TextOf(const Json& json, const char* name) {
  const auto found = json.is_object() ? json.find(name) : json.end();
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

RestAnswer ReadAnswer(HttpAnswer http, const std::string& what) {
  RestAnswer answer;
  answer.http = std::move(http);
  if (!answer.http.status.ok() || answer.http.body.empty()) return answer;
  answer.json = Json::parse(answer.http.body, nullptr, false);
  if (answer.json.is_discarded()) {
    answer.json = Json();
    // An answer that was cut is none; a page of some proxy says what it says.
    if (answer.ok()) {
      answer.http.status = Status::External(what + ": the answer is no JSON", Retry::kBackoff);
    } else {
      answer.error = Shortened(answer.http.body);
    }
    return answer;
  }
  const auto error = answer.json.is_object() ? answer.json.find("error") : answer.json.end();
  if (answer.json.is_object() && error != answer.json.end() && error->is_object()) {
    answer.error_type = TextOf(*error, "type");
    answer.error = TextOf(*error, "message");
  } else if (!answer.ok() && answer.json.is_object()) {
    answer.error = TextOf(answer.json, "error_description");
    if (answer.error.empty()) answer.error = TextOf(answer.json, "error");
  }
  return answer;
}

Status Failure(const RestAnswer& answer) {
  if (!answer.http.status.ok()) return answer.http.status;
  const int code = answer.http.code;
  std::string said =
      fmt::format("the catalog answers {}{}{}", code, answer.error.empty() ? "" : ": ", answer.error);
  if (IsRefusedToken(code) || code == 403) {
    return Status::User(std::move(said))
        .Hint(code == 403 ? "who the 'credential' or 'token' stands for may not do this"
                          : "check 'credential' or 'token': one that ran out is not taken");
  }
  if (MayAnswerLater(code)) return Status::External(std::move(said), Retry::kBackoff);
  return Status::User(std::move(said));
}

Result<LoadedTable> TableOf(const Json& json) {
  const auto metadata = json.is_object() ? json.find("metadata") : json.end();
  if (!json.is_object() || metadata == json.end())
    return Status::External("the catalog's answer has no metadata", Retry::kBackoff);
  LoadedTable table;
  table.metadata_location = TextOf(json, "metadata-location");
  ASSIGN_OR_RETURN(table.metadata, ParseTableMetadata(metadata->dump()));
  return table;
}

TableGrant GrantOf(const Json& configuration, const Json& table) {
  TableGrant grant;
  for (const Json* config :
       {&Member(configuration, "defaults"), &Member(configuration, "overrides"), &Member(table, "config")})
    Take(*config, &grant);
  const std::string location = TextOf(Member(table, "metadata"), "location");
  const Json* best = nullptr;
  size_t longest = 0;
  for (const Json& credential : Member(table, "storage-credentials")) {
    const std::string prefix = TextOf(credential, "prefix");
    if (!location.starts_with(prefix) || (best != nullptr && prefix.size() <= longest)) continue;
    best = &credential;
    longest = prefix.size();
  }
  if (best != nullptr) Take(Member(*best, "config"), &grant);
  return grant;
}

std::vector<std::string> TableNamesOf(const Json& identifiers) {
  std::vector<std::string> names;
  for (const Json& identifier : identifiers) {
    std::string name = TextOf(identifier, "name");
    if (!name.empty()) names.push_back(std::move(name));
  }
  return names;
}

std::vector<std::vector<std::string>> NamespacesOf(const Json& spaces) {
  std::vector<std::vector<std::string>> found;
  for (const Json& space : spaces) {
    if (!space.is_array()) continue;
    std::vector<std::string> levels;
    for (const Json& level : space) {
      if (level.is_string()) levels.push_back(level.get<std::string>());
    }
    found.push_back(std::move(levels));
  }
  return found;
}

}  // namespace caudal::iceberg
