// S3Client: requests to an object store, signed, and said again while saying them again can help.
//
// Any thread; blocks for as long as its attempts take. Every request that it is given must be one that may be
// done twice; whoever must know which of two writers made an object marks it (S3Request::headers) and looks.
// No message holds a key, a token or a query.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/env.h"
#include "base/status.h"
#include "fs/s3/s3_credentials.h"
#include "fs/s3/s3_options.h"
#include "net/http/http_client.h"

namespace caudal {

struct S3Place {
  std::string bucket;
  std::string key;  // without a '/' in front
};

// Of "s3://bucket/key", also s3a: and s3n:. User error if it names no bucket.
Result<S3Place> ParseS3Path(const std::string& path);

struct S3Request {
  std::string method = "GET";
  S3Place place;
  std::vector<std::pair<std::string, std::string>> query;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};

struct S3Answer {
  int code = 0;
  std::string body;
  std::map<std::string, std::string> headers;  // by name in small letters
  std::string error, message;                  // the store's own words, if it says that something is wrong

  bool ok() const { return code >= 200 && code < 300 && error.empty(); }
  std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
};

// How often, and how far apart.
struct S3Patience {
  int attempts = 8;
  int64_t first_pause_millis = 50;
  int64_t longest_pause_millis = 5'000;
  int64_t timeout_millis = 120'000;
  int64_t stall_millis = 15'000;
};

class S3Client {
 public:
  S3Client(S3Options options, std::unique_ptr<S3Credentials> credentials, Env* env, S3Patience patience = {})
      : options_(std::move(options)), credentials_(std::move(credentials)), env_(env), patience_(patience) {}

  // What the store says, whatever it is. An error: it says nothing, or that it cannot now, time after time.
  Result<S3Answer> Send(const S3Request& request);

  Env* env() const { return env_; }

  // An answer that is not as wanted, as an error: "cannot <action> 's3://…': …".
  static Status Failure(const S3Answer& answer, std::string_view action, const S3Place& place);

 private:
  // `store`: where the keys are good.
  std::string Url(const S3Request& request, const S3Options& store);
  S3Answer SendOnce(const S3Request& request, const S3Options& store, const S3Keys& keys, Status* lost);
  // Takes the region that the answer names for the bucket; whether it is another.
  bool LearnRegion(const S3Request& request, const S3Options& store, const S3Answer& answer);
  std::string RegionOf(const std::string& bucket, const S3Options& store);
  void Pause(int attempt);
  std::unique_ptr<HttpClient> TakeClient();
  void GiveBack(std::unique_ptr<HttpClient> client);

  S3Options options_;
  std::unique_ptr<S3Credentials> credentials_;
  Env* env_;
  S3Patience patience_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<HttpClient>> idle_;
  int process_ = 0;                             // whose connections those are
  std::map<std::string, std::string> regions_;  // of buckets, where they are not the option's
};

}  // namespace caudal
