// Bounds of columns in a manifest: cut short without losing what lies beyond, and combined over parts of a
// file.
//
// Pure functions and values; any thread.
#pragma once

#include <optional>
#include <string>

#include "data/value.h"
#include "iceberg/metadata/schema.h"

namespace caudal::iceberg {

// How much of a string or of bytes a bound keeps where the table says nothing else.
inline constexpr int kBoundWidth = 16;

// Whether `a` sorts before `b`: strings and bytes by unsigned bytes, −0.0 before 0.0. REQUIRES: both of one
// primitive type, neither NULL nor NaN.
bool SortsBefore(const Value& a, const Value& b);

// A value that no longer value sorts before: at most `width` code points of a string, bytes of binary.
std::string LowerBound(const Type& type, const Value& value, int width = kBoundWidth);
// One that no longer value sorts behind: cut, the last code point (or byte) raised; nothing if all that is
// kept is already the highest.
std::optional<std::string> UpperBound(const Type& type, const Value& value, int width = kBoundWidth);

// The smallest and largest value of a column, part by part. A part that cannot tell leaves the whole without.
class BoundsCollector {
 public:
  // Of one value or of a part that was summed up; NULL and NaN are counted, never kept.
  void Add(const Value& value);
  // Rows of which only the number is known: there are no bounds any more, unless all are NULL.
  void AddUnknown() { unknown_ = true; }

  int64_t nulls() const { return nulls_; }
  int64_t nans() const { return nans_; }
  // Nothing if there is no value or a part was unknown. A zero is given the sign that keeps both zeros
  // inside.
  std::optional<Value> lowest() const;
  std::optional<Value> highest() const;

 private:
  Value lowest_;
  Value highest_;
  int64_t nulls_ = 0;
  int64_t nans_ = 0;
  bool unknown_ = false;
};

}  // namespace caudal::iceberg
