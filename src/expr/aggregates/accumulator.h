// What aggregates are written with: loops over the values of a batch, and the bytes of accumulators.
//
// For aggregates/*.cc only. Encoded integers are little-endian, sizes are 4 bytes, as
// docs/formats/accumulators.md says; version 1 for ever.
#pragma once

#include <cstring>
#include <string>
#include <string_view>

#include "base/status.h"
#include "data/column_view.h"
#include "data/int128.h"
#include "expr/aggregate_function.h"

namespace caudal {

// A 128-bit integer in an accumulator, which is 8-aligned only.
using Int128At8 __attribute__((aligned(8))) = int128_t;

// `f(char* accumulator, const T& value)` for every row that is not NULL.
template <typename T, typename F>
void ForEachValue(char* const* accumulators, const Column& column, RowSet rows, F f) {
  if (column.encoding() == Encoding::kFlat && !column.may_have_nulls()) {
    const T* values = column.values<T>();
    if (rows.rows == nullptr) {
      for (int32_t i = 0; i < rows.count; ++i) f(accumulators[i], values[i]);
    } else {
      for (int32_t i = 0; i < rows.count; ++i) f(accumulators[i], values[rows.rows[i]]);
    }
    return;
  }
  const ColumnView<T> values(column);
  for (int32_t i = 0; i < rows.count; ++i) {
    const int32_t row = rows[i];
    if (!values.IsNull(row)) f(accumulators[i], values[row]);
  }
}

template <typename T>
void AppendFixed(const T& value, std::string* out) {
  out->append(reinterpret_cast<const char*>(&value), sizeof(T));
}

template <typename T>
bool TakeFixed(std::string_view* in, T* value) {
  if (in->size() < sizeof(T)) return false;
  std::memcpy(value, in->data(), sizeof(T));
  in->remove_prefix(sizeof(T));
  return true;
}

inline void AppendBytes(std::string_view bytes, std::string* out) {
  AppendFixed(static_cast<uint32_t>(bytes.size()), out);
  out->append(bytes);
}

inline bool TakeBytes(std::string_view* in, std::string_view* bytes) {
  uint32_t size = 0;
  if (!TakeFixed(in, &size) || in->size() < size) return false;
  *bytes = in->substr(0, size);
  in->remove_prefix(size);
  return true;
}

inline Status DamagedAccumulator() {
  return Status::Data("the saved accumulator of an aggregate is damaged");
}

// An accumulator that is one plain struct.
template <typename State>
class PlainAggregator : public Aggregator {
 public:
  static_assert(alignof(State) <= 8);
  explicit PlainAggregator(Type result) : result_(std::move(result)) {}

  const Type& result_type() const override { return result_; }
  int width() const override { return (static_cast<int>(sizeof(State)) + 7) / 8 * 8; }
  void Init(char* accumulator) const override { std::memset(accumulator, 0, sizeof(State)); }
  void Encode(const char* accumulator, std::string* out) const override {
    out->append(accumulator, sizeof(State));
  }
  Status Decode(std::string_view* in, char* accumulator) const override {
    if (in->size() < sizeof(State)) return DamagedAccumulator();
    std::memcpy(accumulator, in->data(), sizeof(State));
    in->remove_prefix(sizeof(State));
    return Status();
  }

 protected:
  static State& state(char* accumulator) { return *reinterpret_cast<State*>(accumulator); }
  static const State& state(const char* accumulator) { return *reinterpret_cast<const State*>(accumulator); }
  Type result_;
};

// An accumulator that is one pointer to a Body; null until the first value.
template <typename Body>
class OwningAggregator : public Aggregator {
 public:
  explicit OwningAggregator(Type result) : result_(std::move(result)) {}

  const Type& result_type() const override { return result_; }
  Type accumulator_type() const override { return Type::Row({{"state", Type::Bytes()}}); }
  int width() const override { return sizeof(Body*); }
  void Init(char* accumulator) const override { std::memset(accumulator, 0, sizeof(Body*)); }
  void Destroy(char* accumulator) const override {
    delete body(accumulator);
    Init(accumulator);
  }

 protected:
  static Body* body(const char* accumulator) {
    Body* pointer = nullptr;
    std::memcpy(&pointer, accumulator, sizeof(pointer));
    return pointer;
  }
  static Body& make(char* accumulator) {
    Body* pointer = body(accumulator);
    if (pointer == nullptr) {
      pointer = new Body();
      std::memcpy(accumulator, &pointer, sizeof(pointer));
    }
    return *pointer;
  }
  Type result_;
};

}  // namespace caudal
