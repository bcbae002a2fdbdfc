// JsonDecoder: JSON objects, one a record, straight into columns, by Flink's rules (docs/formats/json.md).
//
// One decoder for each reader, used by its thread. Names may come in any order; the order of the record
// before is tried first. What is strict: a record is one object and nothing else, all of it is JSON in UTF-8,
// names without a column included. A name that stands twice counts the last time. A missing field is NULL.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/schema.h"
#include "format/decoder.h"
#include "format/json_options.h"

namespace caudal {

class JsonDecoder : public Decoder {
 public:
  // User error if a column has a type that JSON cannot give.
  static Result<std::unique_ptr<JsonDecoder>> Make(const Schema& schema, JsonOptions options);
  ~JsonDecoder() override;

  Status Decode(const RawBatch& batch, DecodedRows* out) override;

 private:
  class Rows;
  explicit JsonDecoder(std::unique_ptr<Rows> rows);

  std::unique_ptr<Rows> rows_;
};

}  // namespace caudal
