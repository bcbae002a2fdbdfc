#include "base/secret.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <vector>

namespace caudal {
namespace {

constexpr std::string_view kOpen = "${env:";
constexpr std::string_view kMask = "***";
// Shorter values would mask half of every log line, if they were masked within words.
constexpr size_t kShortestSecret = 4;

struct Known {
  std::mutex mutex;
  std::vector<std::string> values;  // longest first, so that no part of a longer one stays
};

Known& KnownSecrets() {
  static Known* known = new Known();
  return *known;
}

// As JSON and the run's log write it in quotation marks.
std::string Escaped(const std::string& value) {
  std::string escaped;
  for (const char c : value) {
    constexpr std::string_view kPlain = "\"\\\n\r\t\b\f", kEscapes = "\"\\nrtbf";
    const size_t found = kPlain.find(c);
    char code[8];
    if (found != std::string_view::npos) {
      escaped.append(1, '\\').append(1, kEscapes[found]);
    } else if (static_cast<unsigned char>(c) < 0x20) {
      escaped.append(code, static_cast<size_t>(std::snprintf(code, sizeof code, "\\u%04x", c)));
    } else {
      escaped += c;
    }
  }
  return escaped;
}

void Remember(std::string value) {
  if (value.empty()) return;
  Known& known = KnownSecrets();
  std::lock_guard lock(known.mutex);
  if (std::find(known.values.begin(), known.values.end(), value) != known.values.end()) return;
  std::string escaped = Escaped(value);
  if (escaped != value) known.values.push_back(std::move(escaped));
  known.values.push_back(std::move(value));
  std::sort(known.values.begin(), known.values.end(),
            [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
}

bool IsWord(const std::string& text, size_t at) {
  return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
}

// In one pass from the left, so that no mask is masked again.
std::string Mask(const std::string& text, bool short_ones) {
  Known& known = KnownSecrets();
  std::lock_guard lock(known.mutex);
  std::string masked;
  size_t done = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const auto stands_here = [&](const std::string& value) {
      if (text.compare(at, value.size(), value) != 0) return false;
      if (value.size() >= kShortestSecret) return true;
      return short_ones && !(at > 0 && IsWord(text, at - 1)) && !IsWord(text, at + value.size());
    };
    const auto found = std::find_if(known.values.begin(), known.values.end(), stands_here);
    if (found == known.values.end()) continue;
    masked.append(text, done, at - done).append(kMask);
    done = at + found->size();
    at = done - 1;
  }
  return masked.append(text, done);
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

std::string Secrets::Redact(std::string text) { return Mask(text, false); }
std::string Secrets::RedactMessage(std::string text) { return Mask(text, true); }

}  // namespace caudal
