// IcebergCatalog: the catalog of Iceberg tables that CREATE CATALOG … WITH ('type' = 'iceberg') names.
//
// Opened at its first use, then kept. One thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/connector.h"
#include "api/external_catalog.h"
#include "connect/iceberg/iceberg_lake.h"
#include "connect/iceberg/iceberg_options.h"

namespace caudal {

class IcebergCatalog : public ExternalCatalog {
 public:
  // `connector` says which options its tables have, and outlives it.
  static Result<std::unique_ptr<ExternalCatalog>> Make(const Connector* connector, const std::string& name,
                                                       const Options& declared,
                                                       const ConnectorContext& context);

  std::string default_database() const override { return default_database_; }
  Result<std::vector<std::string>> Databases() override;
  Status CreateDatabase(const std::string& name) override;
  Status DropDatabase(const std::string& name) override;
  Result<std::vector<std::string>> Tables(const std::string& database) override;
  Result<std::optional<ExternalTable>> FindTable(const std::string& database,
                                                 const std::string& name) override;
  Status CheckTable(const Table& table) const override;
  Result<ExternalTable> FutureTable(const std::string& database, const std::string& name,
                                    const Table& table) const override;
  Status CreateTable(const std::string& database, const std::string& name, const Table& table) override;
  Status DropTable(const std::string& database, const std::string& name) override;
  Status RenameTable(const std::string& database, const std::string& name, const std::string& to) override;
  Status AlterTable(const std::string& database, const std::string& name,
                    const std::vector<TableChange>& changes) override;

 private:
  IcebergCatalog() = default;
  Result<iceberg::Catalog*> Open();
  // To look only: null if there is none yet, and none is made.
  Result<iceberg::Catalog*> OpenIfThere();
  // Options of a table of that name: what reads and writes it, but for what CREATE CATALOG says.
  Options PlaceOf(const std::string& database, const std::string& name) const;
  Status Alter(iceberg::Catalog* catalog, const iceberg::TableName& name,
               const std::vector<TableChange>& changes, bool* again);

  const Connector* connector_ = nullptr;
  Options table_options_;  // of every table: what was declared
  IcebergOptions options_;
  std::string default_database_;
  FileSystem* files_ = nullptr;
  Env* env_ = nullptr;
  std::unique_ptr<IcebergLake> lake_;
};

}  // namespace caudal
