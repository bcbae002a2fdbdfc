// LeftoverFiles: what a crash left of a sink's epochs in the folders of its table: files that are half
// written, and whole ones that no snapshot has.
//
// One thread; blocks. Only files with the sink's own number in their names are looked at, and only those of
// generations before this one. The table was loaded after the last commit was repeated, so that what it does
// not know no one will commit.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "connect/iceberg/sink/iceberg_sink_plan.h"
#include "iceberg/catalog/table_files.h"

namespace caudal {

class LeftoverFiles {
 public:
  // All outlive it.
  LeftoverFiles(const IcebergSinkPlan* plan, const iceberg::TableFiles* files,
                const iceberg::TableMetadata* table)
      : plan_(plan), files_(files), table_(table) {}

  Status Remove();

 private:
  struct Found {
    std::vector<std::string> half;   // paths
    std::vector<std::string> whole;  // data files and manifests of epochs that the history does not show
  };
  Status AbortUploads(const std::string& folder) const;
  Status Look(const std::string& folder, bool deep, Found* found) const;
  // Paths of every manifest, data file and file of deletes of every snapshot.
  Result<std::set<std::string>> Known() const;

  const IcebergSinkPlan* plan_;
  const iceberg::TableFiles* files_;
  const iceberg::TableMetadata* table_;
};

}  // namespace caudal
