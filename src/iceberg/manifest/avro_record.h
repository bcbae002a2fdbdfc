// AvroRecord: fields of an Avro record by Iceberg's field ids, whatever they are called and wherever they
// stand.
//
// On the stack of one thread; the layout and the value must outlive it. The first fault goes to the shared
// Status; afterwards every read gives an empty value.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "format/avro/schema.h"
#include "format/avro/value.h"

namespace caudal::iceberg {

// Where each field id is in a record; made once a file.
using AvroLayout = std::map<int64_t, size_t>;
AvroLayout LayoutOf(const avro::Node& record);
// The record that a field holds, alone, beside null, or as the items of an array; null if it holds none.
const avro::Node* RecordInside(const avro::Schema& schema, const avro::Node& record, int64_t id);

class AvroRecord {
 public:
  AvroRecord(const AvroLayout& layout, const avro::Value& value, Status* error);

  // Null if the record has no such field, or it is null.
  const avro::Value* Find(int64_t id) const;

  int64_t Integer(int64_t id, std::string_view name) const;  // int or long
  std::string Text(int64_t id, std::string_view name) const;
  std::optional<int64_t> OptionalInteger(int64_t id) const;
  std::optional<int32_t> OptionalInt(int64_t id) const;
  std::optional<std::string> OptionalText(int64_t id) const;
  std::optional<bool> OptionalBoolean(int64_t id) const;
  std::vector<int64_t> Integers(int64_t id) const;
  // A map with int keys, written as an array of (key, value).
  std::map<int32_t, int64_t> Counts(int64_t id) const;
  std::map<int32_t, std::string> Bounds(int64_t id) const;

 private:
  const avro::ValueList* List(int64_t id) const;

  const AvroLayout& layout_;
  const avro::ValueList* fields_;
  Status* error_;
};

}  // namespace caudal::iceberg
