#include "fs/s3/s3_credentials.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>

#include "fs/file_system.h"

namespace caudal {
namespace {

constexpr int64_t kRenewBeforeMillis = 5 * 60'000;
constexpr int64_t kPartOfItsTime = 3;  // of keys that last less
constexpr int64_t kAskAgainMillis = 30'000;
constexpr int64_t kServiceMillis = 2'000;  // the service is next door, or there is none
constexpr const char* kContainerHost = "http://169.254.170.2";
constexpr const char* kInstanceHost = "http://169.254.169.254";

class FixedS3Credentials : public S3Credentials {
 public:
  explicit FixedS3Credentials(S3Keys keys) : keys_(std::move(keys)) {}
  Result<S3Keys> Get(bool) override { return keys_; }

 private:
  S3Keys keys_;
};

// What the environment says, in the order of Amazon's own clients.
class S3CredentialChain : public RenewedS3Credentials {
 public:
  S3CredentialChain(EnvironmentVariables variables, Env* env)
      : RenewedS3Credentials(env), variables_(std::move(variables)) {}

 protected:
  Result<S3Keys> Fetch() override {
    S3Keys keys{Variable("AWS_ACCESS_KEY_ID"),
                Variable("AWS_SECRET_ACCESS_KEY"),
                Variable("AWS_SESSION_TOKEN"),
                0,
                {}};
    if (!keys.access_key.empty() && !keys.secret_key.empty()) return keys;
    std::map<std::string, std::string> profile = ReadProfile(variables_, true);
    keys = {
        profile["aws_access_key_id"], profile["aws_secret_access_key"], profile["aws_session_token"], 0, {}};
    if (!keys.access_key.empty() && !keys.secret_key.empty()) {
      // The file may be rewritten by whoever keeps it.
      constexpr int64_t kMillis = 10 * 60'000;
      keys.expires_millis = env()->NowMillis() + kMillis + kRenewBeforeMillis;
      return keys;
    }
    const std::string container = ContainerUrl();
    if (!container.empty()) return FromContainer(container);
    if (Variable("AWS_EC2_METADATA_DISABLED") != "true") {
      Result<S3Keys> instance = FromInstance();
      if (instance.ok() || has_service_) return instance;
    }
    return Status::User("there are no credentials for s3://")
        .Hint(
            "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, keep a profile in ~/.aws/credentials, or give "
            "the table 's3.access-key-id' and 's3.secret-access-key'");
  }

 private:
  std::string Variable(const char* name) const {
    const auto found = variables_.find(name);
    return found == variables_.end() ? "" : found->second;
  }

  std::string ContainerUrl() const {
    const std::string relative = Variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
    return relative.empty() ? Variable("AWS_CONTAINER_CREDENTIALS_FULL_URI") : kContainerHost + relative;
  }

  // Without the query, which may hold a secret. `*code`: what it answered; 0: nothing.
  static Result<std::string> Ask(HttpRequest request, int* code) {
    request.timeout_millis = kServiceMillis;
    HttpClient client;
    const HttpAnswer answer = client.Send(request);
    const std::string service =
        fmt::format("the service of credentials '{}'", request.url.substr(0, request.url.find('?')));
    *code = answer.status.ok() ? answer.code : 0;
    if (*code == 200) return answer.body;
    const std::string said = *code == 0 ? fmt::format("cannot reach {}: {}", service, answer.status.message())
                                        : fmt::format("{} answers {}", service, *code);
    return Status::External(said, Retry::kBackoff)
        .Hint("the query goes on by itself when the service gives keys");
  }

  static Result<S3Keys> FromJson(const std::string& text) {
    const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
    const auto member = [&](const char* name) {
      return json.is_object() && json.contains(name) && json[name].is_string() ? json[name].get<std::string>()
                                                                               : std::string();
    };
    S3Keys keys{member("AccessKeyId"),
                member("SecretAccessKey"),
                member("Token"),
                ParseS3Time(member("Expiration")),
                {}};
    if (!keys.access_key.empty() && !keys.secret_key.empty()) return keys;
    return Status::External("a service of credentials gives none", Retry::kBackoff);
  }

  Result<S3Keys> FromContainer(const std::string& url) {
    HttpRequest request;
    request.url = url;
    std::string token = Variable("AWS_CONTAINER_AUTHORIZATION_TOKEN");
    const std::string file = Variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
    if (!file.empty()) {
      ASSIGN_OR_RETURN(token, FileSystem::Local()->ReadAll(file));
      while (token.ends_with('\n')) token.pop_back();
    }
    if (!token.empty()) request.headers.emplace_back("Authorization", token);
    int code = 0;
    ASSIGN_OR_RETURN(const std::string text, Ask(std::move(request), &code));
    return FromJson(text);
  }

