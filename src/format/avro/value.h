// Value: one Avro datum. It says what the bytes say; its Schema, kept beside it, says what that means.
//
// A value type; no thread rule. For files of metadata and rows on the way to columns; nothing here is meant
// for a loop over millions.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace caudal::avro {

struct Value;
struct MapEntry;
using ValueList = std::vector<Value>;      // record: its fields in order; array: its items
using MapEntries = std::vector<MapEntry>;  // in the order they were written

struct Value {
  // null | boolean | int, and enum as the number of its symbol | long | float | double |
  // string, bytes and fixed | record and array | map
  std::variant<std::monostate, bool, int32_t, int64_t, float, double, std::string, ValueList, MapEntries>
      data;
  int32_t branch = -1;  // where the schema has a union: which of its branches this is; else -1

  Value() = default;  // null
  explicit Value(bool v);
  explicit Value(int32_t v);
  explicit Value(int64_t v);
  explicit Value(float v);
  explicit Value(double v);
  explicit Value(std::string v);
  explicit Value(ValueList v);
  explicit Value(MapEntries v);

  bool is_null() const { return data.index() == 0; }
  template <typename T>
  const T* get() const {
    return std::get_if<T>(&data);
  }
  bool operator==(const Value& other) const;
};

struct MapEntry {
  std::string key;
  Value value;
  bool operator==(const MapEntry&) const = default;
};

// Here, since the variant may only be touched once MapEntry is complete.
inline Value::Value(bool v) : data(v) {}
inline Value::Value(int32_t v) : data(v) {}
inline Value::Value(int64_t v) : data(v) {}
inline Value::Value(float v) : data(v) {}
inline Value::Value(double v) : data(v) {}
inline Value::Value(std::string v) : data(std::move(v)) {}
inline Value::Value(ValueList v) : data(std::move(v)) {}
inline Value::Value(MapEntries v) : data(std::move(v)) {}
inline bool Value::operator==(const Value& other) const {
  return branch == other.branch && data == other.data;
}

// The value as a branch of a union.
inline Value Branch(int32_t branch, Value value) {
  value.branch = branch;
  return value;
}

}  // namespace caudal::avro
