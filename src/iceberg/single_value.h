// Single values in binary, as bounds of columns and partitions are kept: the specification's Appendix D.
//
// Pure functions; any thread. Values are in the form that transform.h describes.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "data/value.h"
#include "iceberg/metadata/schema.h"

namespace caudal::iceberg {

// REQUIRES: `value` is not NULL and one of the type's, which is primitive.
std::string EncodeSingleValue(const Type& type, const Value& value);
// Data error if the bytes are none of the type's. A bound written before its column was widened (int to long,
// float to double, date to timestamp) has the narrow length, and is widened here.
Result<Value> DecodeSingleValue(const Type& type, std::string_view bytes);

// Big-endian two's complement: as few bytes as hold the number, or exactly `size`.
// REQUIRES: it fits `size`, if that is not 0.
std::string EncodeDecimal(int128_t unscaled, size_t size = 0);
// REQUIRES: 1 to 16 bytes.
int128_t DecodeDecimal(std::string_view bytes);
// How many bytes a fixed decimal of this precision takes (9 digits: 4, 38: 16).
size_t DecimalBytes(int precision);

}  // namespace caudal::iceberg
