// LakeTable: an Iceberg table that a program declares, writes or finds in a catalog of its own, opened for
// maintenance.
//
// Owned by the command; one thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "connect/iceberg/iceberg_lake.h"
#include "connect/iceberg/iceberg_options.h"
#include "server/program.h"

namespace caudal {

struct LakeTable {
  std::string shown;  // as the user names it
  IcebergOptions options;
  std::unique_ptr<IcebergLake> lake;

  Result<iceberg::LoadedTable> Load() const { return lake->catalog().LoadTable(options.name); }
};

// Tables by their names in the program; without names, every Iceberg table that it declares or its queries
// write. User error for a name that is no Iceberg table, and if there is no catalog yet.
Result<std::vector<LakeTable>> OpenLakeTables(const Program& program, const std::vector<std::string>& names);

}  // namespace caudal
