// Decoder: records (spans of bytes) to columns. Encoder: columns to bytes. One interface for every row
// format.
//
// A decoder belongs to one reader and its thread; it may keep dictionaries between batches. The columns it
// gives point into the batch's pinned buffers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "data/chunk.h"
#include "data/schema.h"

namespace caudal {

struct RawRecord {
  std::string_view value;  // Buffer::kPadding readable bytes follow it
  std::string_view key;
  int64_t offset = 0;
  int64_t timestamp_millis = 0;
  bool cut = false;  // only its beginning is here: it is longer than kMaxRecordBytes, which is an error of it
};

inline constexpr int64_t kMaxRecordBytes = 64 << 20;
inline constexpr std::string_view kRecordCut = "the record is longer than 64 MB, of which the start is kept";

struct RawBatch {
  std::vector<RawRecord> records;
  std::vector<BufferPtr> pins;  // what the spans point into
};

struct DecodeError {
  int32_t record;  // position in the batch
  std::string message;
  std::string hint = {};  // which option or type would read it; empty: none is known
};

struct DecodedRows {
  std::vector<ColumnPtr> columns;  // of the decoder's schema
  int32_t row_count = 0;
  std::vector<int32_t>
      record_of_row;       // empty: row i is record i, and failed records are in `errors` and deselected
  SelectionPtr selection;  // rows that decoded; null = all
  std::vector<DecodeError> errors;  // ascending by record
  int64_t ignored_values = 0;       // that could not be read and, as an option says, became NULL
};

class Decoder {
 public:
  virtual ~Decoder() = default;
  // At most Chunk::kMaxRows rows come out; REQUIRES: batch.records.size() <= Chunk::kMaxRows. A record that
  // explodes into more rows than fit is an error of that record.
  virtual Status Decode(const RawBatch& batch, DecodedRows* out) = 0;
};

class Encoder {
 public:
  virtual ~Encoder() = default;
  // Appends each selected row's bytes to `out` and where it ends to `ends`; no separators.
  virtual Status Encode(const Chunk& chunk, std::string* out, std::vector<size_t>* ends) = 0;
};

}  // namespace caudal
