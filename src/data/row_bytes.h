// Row bytes: values of columns as bytes that state keeps and gives back unchanged, −0.0 and NaN included.
//
// A tag byte (0 NULL, 1 value) and the value: fixed-width types as the physical type's little-endian bytes,
// strings as a varint length and bytes, ARRAY and MAP as a varint count and their values, ROW as its fields.
// Stored in checkpoints: version 1. Not ordered, unlike a row key. Equal values have equal bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/column_builder.h"

namespace caudal {

void AppendValueBytes(const Column& column, int32_t row, std::string* out);
// Takes one value from the front of `in` and appends it. False on damage; the builder is then unusable.
bool DecodeValueBytes(std::string_view* in, ColumnBuilder* builder);

// All columns of a row, in order.
inline void AppendRowBytes(const std::vector<ColumnPtr>& columns, int32_t row, std::string* out) {
  for (const ColumnPtr& column : columns) AppendValueBytes(*column, row, out);
}
// REQUIRES: `row` was made from columns of the builders' types. Appends to builders[0 … count).
inline void DecodeRowBytes(std::string_view row, ColumnBuilder* builders, size_t count) {
  for (size_t i = 0; i < count; ++i) CHECK(DecodeValueBytes(&row, &builders[i]));
}

}  // namespace caudal
