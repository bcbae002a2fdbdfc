// Cells: values in the five forms that a database stores, as bytes of an epoch's segment.
//
// A cell is a tag byte and its payload: 0 NULL; 1 an integer, 2 a double (8 bytes, little-endian); 3 text,
// 4 bytes (a 4-byte length and the bytes). Times and decimals are text, exact. docs/formats/segment.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "data/column.h"

namespace caudal {

// Writes the values of one column of one chunk. Borrowed: valid while the column lives; one thread.
class CellEncoder {
 public:
  explicit CellEncoder(const Column& column) : column_(&column) {}
  void Append(int32_t row, std::string* out) const;

 private:
  const Column* column_;
};

// A cell that was read: texts and bytes stay where they are.
struct Cell {
  enum class Kind : char { kNull, kInteger, kReal, kText, kBytes };
  Kind kind = Kind::kNull;
  int64_t integer = 0;
  double real = 0;
  std::string_view bytes;  // of a text too
};

// Reads the cell at `*at` and moves `*at` behind it. False when the bytes end too early or are no cell.
bool ReadCell(std::string_view bytes, size_t* at, Cell* cell);

}  // namespace caudal
