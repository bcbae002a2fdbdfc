// RawDecoder: format 'raw' as in Flink: a record's bytes are the value of the one column.
//
// Text and bytes as they are; numbers big endian, of exactly their width. One decoder for each reader.
#pragma once

#include <memory>

#include "data/schema.h"
#include "format/decoder.h"

namespace caudal {

class RawDecoder : public Decoder {
 public:
  // User error unless there is exactly one column, of a type that raw has.
  static Result<std::unique_ptr<RawDecoder>> Make(const Schema& schema);

  Status Decode(const RawBatch& batch, DecodedRows* out) override;

 private:
  explicit RawDecoder(Field field) : field_(std::move(field)) {}
  ColumnPtr DecodeNumbers(const RawBatch& batch, DecodedRows* out) const;

  Field field_;
};

}  // namespace caudal
