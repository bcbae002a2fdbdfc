// PlannedFiles: every `shares`-th data file of a plan, read one after the other.
//
// One thread; blocks. What it refers to outlives it.
#pragma once

#include <memory>
#include <vector>

#include "connect/iceberg/scan/files_in_turn.h"

namespace caudal {

class PlannedFiles : public FilesInTurn {
 public:
  PlannedFiles(const ScanSurroundings* around, const iceberg::TableMetadata* table, iceberg::ScanPlan plan);

 private:
  size_t files() const override { return mine_.size(); }
  const iceberg::LiveFile& file(size_t number) const override { return mine_[number]->data; }
  Result<std::unique_ptr<DataFileReader>> Open(size_t number, int64_t first) override {
    return DataFileReader::Open(around_.files, table_, plan_, *mine_[number], around_.columns, around_.share,
                                first);
  }

  iceberg::ScanPlan plan_;
  std::vector<const iceberg::ScanFile*> mine_;
};

}  // namespace caudal
