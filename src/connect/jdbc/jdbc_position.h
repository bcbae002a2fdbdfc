// JdbcPosition: how far a table is read: the last row by rowid or by key, and the number of rows, which is
// all that is known of a view and in positions of earlier forms. Plain data.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "api/source.h"

namespace caudal {

struct JdbcPosition {
  std::optional<int64_t> after;
  nlohmann::json key;
  int64_t rows = 0;

  // `origin`, `file`: what is read. Refuses (User) a position of another table or file. Empty text: the
  // start.
  static Result<JdbcPosition> Parse(const Position& text, const std::string& origin, const std::string& file);
  Position ToText(const std::string& origin, const std::string& file) const;
};

}  // namespace caudal
