// IcebergLookup: the rows of a table that have given values in given columns, out of memory.
//
// The newest snapshot is read as a whole at the first Find; from then on the catalog is asked now and then
// whether there is another, which is read in the same way before it answers. Blocks; one thread at a time.
// What it holds counts in the query's budget.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/connector.h"
#include "connect/iceberg/scan/iceberg_scan.h"

namespace caudal {

class IcebergLookup : public LookupReader {
 public:
  // User error: no such catalog, table, snapshot or column. Reads no row.
  static Result<std::unique_ptr<LookupReader>> Make(const Table& table, const LookupRequest& request,
                                                    const ConnectorContext& context);
  ~IcebergLookup() override;

  Result<LookupRows> Find(const Chunk& keys) override;

 private:
  struct Place {
    uint32_t chunk;
    uint16_t row;
  };
  // The rows of one snapshot.
  struct Contents {
    ChosenSnapshot snapshot;
    std::vector<Chunk> chunks;                               // what is read
    std::unordered_map<std::string, std::vector<Place>> at;  // by the key's cells
    int64_t bytes = 0;
  };

  IcebergLookup() = default;
  Result<ScanShare> Newest();
  Status Refresh();
  Result<Contents> Load(const ScanShare& share);
  void Hold(Contents contents);

  ScanRequest scan_;
  SnapshotChoice choice_;
  std::vector<int> key_columns_, wanted_columns_;  // positions in what is read
  Schema wanted_;
  int64_t refresh_millis_ = 0;
  int64_t looked_nanos_ = 0;
  MemoryBudget* budget_ = nullptr;
  std::optional<Contents> contents_;
};

}  // namespace caudal
