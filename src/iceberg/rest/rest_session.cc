#include "iceberg/rest/rest_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

namespace caudal::iceberg {
namespace {

constexpr int64_t kFirstPauseMillis = 100;
constexpr int64_t kLongestPauseMillis = 5'000;

}  // namespace

std::string RestSession::Url(const std::string& path) const {
  return options_.prefix.empty() ? fmt::format("{}/v1/{}", options_.uri, path)
                                 : fmt::format("{}/v1/{}/{}", options_.uri, options_.prefix, path);
}

RestAnswer RestSession::SendOnce(const HttpRequest& request) {
  return ReadAnswer(http_.Send(request), request.method + " " + request.url.substr(0, request.url.find('?')));
}

Status RestSession::Authorize() {
  if (!options_.token.empty()) token_ = options_.token;
  if (options_.credential.empty()) return Status();
  const size_t colon = options_.credential.find(':');
  const std::string id = colon == std::string::npos ? "" : options_.credential.substr(0, colon);
  const std::string secret =
      colon == std::string::npos ? options_.credential : options_.credential.substr(colon + 1);
  HttpRequest request;
  request.method = "POST";
  request.url =
      options_.oauth2_server_uri.empty() ? options_.uri + "/v1/oauth/tokens" : options_.oauth2_server_uri;
  request.headers = {{"Content-Type", "application/x-www-form-urlencoded"}};
  request.timeout_millis = options_.timeout_millis;
  request.body = fmt::format("grant_type=client_credentials&client_secret={}&scope={}", UrlEncoded(secret),
                             UrlEncoded(options_.scope));
  if (!id.empty()) request.body += "&client_id=" + UrlEncoded(id);
  RestAnswer answer;
  int64_t pause = kFirstPauseMillis;
  for (int attempt = 0;; ++attempt) {
    answer = SendOnce(request);
    const bool again = !answer.http.status.ok() || MayAnswerLater(answer.http.code);
    if (!again || attempt >= options_.retries) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(pause));
    pause = std::min(2 * pause, kLongestPauseMillis);
  }
  if (!answer.http.status.ok()) return answer.http.status;
  const std::string token = TextOf(answer.json, "access_token");
  if (!answer.ok() && MayAnswerLater(answer.http.code)) return Failure(answer);
  if (!answer.ok() || token.empty()) {
    return Status::User(fmt::format("{} gives no token for the 'credential': {} {}", request.url,
                                    answer.http.code, answer.error_type))
        .Hint("check 'credential' and 'scope'; the service may want another 'oauth2-server-uri'");
  }
  token_ = token;
  const auto lasts = answer.json.find("expires_in");
  renew_at_millis_ = 0;
  if (lasts != answer.json.end() && lasts->is_number()) {
    constexpr int64_t kMillis = 1000;
    // Before it runs out, so that no request meets its end.
    renew_at_millis_ = env_->NowMillis() + lasts->get<int64_t>() * kMillis * 9 / 10;
  }
  return Status();
}

Status RestSession::CheckToken() {
  const bool none = token_.empty() && (!options_.token.empty() || !options_.credential.empty());
  const bool old = renew_at_millis_ > 0 && env_->NowMillis() >= renew_at_millis_;
  return none || old ? Authorize() : Status();
}

Status RestSession::Configure() {
  if (configured_) return Status();
  std::string url = options_.uri + "/v1/config";
  if (!options_.warehouse.empty()) url += "?warehouse=" + UrlEncoded(options_.warehouse);
  Status status;
  int64_t pause = kFirstPauseMillis;
  for (int attempt = 0;; ++attempt) {
    ASSIGN_OR_RETURN(const RestAnswer answer, Send("GET", url, ""));
    if (answer.ok()) {
      const auto overrides = answer.json.find("overrides"), defaults = answer.json.find("defaults");
      if (defaults != answer.json.end() && defaults->is_object() && options_.prefix.empty())
        options_.prefix = TextOf(*defaults, "prefix");
      if (overrides != answer.json.end() && overrides->is_object()) {
        const std::string prefix = TextOf(*overrides, "prefix"), uri = TextOf(*overrides, "uri");
        if (!prefix.empty()) options_.prefix = prefix;
        if (!uri.empty()) options_.uri = uri;
      }
      // Services say it as it stands in a path: one that was encoded again would divide nothing.
      for (const auto& said : {defaults, overrides}) {
        if (said == answer.json.end() || !said->is_object()) continue;
        const std::string separator = TextOf(*said, "namespace-separator");
        if (!separator.empty()) separator_ = separator.find('%') == 0 ? separator : UrlEncoded(separator);
      }
      while (options_.uri.ends_with('/')) options_.uri.pop_back();
      configured_ = true;
      configuration_ = answer.json;
      return Status();
    }
    status = Failure(answer);
    if (status.retry() != Retry::kBackoff || attempt >= options_.retries) return status;
    std::this_thread::sleep_for(std::chrono::milliseconds(pause));
    pause = std::min(2 * pause, kLongestPauseMillis);
  }
}

Result<std::string> RestSession::NamespaceSeparator() {
  RETURN_IF_ERROR(Configure());
  return separator_;
}

Result<Json> RestSession::Configuration() {
  RETURN_IF_ERROR(Configure());
  return configuration_;
}

Result<RestAnswer> RestSession::Send(const std::string& method, const std::string& url,
                                     const std::string& body) {
  for (bool renewed = false;; renewed = true) {
    RETURN_IF_ERROR(CheckToken());
    HttpRequest request{method, url, {{"Accept", "application/json"}}, body, options_.timeout_millis};
    if (!body.empty()) request.headers.emplace_back("Content-Type", "application/json");
    for (const auto& [name, value] : options_.headers) request.headers.emplace_back(name, value);
    if (!token_.empty()) request.headers.emplace_back("Authorization", "Bearer " + token_);
    RestAnswer answer = SendOnce(request);
    const bool refused = answer.http.status.ok() && IsRefusedToken(answer.http.code);
    if (!refused || renewed || options_.credential.empty()) return answer;
    token_.clear();
  }
}

Result<RestAnswer> RestSession::Get(const std::string& path) {
  int64_t pause = kFirstPauseMillis;
  for (int attempt = 0;; ++attempt) {
    RETURN_IF_ERROR(Configure());
    ASSIGN_OR_RETURN(RestAnswer answer, Send("GET", Url(path), ""));
    const bool again = !answer.http.status.ok() || MayAnswerLater(answer.http.code);
    if (!again || attempt >= options_.retries) return answer;
    std::this_thread::sleep_for(std::chrono::milliseconds(pause));
    pause = std::min(2 * pause, kLongestPauseMillis);
  }
}

Result<RestAnswer> RestSession::Change(const std::string& method, const std::string& path,
                                       const std::string& body) {
  RETURN_IF_ERROR(Configure());
  return Send(method, Url(path), body);
}

}  // namespace caudal::iceberg
