// Schema: the ordered columns of a table or of a plan node's output. Plain data.
//
// Hidden columns are ordinary columns with reserved names at the end of the schema; the planner adds them
// where an operator or a dead-letter table needs them and prunes them elsewhere:
//   $clock   BIGINT NOT NULL  the clock of the row's split before the row, in ms (INT64_MIN: none yet)
//   $split   INT NOT NULL     ordinal of the split within its source
//   $offset  BIGINT NOT NULL  where the row begins in its split, in the connector's unit
//   $raw     BYTES            the record as it was read, for a dead-letter table
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/type.h"

namespace caudal {

inline constexpr std::string_view kClockColumn = "$clock";
inline constexpr std::string_view kSplitColumn = "$split";
inline constexpr std::string_view kOffsetColumn = "$offset";
inline constexpr std::string_view kRawColumn = "$raw";

struct Schema {
  std::vector<Field> fields;

  int size() const { return static_cast<int>(fields.size()); }
  const Field& operator[](int i) const { return fields[static_cast<size_t>(i)]; }
  // Position of the column, by exact name as in Flink; empty if there is none.
  std::optional<int> Find(std::string_view name) const {
    for (size_t i = 0; i < fields.size(); ++i) {
      if (fields[i].name == name) return static_cast<int>(i);
    }
    return std::nullopt;
  }
  bool operator==(const Schema& other) const = default;
};

}  // namespace caudal
