#include "connect/iceberg/iceberg_lake.h"

#include <fmt/format.h>

#include "iceberg/catalog/hadoop_catalog.h"
#include "iceberg/catalog/sqlite_catalog.h"
#include "iceberg/rest/rest_catalog.h"

namespace caudal {

Result<std::unique_ptr<IcebergLake>> IcebergLake::Open(const IcebergOptions& options, FileSystem* files,
                                                       Env* env) {
  const std::string& path = options.catalog_file;
  std::unique_ptr<IcebergLake> lake(new IcebergLake());
  lake->files_ = std::make_unique<iceberg::TableFiles>(files, env);
  if (options.catalog_type == IcebergOptions::CatalogType::kRest) {
    lake->catalog_ = std::make_unique<iceberg::RestCatalog>(options.rest, env);
    return lake;
  }
  if (options.catalog_type == IcebergOptions::CatalogType::kHadoop) {
    ASSIGN_OR_RETURN(lake->catalog_,
                     iceberg::HadoopCatalog::Open(options.warehouse, files, lake->files_.get()));
    return lake;
  }
  // SQLite opens its file itself, on a disk.
  RETURN_IF_ERROR(FileSystem::Local()->MakeDirectories(path.substr(0, path.rfind('/'))));
  ASSIGN_OR_RETURN(lake->catalog_, iceberg::SqliteCatalog::Open(
                                       {path, options.catalog_name, options.warehouse}, lake->files_.get()));
  return lake;
}

Result<bool> IcebergLake::Exists(const IcebergOptions& options, FileSystem* files) {
  if (options.catalog_type == IcebergOptions::CatalogType::kRest)
    return true;  // loading a table says why not
  if (options.catalog_type == IcebergOptions::CatalogType::kHadoop)
    return files->Exists(options.catalog_file);
  // SQLite's own file is on the local disk, wherever the tables are.
  ASSIGN_OR_RETURN(const bool file, FileSystem::Local()->Exists(options.catalog_file));
  if (!file) return false;
  ASSIGN_OR_RETURN(const auto database, Sqlite::Open(options.catalog_file, Sqlite::Mode::kReadOnly));
  ASSIGN_OR_RETURN(
      const int64_t tables,
      database->QueryInteger("SELECT COUNT(*) FROM sqlite_master WHERE name = 'iceberg_tables'", 0));
  return tables > 0;
}

}  // namespace caudal
