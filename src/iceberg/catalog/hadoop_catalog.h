// HadoopCatalog: tables that are their folders, as Java's HadoopCatalog lays them out: no service, no file of
// the catalog's own. warehouse/a/b/t/metadata/v7.metadata.json is the seventh version of table a.b.t, and
// version-hint.text beside it says how far to begin looking.
//
// Used by one thread at a time. Several processes may work in the warehouse: making the next version's file,
// if there is none, is the commit. So the folder must be on a file system that makes a file once only.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "iceberg/catalog/catalog.h"
#include "iceberg/catalog/table_files.h"

namespace caudal::iceberg {

class HadoopCatalog : public Catalog {
 public:
  // Both must outlive it. `warehouse` is a location.
  static Result<std::unique_ptr<HadoopCatalog>> Open(const std::string& warehouse, FileSystem* file_system,
                                                     const TableFiles* files);

  Status CreateNamespace(const std::vector<std::string>& space) override;
  Result<std::vector<std::vector<std::string>>> ListNamespaces() override;
  Result<std::vector<std::string>> ListTables(const std::vector<std::string>& space) override;
  Result<LoadedTable> CreateTable(const TableName& name, const NewTable& table) override;
  Result<LoadedTable> LoadTable(const TableName& name) override;
  // Its data files stay.
  Status DropTable(const TableName& name) override;
  Status DropNamespace(const std::vector<std::string>& space) override;
  CommitAnswer Commit(const TableName& name, const TableCommit& commit) override;

 private:
  HadoopCatalog(std::string warehouse, FileSystem* file_system, const TableFiles* files)
      : warehouse_(std::move(warehouse)), file_system_(file_system), files_(files) {}
  std::string LocationOf(const std::vector<std::string>& space) const;
  std::string LocationOf(const TableName& name) const { return LocationOf(name.space) + "/" + name.name; }
  Result<bool> IsTable(const std::string& path) const;
  Status AddNamespaces(const std::string& path, const std::vector<std::string>& space,
                       std::vector<std::vector<std::string>>* found) const;
  // The newest version and its file; nothing if the folder is no table.
  struct Version {
    int number = 0;
    std::string location;
  };
  Result<std::optional<Version>> FindVersion(const std::string& location) const;
  // The version's file as it may be named; nothing if there is none.
  Result<std::optional<std::string>> FileOf(const std::string& folder, int version) const;
  void WriteHint(const std::string& location, int version) const;
  Result<LoadedTable> ReadTable(const std::string& location);
  // What the file says, which was just written or read.
  void Remember(const FileInfo& file, const LoadedTable& table);

  std::string warehouse_;
  FileSystem* file_system_;
  const TableFiles* files_;
  // The table that was read or written last, and the file that said it: a table that is made anew has files
  // of the same names.
  LoadedTable last_;
  FileInfo last_file_;
};

}  // namespace caudal::iceberg
