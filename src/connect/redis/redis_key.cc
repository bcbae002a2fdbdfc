#include "connect/redis/redis_key.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace caudal {
namespace {

// A letter or digit could be taken for a part of an escape.
bool KeepsApart(std::string_view text) {
  if (text.empty() || text.front() == '%') return false;
  const auto first = static_cast<unsigned char>(text.front());
  return std::ispunct(first) != 0 || first == ' ';
}

Status Wrong(std::string_view text, std::string_view why) {
  return Status::User(fmt::format("'caudal.key' = '{}': {}", text, why));
}

}  // namespace

std::string RedisKeyTemplate::DefaultFor(std::string_view table, std::span<const std::string> columns) {
  std::string text(table);
  for (const std::string& column : columns) text += ":{" + column + "}";
  return text;
}

Result<RedisKeyTemplate> RedisKeyTemplate::Parse(std::string_view text,
                                                 std::span<const std::string> columns) {
  RedisKeyTemplate result;
  std::vector<bool> used(columns.size(), false);
  std::string_view rest = text;
  for (size_t open; (open = rest.find('{')) != std::string_view::npos;) {
    const size_t close = rest.find('}', open);
    if (close == std::string_view::npos) return Wrong(text, "a '{' without its '}'");
    const std::string_view name = rest.substr(open + 1, close - open - 1);
    const auto found = std::find(columns.begin(), columns.end(), name);
    if (found == columns.end()) {
      return Wrong(text, fmt::format("'{}' is no column of the primary key", name))
          .Hint(fmt::format("its columns are {}; a row that is deleted tells no others",
                            fmt::join(columns, ", ")));
    }
    const auto column = static_cast<size_t>(found - columns.begin());
    const std::string_view before = rest.substr(0, open);
    if (!result.parts_.empty()) {
      if (!KeepsApart(before)) {
        return Wrong(text, fmt::format("nothing keeps '{}' and '{}' apart",
                                       columns[result.parts_.back().column], name))
            .Hint("put a ':' or another sign that is neither '%' nor a letter or digit between them");
      }
      result.escaped_ += before.front();
    }
    used[column] = true;
    result.parts_.push_back({std::string(before), column});
    rest.remove_prefix(close + 1);
  }
  const auto missing = std::find(used.begin(), used.end(), false);
  if (missing != used.end()) {
    return Wrong(text, fmt::format("column '{}' of the primary key is missing: rows would share a key",
                                   columns[static_cast<size_t>(missing - used.begin())]));
  }
  result.tail_ = rest;
  if (!result.escaped_.empty()) result.escaped_ += '%';
  return result;
}

void RedisKeyTemplate::Append(std::span<const std::string> values, std::string* key) const {
  for (const Part& part : parts_) {
    key->append(part.text);
    for (const char c : values[part.column]) {
      if (escaped_.find(c) == std::string::npos) {
        key->push_back(c);
      } else {
        fmt::format_to(std::back_inserter(*key), "%{:02X}", static_cast<unsigned char>(c));
      }
    }
  }
  key->append(tail_);
}

}  // namespace caudal
