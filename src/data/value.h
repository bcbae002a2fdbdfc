// Value: one SQL value outside a column: a literal of a plan, a cell of a test. Not for hot paths.
//
// It holds the physical form (a DECIMAL its unscaled integer, a TIMESTAMP its ticks); the Type beside it
// gives the meaning.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "data/fwd.h"
#include "data/int128.h"
#include "data/type.h"

namespace caudal {

struct Value;
using ValueList = std::vector<Value>;  // ARRAY: elements; MAP: key, value, key, value …; ROW: fields

struct Value {
  std::variant<std::monostate, bool, int64_t, int128_t, double, std::string, ValueList> data;

  Value() = default;  // NULL
  explicit Value(bool v) : data(v) {}
  explicit Value(int64_t v) : data(v) {}  // every integer physical type up to 64 bits
  explicit Value(int128_t v) : data(v) {}
  explicit Value(double v) : data(v) {}  // FLOAT and DOUBLE
  explicit Value(std::string v) : data(std::move(v)) {}
  explicit Value(ValueList v) : data(std::move(v)) {}

  bool is_null() const { return data.index() == 0; }
  bool operator==(const Value& other) const = default;
};

// Row `row` of the column as a Value.
Value ValueAt(const Column& column, int32_t row);
// A column of `size` rows, constant-encoded, all with this value. REQUIRES: the value fits the type.
ColumnPtr ConstantColumn(const Type& type, const Value& value, int32_t size);

}  // namespace caudal
