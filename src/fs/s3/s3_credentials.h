// S3Credentials: the keys that requests are signed with, from wherever they come, renewed before they run
// out.
//
// Any thread; Get may block on a request of its own. What it holds is never printed.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/env.h"
#include "base/status.h"
#include "fs/s3/s3_options.h"
#include "fs/store_file_system.h"
#include "net/http/http_client.h"

namespace caudal {

struct S3Keys {
  std::string access_key, secret_key, session_token;
  int64_t expires_millis = 0;  // wall clock; 0: they do not
  // Where they are good, if whoever gave them says so.
  std::optional<S3Options> store;
};

class S3Credentials {
 public:
  virtual ~S3Credentials() = default;
  // `renew`: those that it gave last were refused. User error if there are none.
  virtual Result<S3Keys> Get(bool renew) = 0;
};

// Those of `options`, or the first that there are: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the profile
// in the shared file, the container's service, the instance's.
std::unique_ptr<S3Credentials> FindS3Credentials(const S3Options& options, EnvironmentVariables variables,
                                                 Env* env);

// Those that a grant gives, with where they are good: what it leaves out is as in `base`. A grant without
// keys: those of `otherwise`.
std::unique_ptr<S3Credentials> MakeGrantedS3Credentials(AskForGrant ask, S3Options base,
                                                        std::unique_ptr<S3Credentials> otherwise, Env* env);

// "2026-03-01T12:00:00Z", with or without a fraction, as ms since 1970; 0 if it is no such time.
int64_t ParseS3Time(const std::string& text);

// Keys that `fetch` gets and that run out: asked for anew before they do, and when they were refused. For
// those that a catalog vends.
class RenewedS3Credentials : public S3Credentials {
 public:
  explicit RenewedS3Credentials(Env* env) : env_(env) {}
  Result<S3Keys> Get(bool renew) override;

 protected:
  // One call at a time.
  virtual Result<S3Keys> Fetch() = 0;
  Env* env() const { return env_; }

 private:
  Env* env_;
  std::mutex mutex_;
  std::optional<S3Keys> keys_;
  int64_t renew_at_millis_ = 0;  // once there are some that run out
};

}  // namespace caudal
