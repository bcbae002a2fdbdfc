// RedisKeyTemplate: how the key columns of a row become a key in the server: 'acct:{account_id}'.
//
// No two rows share a key: every key column stands in the template, and with several of them a value never
// shows the character that ends it; that one and '%' are written %25-like. Plain data; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace caudal {

class RedisKeyTemplate {
 public:
  // `columns`: the names of the key columns. User error: one is missing, a name that is none, two columns
  // that nothing keeps apart.
  static Result<RedisKeyTemplate> Parse(std::string_view text, std::span<const std::string> columns);
  // "<table>:{first}:{second}".
  static std::string DefaultFor(std::string_view table, std::span<const std::string> columns);

  // Appends the key of the row whose key columns have these values, in the order of `columns`.
  void Append(std::span<const std::string> values, std::string* key) const;

 private:
  struct Part {
    std::string text;  // what stands before the column
    size_t column = 0;
  };
  std::vector<Part> parts_;
  std::string tail_;
  std::string escaped_;  // characters that no value may show
};

}  // namespace caudal
