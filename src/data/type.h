// Type: a Flink SQL type as plain data, and the physical layout that carries it.
//
// A Type is a small value: copied freely, compared by ==, immutable once built, no thread rule.
// Nullability is part of the type, as in Flink.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace caudal {

enum class TypeId : uint8_t {
  kNull,  // the type of a bare NULL
  kBoolean,
  kTinyInt,
  kSmallInt,
  kInt,
  kBigInt,
  kFloat,
  kDouble,
  kDecimal,
  kChar,
  kVarChar,  // STRING is VARCHAR(2147483647)
  kBinary,
  kVarBinary,  // BYTES is VARBINARY(2147483647)
  kDate,
  kTime,
  kTimestamp,
  kTimestampLtz,
  kIntervalYearMonth,  // int32 months
  kIntervalDayTime,    // int64 milliseconds
  kArray,
  kMap,
  kRow,
};

// How a column stores its values. Arrow's layouts, except that a boolean takes a byte and that a string
// view holds a pointer where Arrow's BinaryView holds buffer and offset (docs/design/columns.md says why).
enum class Physical : uint8_t {
  kNull,    // no values
  kBool,    // uint8_t, 0 or 1
  kInt8,    // TINYINT
  kInt16,   // SMALLINT
  kInt32,   // INT, DATE (days), TIME (ms of the day), INTERVAL YEAR TO MONTH (months)
  kInt64,   // BIGINT, DECIMAL(p <= 18), TIMESTAMP(_LTZ) (µs up to precision 6, else ns), INTERVAL DAY TO
            // SECOND (ms)
  kInt128,  // DECIMAL(p > 18)
  kFloat,
  kDouble,
  kString,  // CHAR, VARCHAR, BINARY, VARBINARY as StringView
  kArray,   // int32 offsets into child 0
  kMap,     // int32 offsets into children 0 (keys) and 1 (values)
  kRow,     // one child a field
};

struct Field;

class Type {
 public:
  static constexpr int32_t kMaxLength = 2147483647;

  Type() = default;  // NULL
  explicit Type(TypeId id, bool nullable = true) : id_(id), nullable_(nullable) {}

  static Type Decimal(int precision, int scale) { return Type(TypeId::kDecimal, precision, scale); }
  static Type Char(int32_t length) { return Type(TypeId::kChar, length, 0); }
  static Type VarChar(int32_t length) { return Type(TypeId::kVarChar, length, 0); }
  static Type String() { return VarChar(kMaxLength); }
  static Type Binary(int32_t length) { return Type(TypeId::kBinary, length, 0); }
  static Type VarBinary(int32_t length) { return Type(TypeId::kVarBinary, length, 0); }
  static Type Bytes() { return VarBinary(kMaxLength); }
  static Type Time(int precision) { return Type(TypeId::kTime, precision, 0); }
  static Type Timestamp(int precision) { return Type(TypeId::kTimestamp, precision, 0); }
  static Type TimestampLtz(int precision) { return Type(TypeId::kTimestampLtz, precision, 0); }
  static Type Array(Type element);
  static Type Map(Type key, Type value);
  static Type Row(std::vector<Field> fields);

  TypeId id() const { return id_; }
  bool nullable() const { return nullable_; }
  Type WithNullable(bool nullable) const {
    Type copy = *this;
    copy.nullable_ = nullable;
    return copy;
  }
  // DECIMAL: digits. TIME, TIMESTAMP(_LTZ): fraction digits. CHAR, VARCHAR, BINARY, VARBINARY: length.
  int32_t precision() const { return precision_; }
  int32_t length() const { return precision_; }
  int32_t scale() const { return scale_; }
  // ARRAY: element. MAP: key, value. ROW: its fields. Else empty.
  const std::vector<Field>& children() const;

  Physical physical() const;
  bool is_string() const { return id_ == TypeId::kChar || id_ == TypeId::kVarChar; }
  bool is_binary() const { return id_ == TypeId::kBinary || id_ == TypeId::kVarBinary; }
  bool is_integer() const { return id_ >= TypeId::kTinyInt && id_ <= TypeId::kBigInt; }
  bool is_numeric() const { return id_ >= TypeId::kTinyInt && id_ <= TypeId::kDecimal; }
  bool is_timestamp() const { return id_ == TypeId::kTimestamp || id_ == TypeId::kTimestampLtz; }
  // Units of the physical int64 in one second: 1'000'000 up to precision 6, else 1'000'000'000.
  // REQUIRES: is_timestamp().
  int64_t ticks_per_second() const { return precision_ <= 6 ? 1'000'000 : 1'000'000'000; }

  // As Flink prints it: "DECIMAL(18, 2) NOT NULL", "STRING", "ROW<`a` INT, `b` STRING>".
  std::string ToString() const;

  bool operator==(const Type& other) const;
  // Equal but for nullability, at every level.
  bool EqualsIgnoringNullability(const Type& other) const;

 private:
  Type(TypeId id, int32_t precision, int32_t scale) : id_(id), precision_(precision), scale_(scale) {}

  TypeId id_ = TypeId::kNull;
  bool nullable_ = true;
  int32_t precision_ = 0;
  int32_t scale_ = 0;
  std::shared_ptr<const std::vector<Field>> children_;
};

// A named column of a table or a field of a ROW.
struct Field {
  std::string name;
  Type type;
  bool operator==(const Field& other) const = default;
};

}  // namespace caudal
