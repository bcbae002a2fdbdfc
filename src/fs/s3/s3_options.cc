#include "fs/s3/s3_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "fs/file_system.h"

namespace caudal {
namespace {

constexpr std::string_view kPrefix = "s3.";
constexpr std::string_view kNames[] = {"s3.endpoint",         "s3.region",        "client.region",
                                       "s3.access-key-id",    "s3.session-token", "s3.path-style-access",
                                       "s3.secret-access-key"};

std::string Variable(const EnvironmentVariables& variables, const char* name) {
  const auto found = variables.find(name);
  return found == variables.end() ? "" : found->second;
}

std::string Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return std::string(text);
}

}  // namespace

std::map<std::string, std::string> ReadProfile(const EnvironmentVariables& variables, bool credentials) {
  std::string path = Variable(variables, credentials ? "AWS_SHARED_CREDENTIALS_FILE" : "AWS_CONFIG_FILE");
  const std::string home = Variable(variables, "HOME");
  if (path.empty() && home.empty()) return {};
  if (path.empty()) path = home + (credentials ? "/.aws/credentials" : "/.aws/config");
  const Result<std::string> text = FileSystem::Local()->ReadAll(path);
  if (!text.ok()) return {};
  std::string profile = Variable(variables, "AWS_PROFILE");
  if (profile.empty()) profile = "default";
  std::map<std::string, std::string> found;
  bool inside = false;
  for (size_t begin = 0; begin < text->size();) {
    const size_t end = std::min(text->find('\n', begin), text->size());
    const std::string line = Trimmed(std::string_view(*text).substr(begin, end - begin));
    begin = end + 1;
    if (line.empty() || line[0] == '#' || line[0] == ';') continue;
    if (line[0] == '[') {
      std::string name = Trimmed(std::string_view(line).substr(1, line.find(']') - 1));
      if (name.starts_with("profile ")) name = Trimmed(std::string_view(name).substr(8));
      inside = name == profile;
      continue;
    }
    const size_t equals = line.find('=');
    if (!inside || equals == std::string::npos) continue;
    found[Trimmed(line.substr(0, equals))] = Trimmed(line.substr(equals + 1));
  }
  return found;
}

S3Options S3Options::FromEnvironment(const EnvironmentVariables& variables) {
  S3Options options;
  options.endpoint = Variable(variables, "AWS_ENDPOINT_URL_S3");
  if (options.endpoint.empty()) options.endpoint = Variable(variables, "AWS_ENDPOINT_URL");
  while (options.endpoint.ends_with('/')) options.endpoint.pop_back();
  options.region = Variable(variables, "AWS_REGION");
  if (options.region.empty()) options.region = Variable(variables, "AWS_DEFAULT_REGION");
  if (options.region.empty()) options.region = ReadProfile(variables, false)["region"];
  if (options.region.empty()) options.region = "us-east-1";
  return options;
}

Result<S3Options> S3Options::From(const std::map<std::string, std::string, std::less<>>& options,
                                  S3Options base) {
  for (const auto& [name, value] : options) {
    if (!name.starts_with(kPrefix) || std::ranges::find(kNames, name) != std::end(kNames)) continue;
    return Status::User(fmt::format("option '{}' is not known", name))
        .Hint(fmt::format("the options of s3:// are '{}'", fmt::join(kNames, "', '")));
  }
  const auto take = [&](std::string_view name, std::string* to) {
    const auto found = options.find(name);
    if (found != options.end() && !found->second.empty()) *to = found->second;
  };
  take("s3.endpoint", &base.endpoint);
  take("client.region", &base.region);
  take("s3.region", &base.region);
  take("s3.access-key-id", &base.access_key);
  take("s3.secret-access-key", &base.secret_key);
  take("s3.session-token", &base.session_token);
  while (base.endpoint.ends_with('/')) base.endpoint.pop_back();
  if (!base.endpoint.empty() && base.endpoint.find("://") == std::string::npos) {
    return Status::User(fmt::format("'s3.endpoint' = '{}' is no address", base.endpoint))
        .Hint("write 'https://host:port'");
  }
  if (base.access_key.empty() != base.secret_key.empty()) {
    return Status::User("'s3.access-key-id' and 's3.secret-access-key' go together")
        .Hint("name both, or neither to take those of the environment");
  }
  std::string style;
  take("s3.path-style-access", &style);
  if (style == "true" || style == "false") base.path_style = style == "true";
  if (!style.empty() && style != "true" && style != "false")
    return Status::User(fmt::format("'s3.path-style-access' = '{}' is neither 'true' nor 'false'", style));
  return base;
}

bool S3Options::AreIn(const std::map<std::string, std::string, std::less<>>& options) {
  return std::ranges::any_of(options, [](const auto& option) {
    return option.first.starts_with(kPrefix) || std::ranges::find(kNames, option.first) != std::end(kNames);
  });
}

}  // namespace caudal
