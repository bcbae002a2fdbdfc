// FileFilter: whether a data file can hold a row that fulfils what a query asks of all its rows, told by the
// file's partition and by the statistics in its manifest.
//
// Made once, then readable from any thread; pure. In doubt a file is read.
#pragma once

#include <vector>

#include "api/scan_filter.h"
#include "api/table.h"
#include "iceberg/metadata/table_metadata.h"
#include "iceberg/scan/scan_plan.h"

namespace caudal {

class FileFilter {
 public:
  FileFilter() = default;
  // `schema`: that the table is read with. Filters of columns whose values are not compared as they stand in
  // the table (other precision, floating point) tell nothing.
  FileFilter(const std::vector<ScanFilter>& filters, const Table& declared, const iceberg::Schema& schema);

  bool CanHold(const iceberg::LiveFile& file, const iceberg::TableMetadata& table) const;

 private:
  struct Condition {
    ScanFilter::Kind kind;
    iceberg::Field field;
    std::vector<Value> values;  // in Iceberg's form
  };
  static bool StatisticsAllow(const Condition& condition, const iceberg::DataFile& file);
  static bool PartitionAllows(const Condition& condition, const iceberg::LiveFile& file,
                              const iceberg::PartitionSpec& spec);

  std::vector<Condition> conditions_;
};

}  // namespace caudal
