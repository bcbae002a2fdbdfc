// S3Options: where an object store is, and who asks it. Plain data; holds secrets.
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace caudal {

// The process's AWS_… and HOME variables, read once by whoever may.
using EnvironmentVariables = std::map<std::string, std::string>;

struct S3Options {
  std::string endpoint;            // "https://host:port", without a final '/'; empty: Amazon's, of the region
  std::string region;              // never empty
  std::optional<bool> path_style;  // the bucket in the path, not in the host's name; unset: with an endpoint
  std::string access_key, secret_key, session_token;  // empty: as the environment has them

  // AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, AWS_REGION, AWS_DEFAULT_REGION, the profile's region.
  static S3Options FromEnvironment(const EnvironmentVariables& variables);
  // `base`, with what the options 's3.*' and 'client.region' say, as Iceberg's clients name them. User error
  // for what makes no sense, and for an 's3.*' that is none of them.
  static Result<S3Options> From(const std::map<std::string, std::string, std::less<>>& options,
                                S3Options base);
  // Whether any of `options` is of a store.
  static bool AreIn(const std::map<std::string, std::string, std::less<>>& options);

  auto operator<=>(const S3Options&) const = default;
};

// A section of the shared file `~/.aws/config` or `~/.aws/credentials`, by key; empty if there is none.
std::map<std::string, std::string> ReadProfile(const EnvironmentVariables& variables, bool credentials);

}  // namespace caudal
