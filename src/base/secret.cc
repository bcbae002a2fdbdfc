#include "base/secret.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <vector>

namespace caudal {
namespace {

constexpr std::string_view kOpen = "${env:";
// Shorter values would mask half of every log line, and are no secrets.
constexpr size_t kShortestSecret = 4;

struct Known {
  std::mutex mutex;
  std::vector<std::string> values;  // longest first, so that no part of a longer one stays
};

Known& KnownSecrets() {
  static Known* known = new Known();
  return *known;
}

void Remember(std::string value) {
  if (value.size() < kShortestSecret) return;
  Known& known = KnownSecrets();
  std::lock_guard lock(known.mutex);
  if (std::find(known.values.begin(), known.values.end(), value) != known.values.end()) return;
  known.values.push_back(std::move(value));
  std::sort(known.values.begin(), known.values.end(),
            [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
}

}  // namespace

Result<std::string> Secrets::Expand(std::string_view text) {
  std::string expanded;
  for (size_t open; (open = text.find(kOpen)) != std::string_view::npos;) {
    const size_t close = text.find('}', open);
    if (close == std::string_view::npos) {
      return Status::User("'${env:' without its '}'").Hint("write ${env:NAME}");
    }
    const std::string name(text.substr(open + kOpen.size(), close - open - kOpen.size()));
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) {
      return Status::User("environment variable '" + name + "' is not set")
          .Hint("export it before the start");
    }
    Remember(value);
    expanded.append(text.substr(0, open)).append(value);
    text.remove_prefix(close + 1);
  }
  return expanded.append(text);
}

std::string Secrets::Redact(std::string text) {
  Known& known = KnownSecrets();
  std::lock_guard lock(known.mutex);
  for (const std::string& value : known.values) {
    for (size_t at; (at = text.find(value)) != std::string::npos;) text.replace(at, value.size(), "***");
  }
  return text;
}

}  // namespace caudal
