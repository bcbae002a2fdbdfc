// ScanFilter: what a row must fulfil to be of any use to the query that reads it. Plain data.
//
// A hint: whoever can tell that no row of a file fulfils it may leave the file out. The rows that are read
// are filtered by the query as if nothing had been left out.
#pragma once

#include <cstdint>
#include <vector>

#include "data/value.h"

namespace caudal {

struct ScanFilter {
  enum class Kind : uint8_t { kIn, kLess, kLessOrEqual, kGreater, kGreaterOrEqual, kIsNull, kIsNotNull };
  int column = 0;  // position in Table::columns, of a physical column
  Kind kind = Kind::kIn;
  // In the physical form of the column's type; never NULL. kIn: one or more of which the column is one; a
  // comparison: the one on its right side. A row whose column is NULL fulfils kIsNull alone.
  std::vector<Value> values;
};

}  // namespace caudal
