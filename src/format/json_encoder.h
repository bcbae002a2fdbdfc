// JsonEncoder: rows as JSON objects, one a row, as Flink writes them; every line is strict JSON.
//
// NaN and the infinities, for which JSON has no number, are written as text ("NaN"). DECIMAL is always plain
// (100, never 1E+2). One thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/schema.h"
#include "format/decoder.h"
#include "format/json_options.h"

namespace caudal {

class JsonEncoder : public Encoder {
 public:
  // User error if a column has a type that JSON cannot take.
  static Result<std::unique_ptr<JsonEncoder>> Make(const Schema& schema, JsonOptions options);

  Status Encode(const Chunk& chunk, std::string* out, std::vector<size_t>* ends) override;

 private:
  JsonEncoder(Schema schema, JsonOptions options);
  Status AppendValue(const Column& column, int32_t row, std::string* out) const;
  Status AppendMap(const Column& column, int32_t row, std::string* out) const;

  Schema schema_;
  std::vector<std::string> names_;  // quoted, with their colon
  JsonOptions options_;
};

// A string as JSON, with its quotes. Bytes that are no UTF-8 become U+FFFD.
void AppendQuotedJson(std::string_view text, std::string* out);
// Bytes as JSON: base 64, with its quotes.
void AppendBytesJson(std::string_view bytes, std::string* out);

}  // namespace caudal
