// KafkaEnvelope: rows of a sink's table as records: key, value, timestamp and headers, a column each.
//
// What a segment of the checkpoint holds of them and the commit sends (docs/formats/kafka-segment.md). One
// thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "connect/kafka/sink/kafka_sink_options.h"
#include "data/chunk.h"
#include "format/decoder.h"

namespace caudal {

class KafkaEnvelope {
 public:
  // Columns of an envelope: BYTES, BYTES, BIGINT (milliseconds since 1970), BYTES (AppendHeader); each may be
  // NULL.
  enum Part { kKey, kValue, kTimestamp, kHeaders };

  // User error for a column that a format cannot take, or metadata that cannot be written.
  static Result<KafkaEnvelope> Make(const Table& table, const KafkaSinkOptions& options);

  // One row each selected row of `chunk`, in order; a delete has no value.
  Result<Chunk> Seal(const Chunk& chunk);

 private:
  // One of the two halves of a record.
  struct Half {
    std::unique_ptr<Encoder> encoder;  // null: `columns` is one column, taken as it is
    std::vector<int> columns;          // positions in a chunk
    std::string text;
    std::vector<size_t> ends;
  };
  static Status MakeHalf(const Table& table, std::string_view format, const Options& options, Schema schema,
                         Half* half);
  static Result<ColumnPtr> Encode(const Chunk& chunk, const std::vector<RowKind>* kinds, Half* half);

  bool has_key_ = false;
  Half key_, value_;
  int timestamp_ = -1;  // position in a chunk; -1: none is written
  int headers_ = -1;
};

// Appends one header of a record. `value`: null pointer for NULL.
void AppendHeader(std::string_view name, const std::string_view* value, std::string* out);
// Reads the header at `*at` and moves `*at` behind it; `value->data()` is null for NULL. False when the bytes
// end too early.
bool ReadHeader(std::string_view bytes, size_t* at, std::string_view* name, std::string_view* value);

}  // namespace caudal
