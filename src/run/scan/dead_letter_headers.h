// The headers of a dead letter: those of the record that it was, then why it is one.
//
// Names: Kafka Connect's `__connect.errors.*`, so that its tools read them, and `__caudal.errors.*` for what
// Connect has no name for (docs/operations.md, "Dead letters"). Values are text. Free functions and plain
// data; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/source.h"
#include "data/column_builder.h"

namespace caudal {

// A partition of a topic, as sources name it: "clicks[3]".
struct RecordOrigin {
  std::string_view topic;
  int32_t partition = 0;
  // Nothing for the name of a file.
  static std::optional<RecordOrigin> Of(std::string_view text);
};

// What is known of one rejected row.
struct DeadLetterCell {
  std::optional<std::string_view> source;  // the table that was read
  std::optional<std::string_view> file;    // or partition, that `offset` counts in
  std::optional<int64_t> split;
  std::optional<int64_t> offset;
  std::optional<std::string_view> raw;
  std::optional<std::string_view> key;
  // The record's own headers: row `row` of a MAP column, or a list; null: none.
  const Column* header_column = nullptr;
  int32_t row = 0;
  const RecordHeaders* header_list = nullptr;
  std::string_view error_class;
  std::string_view message;
  std::string_view place;       // in the SQL; empty: of no expression
  std::string_view node;        // the plan's operator
  int task = 0;                 // of that operator
  int64_t arrival_millis = -1;  // when the record came into its topic; -1: not known
  int64_t now_millis = 0;
};

// Who rejects, and when.
struct DeadLetterWitness {
  std::string_view node;  // the plan's operator
  int task = 0;
  int64_t now_millis = 0;
};

struct DeadLetterOwner {
  std::string query;    // pipeline/query, as ops.* has it
  std::string version;  // of the pipeline file; empty: there is none
};

inline constexpr std::string_view kConnectErrors = "__connect.errors.";
inline constexpr std::string_view kCaudalErrors = "__caudal.errors.";

// One row of a MAP<STRING, BYTES>.
void AppendDeadLetterHeaders(const DeadLetterCell& cell, const DeadLetterOwner& owner,
                             ColumnBuilder* builder);

}  // namespace caudal
