// Cells: values in the five forms that a database stores, as bytes of an epoch's segment.
//
// A cell is a tag byte and its payload: 0 NULL; 1 an integer, 2 a double (8 bytes, little-endian); 3 text,
// 4 bytes (a 4-byte length and the bytes). Times and decimals are text, exact. docs/formats/jdbc-segment.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "data/column.h"
#include "data/column_builder.h"
#include "db/sqlite_statement.h"

namespace caudal {

// Writes the values of one column of one chunk. Borrowed: valid while the column lives; one thread.
class CellEncoder {
 public:
  explicit CellEncoder(const Column& column) : column_(&column) {}
  void Append(int32_t row, std::string* out) const;

 private:
  const Column* column_;
};

// Binds the cell at `*at` to a parameter and moves `*at` behind it. False when the bytes end too early or are
// no cell. Texts stay where they are: `bytes` must live until the statement has run.
bool BindCell(std::string_view bytes, size_t* at, int parameter, SqliteStatement* statement);

// Appends the value in a column of the row at hand. False, and nothing is appended, when it is no value of
// the builder's type.
bool AppendFromDatabase(const SqliteStatement& row, int column, ColumnBuilder* builder);

}  // namespace caudal
