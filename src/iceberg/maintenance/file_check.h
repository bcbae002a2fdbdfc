// FileCheck: whether the files that manifests name are there, of the size they are said to have, and hold
// what is said of them.
//
// Owned by one check of a table; one thread; blocks. Each file is looked at once, however many snapshots have
// it.
#pragma once

#include <map>
#include <set>
#include <string>

#include "iceberg/catalog/table_files.h"
#include "iceberg/deletes/position_set.h"
#include "iceberg/maintenance/violations.h"
#include "iceberg/manifest/manifest.h"
#include "iceberg/metadata/statistics_files.h"

namespace caudal::iceberg {

class FileCheck {
 public:
  FileCheck(const TableFiles* files, Violations* found) : files_(files), found_(found) {}

  // Of a data file or file of deletes: there, with its size; of Parquet also with its rows.
  Status Check(const DataFile& file, const std::string& place);
  // The vector can be read, and names rows of `data` alone.
  Status CheckVector(const DataFile& vector, const DataFile& data, const std::string& place);
  // The same of what a file of position deletes says of `data`.
  Status CheckPositions(const DataFile& deletes, const DataFile& data, const std::string& place);
  Status CheckStatistics(const StatisticsFile& statistics);

  int64_t files() const { return checked_; }
  int64_t bytes() const { return bytes_; }

 private:
  // True: it is there, with that size.
  Result<bool> IsThere(const std::string& location, int64_t size, const std::string& place);
  void CheckRows(const PositionSet& positions, const DataFile& data, const std::string& place);

  const TableFiles* files_;
  Violations* found_;
  std::map<std::string, int64_t> rows_;  // of files that were looked at, as they are said to have
  std::set<std::string> deletes_;        // pairs of deletes and data that were looked at
  int64_t checked_ = 0;
  int64_t bytes_ = 0;
};

}  // namespace caudal::iceberg
