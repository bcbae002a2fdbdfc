// IcebergLake: the catalog and the files behind a declared table.
//
// Used by one thread at a time; blocks. Whoever needs it opens one.
#pragma once

#include <memory>

#include "base/env.h"
#include "base/status.h"
#include "connect/iceberg/iceberg_options.h"
#include "fs/file_system.h"
#include "iceberg/catalog/catalog.h"
#include "iceberg/catalog/table_files.h"

namespace caudal {

class IcebergLake {
 public:
  // Makes the catalog's file if it is not there. `files` and `env` outlive it.
  static Result<std::unique_ptr<IcebergLake>> Open(const IcebergOptions& options, FileSystem* files,
                                                   Env* env);
  // Whether there is a catalog to open; makes nothing.
  static Result<bool> Exists(const IcebergOptions& options, FileSystem* files);

  iceberg::Catalog& catalog() { return *catalog_; }
  const iceberg::TableFiles& files() const { return *files_; }

 private:
  IcebergLake() = default;

  std::unique_ptr<iceberg::TableFiles> files_;
  std::unique_ptr<iceberg::Catalog> catalog_;
};

}  // namespace caudal
