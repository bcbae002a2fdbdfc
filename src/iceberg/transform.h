// Transform: how a partition value is made of a column's value.
//
// A value; pure functions; any thread. Values are in the form of data/value.h: every integer, date, time and
// timestamp an int64 (µs, or ns for the _ns types), decimals their unscaled integer, strings, binary, fixed
// and the 16 bytes of a uuid a string.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "data/value.h"
#include "iceberg/metadata/schema.h"

namespace caudal::iceberg {

struct Transform {
  enum class Kind { kIdentity, kBucket, kTruncate, kYear, kMonth, kDay, kHour, kVoid, kUnknown };

  Kind kind = Kind::kIdentity;
  int32_t parameter = 0;  // buckets, width
  std::string text;       // as written; a table with one that is not known may be read, not written

  static Transform Parse(std::string_view text);

  // The type of what Apply gives. User error that names both if the transform has no meaning for the source.
  Result<Type> ResultType(const Type& source) const;
  // The partition value; NULL of NULL. REQUIRES: ResultType(source).ok(), and `value` is one of the source's.
  Value Apply(const Type& source, const Value& value) const;
};

// Murmur3 (x86, 32 bits, seed 0), on which the buckets of every writer depend.
int32_t Murmur3(std::string_view bytes);
// The hash of a value as bucket[N] takes it. REQUIRES: not NULL, and of a type that can be bucketed.
int32_t BucketHash(const Type& type, const Value& value);

}  // namespace caudal::iceberg
