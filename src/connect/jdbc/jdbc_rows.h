// JdbcRows: the rows of a table behind a position, batch by batch.
//
// Whoever calls waits for the database: the reader's thread. One thread at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/source.h"
#include "connect/jdbc/jdbc_position.h"
#include "connect/jdbc/jdbc_target.h"
#include "connect/jdbc/row_order.h"
#include "data/column_builder.h"

namespace caudal {

class JdbcRows {
 public:
  // User error: no such file, table or column.
  static Status Check(const JdbcTarget& target, const std::vector<std::string>& names);
  // The same; Data error: the table's key is not the position's. `names`: of the columns, by place in
  // `schema`.
  static Result<std::unique_ptr<JdbcRows>> Open(const JdbcTarget& target,
                                                const std::vector<std::string>& names, Schema schema,
                                                JdbcPosition position);

  // Neither chunk nor rejected records: the table is read.
  Result<SourceRows> Next();
  // Behind the last batch.
  const JdbcPosition& position() const { return position_; }

 private:
  // The database and the order in which the table is read.
  struct OpenTable {
    std::unique_ptr<Sqlite> database;
    RowOrder order;
    static Result<OpenTable> Of(const JdbcTarget& target, const std::vector<std::string>& names);
  };
  JdbcRows(OpenTable table, SqliteStatement rows, std::vector<std::string> bound, JdbcPosition position,
           Schema schema)
      : database_(std::move(table.database)),
        bound_(std::move(bound)),
        rows_(std::move(rows)),
        order_(std::move(table.order)),
        position_(std::move(position)),
        schema_(std::move(schema)) {}

  // Takes the row at hand, if every column has a value of its type; else it is a rejected record.
  void AddRow(std::vector<ColumnBuilder>* builders, int32_t* count, SourceRows* out);

  std::unique_ptr<Sqlite> database_;
  std::vector<std::string> bound_;  // texts of the key that rows_ began behind
  SqliteStatement rows_;
  RowOrder order_;
  JdbcPosition position_;
  Schema schema_;
  bool ended_ = false;
};

}  // namespace caudal
