// Values between a segment's cells, a database's five storage forms and columns.
//
// Times and decimals are text in the database, exact. Any thread that owns the statement.
#pragma once

#include <string_view>

#include "data/column_builder.h"
#include "db/sqlite_statement.h"

namespace caudal {

// Binds the cell at `*at` to a parameter and moves `*at` behind it. False when the bytes end too early or are
// no cell. Texts stay where they are: `bytes` must live until the statement has run.
bool BindCell(std::string_view bytes, size_t* at, int parameter, SqliteStatement* statement);

// Appends the value in a column of the row at hand. False, and nothing is appended, when it is no value of
// the builder's type.
bool AppendFromDatabase(const SqliteStatement& row, int column, ColumnBuilder* builder);

}  // namespace caudal