  // Where there is a role, or may be one, the service will give later what it does not give now.
  Result<std::string> AskInstance(HttpRequest request, bool role_is_known) {
    int code = 0;
    Result<std::string> text = Ask(std::move(request), &code);
    const bool is_busy = code == 408 || code == 429 || code >= 500;
    if (is_busy || (code == 200 && role_is_known)) has_service_ = true;
    return text;
  }

  Result<S3Keys> FromInstance() {
    std::string host = Variable("AWS_EC2_METADATA_SERVICE_ENDPOINT");
    if (host.empty()) host = kInstanceHost;
    HttpRequest request;
    request.method = "PUT";
    request.url = host + "/latest/api/token";
    request.headers = {{"X-aws-ec2-metadata-token-ttl-seconds", "21600"}};
    ASSIGN_OR_RETURN(const std::string token, AskInstance(std::move(request), false));
    HttpRequest asked;
    asked.headers = {{"X-aws-ec2-metadata-token", token}};
    asked.url = host + "/latest/meta-data/iam/security-credentials/";
    ASSIGN_OR_RETURN(const std::string roles, AskInstance(asked, true));
    asked.url += roles.substr(0, roles.find('\n'));
    ASSIGN_OR_RETURN(const std::string text, AskInstance(asked, true));
    return FromJson(text);
  }

  EnvironmentVariables variables_;
  bool has_service_ = false;  // the instance's gave keys, or said that it cannot now
};

class GrantedS3Credentials : public RenewedS3Credentials {
 public:
  GrantedS3Credentials(AskForGrant ask, S3Options base, std::unique_ptr<S3Credentials> otherwise, Env* env)
      : RenewedS3Credentials(env),
        ask_(std::move(ask)),
        base_(std::move(base)),
        otherwise_(std::move(otherwise)) {}

 protected:
  Result<S3Keys> Fetch() override {
    ASSIGN_OR_RETURN(const FileGrant grant, ask_());
    ASSIGN_OR_RETURN(S3Options store, S3Options::From(grant.options, base_));
    S3Keys keys{store.access_key, store.secret_key, store.session_token, grant.expires_millis, {}};
    if (keys.access_key.empty()) {
      ASSIGN_OR_RETURN(keys, otherwise_->Get(fetched_));
    }
    fetched_ = true;
    keys.store = std::move(store);
    return keys;
  }

 private:
  AskForGrant ask_;
  S3Options base_;
  std::unique_ptr<S3Credentials> otherwise_;
  bool fetched_ = false;
};

}  // namespace

std::unique_ptr<S3Credentials> MakeGrantedS3Credentials(AskForGrant ask, S3Options base,
                                                        std::unique_ptr<S3Credentials> otherwise, Env* env) {
  return std::make_unique<GrantedS3Credentials>(std::move(ask), std::move(base), std::move(otherwise), env);
}

Result<S3Keys> RenewedS3Credentials::Get(bool renew) {
  const std::lock_guard lock(mutex_);
  const bool old = keys_ && keys_->expires_millis > 0 && env_->NowMillis() >= renew_at_millis_;
  if (keys_ && !renew && !old) return *keys_;
  Result<S3Keys> fresh = Fetch();
  const int64_t now = env_->NowMillis();
  if (fresh.ok()) {
    keys_ = *std::move(fresh);
    const int64_t lasts = keys_->expires_millis - now;
    renew_at_millis_ = keys_->expires_millis - std::min(kRenewBeforeMillis, lasts / kPartOfItsTime);
    return *keys_;
  }
  // What has some minutes left is good until it is refused; and each request in between would wait for
  // whoever does not answer.
  const bool lasts = keys_ && !renew && now < keys_->expires_millis;
  if (!lasts) return fresh;
  renew_at_millis_ = std::min(now + kAskAgainMillis, keys_->expires_millis);
  return *keys_;
}

std::unique_ptr<S3Credentials> FindS3Credentials(const S3Options& options, EnvironmentVariables variables,
                                                 Env* env) {
  if (!options.access_key.empty()) {
    return std::make_unique<FixedS3Credentials>(
        S3Keys{options.access_key, options.secret_key, options.session_token, 0, {}});
  }
  return std::make_unique<S3CredentialChain>(std::move(variables), env);
}

int64_t ParseS3Time(const std::string& text) {
  std::tm time = {};
  const char* rest = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &time);
  if (rest == nullptr) return 0;
  int64_t millis = 0, unit = 100;
  if (*rest == '.') {
    for (++rest; *rest >= '0' && *rest <= '9'; ++rest, unit /= 10) millis += (*rest - '0') * unit;
  }
  return *rest == 'Z' ? static_cast<int64_t>(timegm(&time)) * 1000 + millis : 0;
}

}  // namespace caudal
