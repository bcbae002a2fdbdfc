// SqliteCatalog: tables listed in a SQLite file, in the layout that PyIceberg's SqlCatalog and Java's
// JdbcCatalog share, so that all three can work on one file.
//
// Used by one thread at a time. Several processes may have the file open: the swap is one UPDATE under
// SQLite's lock. The name of the catalog is part of every key: whoever shares the file must use the same one.
#pragma once

#include <memory>
#include <string>

#include "db/sqlite.h"
#include "iceberg/catalog/catalog.h"
#include "iceberg/catalog/table_files.h"

namespace caudal::iceberg {

class SqliteCatalog : public Catalog {
 public:
  struct Options {
    std::string path;  // of the SQLite file; made if missing
    std::string name = "default";
    std::string warehouse;  // where tables go that name no location
  };
  // `files` must outlive it.
  static Result<std::unique_ptr<SqliteCatalog>> Open(const Options& options, const TableFiles* files);

  Status CreateNamespace(const std::vector<std::string>& space) override;
  Result<std::vector<std::vector<std::string>>> ListNamespaces() override;
  Result<std::vector<std::string>> ListTables(const std::vector<std::string>& space) override;
  Result<LoadedTable> CreateTable(const TableName& name, const NewTable& table) override;
  Result<LoadedTable> LoadTable(const TableName& name) override;
  Status DropTable(const TableName& name) override;
  Status DropNamespace(const std::vector<std::string>& space) override;
  Status RenameTable(const TableName& name, const TableName& to) override;
  CommitAnswer Commit(const TableName& name, const TableCommit& commit) override;

 private:
  SqliteCatalog(const Options& options, std::unique_ptr<Sqlite> database, const TableFiles* files)
      : options_(options), database_(std::move(database)), files_(files) {}
  Status MakeTables();
  Result<bool> HasNamespace(const std::string& space);
  Result<std::string> FindLocation(const TableName& name);
  // True: swapped. False: the table has moved on, nothing was changed.
  Result<bool> Swap(const TableName& name, const std::string& from, const std::string& to);

  Options options_;
  std::unique_ptr<Sqlite> database_;
  const TableFiles* files_;
  LoadedTable last_;         // that was read or written: a metadata file never changes
  std::string only_tables_;  // the condition that leaves views out, if the layout has the column for it
};

}  // namespace caudal::iceberg
