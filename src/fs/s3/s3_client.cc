#include "fs/s3/s3_client.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/fault_point.h"
#include "fs/s3/s3_xml.h"

namespace caudal {
namespace {

constexpr size_t kMostIdle = 16;

std::string EncodedKey(std::string_view key) {
  std::string encoded;
  for (size_t begin = 0; begin <= key.size();) {
    const size_t end = std::min(key.find('/', begin), key.size());
    encoded += UrlEncoded(key.substr(begin, end - begin));
    if (end < key.size()) encoded += '/';
    begin = end + 1;
  }
  return encoded;
}

// In hexadecimal digits; what the signature says of the body.
std::string Sha256Of(std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_sha256(), nullptr);
  std::string text;
  for (unsigned i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

// The store asks to be asked again.
bool IsBusy(const S3Answer& answer) {
  const int code = answer.code;
  if (code == 408 || code == 429 || (code >= 500 && code != 501)) return true;
  const std::string& error = answer.error;
  return error == "SlowDown" || error == "InternalError" || error == "RequestTimeout" ||
         error == "OperationAborted" || error == "ConditionalRequestConflict" ||
         error == "ServiceUnavailable";
}

// Some stores say 404 of a key that they do not know, in their own words.
bool AreWrongKeys(const S3Answer& answer) {
  return answer.code == 401 || answer.code == 403 || answer.error == "InvalidAccessKeyId" ||
         answer.error == "SignatureDoesNotMatch" || answer.error == "XAdminUserNotFound";
}

bool AreOldKeys(const S3Answer& answer) {
  return answer.error == "ExpiredToken" || answer.error == "ExpiredTokenException" ||
         answer.error == "TokenRefreshRequired" || answer.error == "InvalidToken";
}

// Whether the body is one that says what became of the request, an error among them, under a 200.
bool MayHideError(const S3Request& request) {
  if (request.method == "POST") return true;
  return request.method == "PUT" && std::ranges::any_of(request.headers, [](const auto& header) {
           return header.first == "x-amz-copy-source";
         });
}

void ReadError(const S3Request& request, S3Answer* answer) {
  const bool failed = answer->code < 200 || answer->code >= 300;
  if (!failed && !MayHideError(request)) return;
  if (!failed && answer->body.empty()) return;
  const Result<XmlElement> xml = ParseXml(answer->body);
  if (xml.ok() && xml->name == "Error") {
    answer->error = xml->Text("Code");
    answer->message = xml->Text("Message");
    if (answer->error.empty()) answer->error = "Error";
  } else if (!xml.ok() && !failed) {
    answer->error = "InternalError";
    answer->message = "the answer is cut";
  }
}

}  // namespace

Result<S3Place> ParseS3Path(const std::string& path) {
  const size_t colon = path.find("://");
  const std::string_view scheme = std::string_view(path).substr(0, colon == std::string::npos ? 0 : colon);
  if (scheme != "s3" && scheme != "s3a" && scheme != "s3n")
    return Status::Internal(fmt::format("'{}' is no path of S3", path));
  const std::string rest = path.substr(colon + 3);
  const size_t slash = std::min(rest.find('/'), rest.size());
  S3Place place{rest.substr(0, slash), rest.substr(std::min(slash + 1, rest.size()))};
  if (place.bucket.empty())
    return Status::User(fmt::format("'{}' names no bucket", path)).Hint("write s3://bucket/path");
  return place;
}

std::string S3Client::Url(const S3Request& request, const S3Options& store) {
  const S3Place& place = request.place;
  std::string endpoint = store.endpoint;
  const bool dotted = place.bucket.find('.') != std::string::npos;
  const bool in_path = store.path_style.value_or(!endpoint.empty() || dotted);
  if (endpoint.empty()) endpoint = fmt::format("https://s3.{}.amazonaws.com", RegionOf(place.bucket, store));
  const size_t host = endpoint.find("://") + 3;
  std::string url =
      in_path ? fmt::format("{}/{}", endpoint, place.bucket)
              : fmt::format("{}{}.{}", endpoint.substr(0, host), place.bucket, endpoint.substr(host));
  url += "/" + EncodedKey(place.key);
  std::vector<std::pair<std::string, std::string>> query;
  for (const auto& [name, value] : request.query) query.emplace_back(UrlEncoded(name), UrlEncoded(value));
  std::ranges::sort(query);
  for (size_t i = 0; i < query.size(); ++i)
    url += fmt::format("{}{}={}", i == 0 ? '?' : '&', query[i].first, query[i].second);
  return url;
}

std::string S3Client::RegionOf(const std::string& bucket, const S3Options& store) {
  const std::lock_guard lock(mutex_);
  const auto found = regions_.find(bucket);
  return found == regions_.end() ? store.region : found->second;
}

bool S3Client::LearnRegion(const S3Request& request, const S3Options& store, const S3Answer& answer) {
  if (answer.code != 301 && answer.code != 307 && answer.code != 400 && answer.code != 403) return false;
  std::string region = answer.header("x-amz-bucket-region");
  if (region.empty()) {
    const Result<XmlElement> xml = ParseXml(answer.body);
    if (xml.ok() && answer.error == "AuthorizationHeaderMalformed") region = xml->Text("Region");
  }
  if (region.empty() || region == RegionOf(request.place.bucket, store)) return false;
  const std::lock_guard lock(mutex_);
  regions_[request.place.bucket] = region;
  return true;
}

void S3Client::Pause(int attempt) {
  int64_t pause = patience_.first_pause_millis << std::min(attempt, 20);
  pause = std::min(pause, patience_.longest_pause_millis);
  // Who was turned away together should not come back together.
  pause = pause / 2 + static_cast<int64_t>(env_->Random() % static_cast<uint64_t>(pause / 2 + 1));
  std::this_thread::sleep_for(std::chrono::milliseconds(pause));
}

std::unique_ptr<HttpClient> S3Client::TakeClient() {
  const std::lock_guard lock(mutex_);
  if (process_ != getpid()) {
    // Those of a parent: its other children have them, too. They are left as they are, for closing one may
    // speak on it.
    for (std::unique_ptr<HttpClient>& client : idle_) static_cast<void>(client.release());
    idle_.clear();
    process_ = getpid();
  }
  if (idle_.empty()) return std::make_unique<HttpClient>();
  std::unique_ptr<HttpClient> client = std::move(idle_.back());
  idle_.pop_back();
  return client;
}

void S3Client::GiveBack(std::unique_ptr<HttpClient> client) {
  const std::lock_guard lock(mutex_);
  if (process_ == getpid() && idle_.size() < kMostIdle) idle_.push_back(std::move(client));
}

S3Answer S3Client::SendOnce(const S3Request& request, const S3Options& store, const S3Keys& keys,
                            Status* lost) {
  HttpRequest http;
  http.method = request.method;
  http.url = Url(request, store);
  http.headers = request.headers;
  http.headers.emplace_back("x-amz-content-sha256", Sha256Of(request.body));
  http.body = request.body;
  http.timeout_millis = patience_.timeout_millis;
  http.stall_millis = patience_.stall_millis;
  http.repeatable = true;
  http.signer = AwsSigner{RegionOf(request.place.bucket, store), "s3", keys.access_key, keys.secret_key,
                          keys.session_token};
  std::unique_ptr<HttpClient> client = TakeClient();
  HttpAnswer got = client->Send(http);
  GiveBack(std::move(client));
  *lost = std::move(got.status);
  S3Answer answer;
  if (!lost->ok()) return answer;
  answer.code = got.code;
  answer.body = std::move(got.body);
  answer.headers = std::move(got.headers);
  ReadError(request, &answer);
  return answer;
}

Result<S3Answer> S3Client::Send(const S3Request& request) {
  bool renewed = false;
  for (int attempt = 1;; ++attempt) {
    FAULT_POINT(network_send);
    ASSIGN_OR_RETURN(const S3Keys keys, credentials_->Get(false));
    const S3Options& store = keys.store ? *keys.store : options_;
    Status lost;
    S3Answer answer = SendOnce(request, store, keys, &lost);
    FAULT_POINT(network_receive);
    if (lost.ok() && AreOldKeys(answer) && !renewed) {
      renewed = true;
      RETURN_IF_ERROR(credentials_->Get(true).status());
      continue;
    }
    if (lost.ok() && LearnRegion(request, store, answer)) continue;
    if (lost.ok() && !IsBusy(answer)) return answer;
    if (attempt >= patience_.attempts) {
      if (lost.ok()) return Failure(answer, "ask for", request.place);
      return Status::External(
                 fmt::format("cannot reach the store of 's3://{}': {}", request.place.bucket, lost.message()),
                 Retry::kBackoff)
          .Hint(
              "check 's3.endpoint' or AWS_ENDPOINT_URL_S3; the query goes on by itself when the store "
              "answers");
    }
    Pause(attempt - 1);
  }
}

Status S3Client::Failure(const S3Answer& answer, std::string_view action, const S3Place& place) {
  const std::string path = fmt::format("s3://{}/{}", place.bucket, place.key);
  std::string said = fmt::format("cannot {} '{}': the store answers {}{}{}{}{}", action, path, answer.code,
                                 answer.error.empty() ? "" : " ", answer.error,
                                 answer.message.empty() ? "" : ": ", answer.message);
  if (IsBusy(answer)) return Status::External(std::move(said), Retry::kBackoff);
  if (answer.error == "NoSuchBucket") {
    return Status::External(fmt::format("there is no bucket '{}' at this store", place.bucket),
                            Retry::kRestart)
        .Hint("make it, or check 's3.endpoint' and the path");
  }
  if (AreWrongKeys(answer) || AreOldKeys(answer)) {
    return Status::External(std::move(said), Retry::kBackoff)
        .Hint("check the credentials and what they are allowed to do (docs/object-stores.md)");
  }
  if (answer.code == 404 && (answer.error.empty() || answer.error == "NoSuchKey")) {
    return Status::External(fmt::format("cannot {} '{}': no such file or folder", action, path),
                            Retry::kRestart)
        .Hint("check the path");
  }
  return Status::External(std::move(said), Retry::kRestart);
}

}  // namespace caudal
