// JdbcLookup: the rows of a database table that have given values in given columns.
//
// All keys of a request are looked up in one read transaction, so they are of one moment. Blocks; one thread
// at a time. The database is opened when the lookup is made, to find out whether there is such a table, and
// again after an error or when the file was replaced.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/lookup.h"
#include "connect/jdbc/jdbc_target.h"
#include "data/column_builder.h"
#include "db/sqlite.h"

namespace caudal {

class JdbcLookup : public LookupReader {
 public:
  // User error: no such file, table or column.
  static Result<std::unique_ptr<LookupReader>> Make(const Table& table, const LookupRequest& request);

  Result<LookupRows> Find(const Chunk& keys) override;

 private:
  JdbcLookup(JdbcTarget target, std::string query, Schema schema)
      : target_(std::move(target)), query_(std::move(query)), schema_(std::move(schema)) {}

  Status Connect();
  Result<LookupRows> FindOpen(const Chunk& keys);
  Status FindOne(const Chunk& keys, int32_t key, SqliteStatement* statement,
                 std::vector<ColumnBuilder>* builders, LookupRows* found) const;

  JdbcTarget target_;
  std::string query_;
  Schema schema_;
  std::unique_ptr<Sqlite> database_;
};

}  // namespace caudal
