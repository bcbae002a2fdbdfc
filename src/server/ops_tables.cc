#include "server/ops_tables.h"

#include <fmt/format.h>

#include "fs/file_system.h"
#include "ops/ops_store.h"
#include "ops/ops_table.h"

namespace caudal {

Status AddOpsTables(const std::string& state_root, Catalog* catalog) {
  const std::string path = OpsStore::PathIn(state_root);
  ASSIGN_OR_RETURN(const bool exists, FileSystem::Local()->Exists(path));
  if (!exists) {
    return Status::User(fmt::format("there is no operations store '{}'", path))
        .Hint("name the folder that 'caudal run --state' was given");
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Sqlite> database, Sqlite::Open(path, Sqlite::Mode::kReadOnly));
  RETURN_IF_ERROR(OpsStore::CheckVersion(database.get()));
  for (const OpsTable& table : OpsTables()) RETURN_IF_ERROR(catalog->AddTable(table.AsTable(path)));
  return Status();
}

}  // namespace caudal
