// DeadLetterTable: turns rejected rows into rows of the query's dead-letter table.
//
// The table declares any of these columns, by name; others are refused when the job starts:
//   query STRING         pipeline/query, as ops.* has it: two queries may share the table
//   source STRING        the table that was read, as far as it is known
//   split INT            ordinal of the split within its source
//   offset BIGINT        where the record begins in its split
//   file STRING          the file, or the partition of a topic ("clicks[3]"), that the offset counts in
//   topic STRING, partition INT   of a record of a topic
//   raw BYTES | STRING   the record as it was read
//   key BYTES | STRING   its key
//   headers MAP<STRING, BYTES>    its headers, and the reason (dead_letter_headers.h)
//   error_class STRING   malformed, contract, expression, sink or late
//   error_message STRING
//   operator STRING      plan node that rejected the row
//   rejected_at TIMESTAMP_LTZ(3)   processing time
// Immutable after Make; any thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "api/operator.h"
#include "api/source.h"
#include "api/table.h"
#include "run/scan/dead_letter_headers.h"

namespace caudal {

class DeadLetterTable {
 public:
  static Result<DeadLetterTable> Make(const Table& table, DeadLetterOwner owner);

  const Table& table() const { return table_; }

  // The selected rows of `chunk`, which has the columns of `schema`; hidden ones tell where rows came from.
  // `source`: the table they were read from; empty = they come from several.
  Chunk FromRows(const Chunk& chunk, const Schema& schema, const Rejection& rejection,
                 const std::string& source, const DeadLetterWitness& witness) const;
  // Records that never became rows.
  Chunk FromRecords(std::span<const RejectedRecord> records, const std::string& source, int split,
                    const DeadLetterWitness& witness) const;

 private:
  enum class Content {
    kQuery,
    kSource,
    kFile,
    kSplit,
    kOffset,
    kRaw,
    kClass,
    kMessage,
    kOperator,
    kTime,
    kTopic,
    kPartition,
    kKey,
    kHeaders
  };

  DeadLetterTable(Table table, DeadLetterOwner owner) : table_(std::move(table)), owner_(std::move(owner)) {}
  void Append(Content content, const DeadLetterCell& cell, ColumnBuilder& builder) const;
  // Rows by asking `fill` for each cell; shared by both doors.
  template <typename Fill>
  Chunk Build(int32_t rows, Fill fill) const;

  Table table_;
  DeadLetterOwner owner_;
  std::vector<Type> types_;
  std::vector<Content> contents_;
};

}  // namespace caudal
