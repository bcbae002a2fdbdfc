// JsonColumn: one column that a JsonDecoder fills, batch after batch, straight from tokens.
//
// One thread. Strings without escapes stay where they are in the input; the column it gives keeps the pinned
// buffers alive. A row set twice keeps the last value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/column.h"
#include "data/value.h"
#include "format/dictionary_encoder.h"
#include "format/json_cursor.h"
#include "format/json_options.h"
#include "format/json_scalar.h"

namespace caudal {

class JsonColumn {
 public:
  // REQUIRES: Supports(field.type). `options` outlives the column.
  JsonColumn(Field field, const JsonOptions* options);
  static bool Supports(const Type& type);

  const Field& field() const { return field_; }

  void Begin(int32_t rows);
  enum class Outcome {
    kDone,
    kWrongValue,  // not a value of the type, though JSON; the cursor is past it
    kWrongJson,   // the cursor is where the JSON breaks
  };
  // Reads the value at the cursor into the row.
  Outcome Read(JsonCursor* cursor, int32_t row);
  // The same for the usual spelling of a value of the column's type; false, and nothing done, for any other.
  // `token`: from its first byte to the next token.
  bool ReadPlain(const char* token, size_t size, int32_t row);
  void SetNull(int32_t row) {
    has_null_ = true;
    nulls_[static_cast<size_t>(row) >> 6] |= uint64_t{1} << (row & 63);
  }
  // The column of the batch. `pins`: what the cursor's text lies in.
  ColumnPtr Finish(int32_t rows, const std::vector<BufferPtr>& pins);

 private:
  enum class Kind : uint8_t {
    kInt8,
    kInt16,
    kInt32,
    kInt64,
    kDouble,
    kFloat,
    kBoolean,
    kDecimal64,
    kDecimal128,
    kString,
    kBytes,
    kDate,
    kTime,
    kTimestamp,
    kNested
  };

  static Kind KindOf(const Type& type);
  bool ReadPlainInteger(std::string_view token, int64_t* out) {
    return JsonToPlainDecimal(token, 18, 0, out) && *out >= range_.min && *out <= range_.max;
  }
  bool Put(const JsonScalar& scalar, int32_t row);
  bool PutDecimal(const JsonScalar& scalar, int32_t row);
  bool PutString(const JsonScalar& scalar, int32_t row);
  bool PutBytes(const JsonScalar& scalar, int32_t row);
  void StoreString(std::string_view text, int32_t row);
  void Flatten(int32_t rows);
  Outcome ReadContainer(JsonCursor* cursor, int32_t row);
  // Room in the arena that lives as long as the batch's column.
  char* Reserve(size_t size);
  ColumnPtr FinishNested(int32_t rows);

  template <typename T>
  T* values() {
    return reinterpret_cast<T*>(values_at_);
  }

  Field field_;
  const JsonOptions* options_;
  Kind kind_;
  IntegerRange range_{0, 0};
  bool has_null_ = false;
  bool coded_ = false;  // strings of this batch are codes
  char* values_at_ = nullptr;
  MutableBufferPtr values_;
  std::vector<uint64_t> nulls_;  // bit set = NULL
  DictionaryEncoder encoder_;
  std::vector<MutableBufferPtr> arenas_;
  size_t arena_left_ = 0;
  std::string scratch_;
  JsonTimestampCache timestamps_;
  std::vector<Value> nested_;
};

}  // namespace caudal
