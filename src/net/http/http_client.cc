#include "net/http/http_client.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <cctype>

namespace caudal {
namespace {

constexpr size_t kMostBytes = size_t{1} << 30;  // of an answer
constexpr long kConnectMillis = 10'000;
constexpr long kExpectMillis = 200;  // for whether a body is wanted, of whoever does not say

size_t Append(char* bytes, size_t size, size_t count, void* to) {
  auto* body = static_cast<std::string*>(to);
  if (body->size() + size * count > kMostBytes) return 0;
  body->append(bytes, size * count);
  return size * count;
}

size_t AppendHeader(char* bytes, size_t size, size_t count, void* to) {
  auto* headers = static_cast<std::map<std::string, std::string>*>(to);
  const std::string_view line(bytes, size * count);
  if (line.starts_with("HTTP/")) headers->clear();  // of an answer before the last
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return size * count;
  std::string name(line.substr(0, colon));
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  std::string_view value = line.substr(colon + 1);
  while (!value.empty() && std::isspace(static_cast<unsigned char>(value.front()))) value.remove_prefix(1);
  while (!value.empty() && std::isspace(static_cast<unsigned char>(value.back()))) value.remove_suffix(1);
  (*headers)[std::move(name)] = value;
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

void Sign(CURL* curl, const AwsSigner& signer, HeaderList* headers) {
  curl_easy_setopt(curl, CURLOPT_AWS_SIGV4,
                   fmt::format("aws:amz:{}:{}", signer.region, signer.service).c_str());
  curl_easy_setopt(curl, CURLOPT_USERNAME, signer.access_key.c_str());
  curl_easy_setopt(curl, CURLOPT_PASSWORD, signer.secret_key.c_str());
  if (!signer.session_token.empty()) headers->Add("X-Amz-Security-Token: " + signer.session_token);
}

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
  // No round trip to ask whether the body is wanted. Of a signed request curl would sign this as a header,
  // and then not send it.
  if (!request.signer) headers.Add("Expect:");
  if (request.signer) Sign(curl, *request.signer, &headers);
  char reason[CURL_ERROR_SIZE] = "";
  curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  // A kept connection that turns out to be closed makes curl say the request again, though the service may
  // have done what it was asked.
  if (request.method != "GET" && request.method != "HEAD" && !request.repeatable) {
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
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, AppendHeader);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &answer.headers);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, reason);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, kConnectMillis);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout_millis));
  curl_easy_setopt(curl, CURLOPT_EXPECT_100_TIMEOUT_MS, kExpectMillis);
  if (request.stall_millis > 0) {
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, static_cast<long>((request.stall_millis + 999) / 1000));
  }
  // What is signed is stored as it is sent: bytes, not a text to be packed on its way.
  if (!request.signer) curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "");
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
