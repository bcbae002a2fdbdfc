#include "net/http/http_client.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <cctype>

namespace caudal {
namespace {

constexpr size_t kMostBytes = size_t{1} << 30;  // of an answer
constexpr long kConnectMillis = 10'000;

size_t Append(char* bytes, size_t size, size_t count, void* to) {
  auto* body = static_cast<std::string*>(to);
  if (body->size() + size * count > kMostBytes) return 0;
  body->append(bytes, size * count);
  return size * count;
}

std::string WithoutQuery(const std::string& url) { return url.substr(0, url.find('?')); }

// What fails before a byte of the request is on its way.
bool WasNotSent(CURLcode code) {
  switch (code) {
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
      return true;
    default:
      return false;
  }
}

// Freed with the request.
class HeaderList {
 public:
  ~HeaderList() { curl_slist_free_all(list_); }
  void Add(const std::string& line) { list_ = curl_slist_append(list_, line.c_str()); }
  curl_slist* get() const { return list_; }

 private:
  curl_slist* list_ = nullptr;
};

}  // namespace

HttpClient::HttpClient() {
  static const CURLcode once = curl_global_init(CURL_GLOBAL_DEFAULT);
  static_cast<void>(once);
  handle_ = curl_easy_init();
}

HttpClient::~HttpClient() { curl_easy_cleanup(static_cast<CURL*>(handle_)); }

HttpAnswer HttpClient::Send(const HttpRequest& request) {
  HttpAnswer answer;
  auto* curl = static_cast<CURL*>(handle_);
  if (curl == nullptr) {
    answer.sent = false;
    answer.status = Status::External("libcurl has no memory", Retry::kBackoff);
    return answer;
  }
  curl_easy_reset(curl);  // keeps connections
  HeaderList headers;
  for (const auto& [name, value] : request.headers) headers.Add(fmt::format("{}: {}", name, value));
  headers.Add("Expect:");  // no round trip to ask whether the body is wanted
  char reason[CURL_ERROR_SIZE] = "";
  curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  // A kept connection that turns out to be closed makes curl say the request again, though the service may
  // have done what it was asked.
  if (request.method != "GET" && request.method != "HEAD") {
    curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(curl, CURLOPT_FORBID_REUSE, 1L);
  }
  if (request.method != "GET" && request.method != "HEAD" && request.method != "DELETE") {
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request.body.data());
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  }
  if (request.method == "HEAD") curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, Append);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer.body);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, reason);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, kConnectMillis);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout_millis));
  curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "");
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  const CURLcode code = curl_easy_perform(curl);
  if (code == CURLE_OK) {
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    answer.code = static_cast<int>(status);
    return answer;
  }
  answer.sent = !WasNotSent(code);
  answer.status = Status::External(fmt::format("{} {}: {}", request.method, WithoutQuery(request.url),
                                               reason[0] != '\0' ? reason : curl_easy_strerror(code)),
                                   Retry::kBackoff);
  return answer;
}

std::string UrlEncoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = std::isalnum(byte) || c == '-' || c == '_' || c == '.' || c == '~';
    encoded += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return encoded;
}

}  // namespace caudal
