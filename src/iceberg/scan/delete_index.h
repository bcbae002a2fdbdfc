// DeleteIndex: the live deletes of a snapshot, by what they can apply to.
//
// Built by one thread, then readable from any; refers to the list of deletes, which must outlive it
// unchanged.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "iceberg/metadata/table_metadata.h"
#include "iceberg/scan/scan_plan.h"

namespace caudal::iceberg {

class DeleteIndex {
 public:
  // Data error if two deletion vectors belong to one data file.
  static Result<DeleteIndex> Make(const std::vector<LiveFile>* deletes, const TableMetadata& table);

  // The deletes that apply to a data file, in the order of the list.
  std::vector<size_t> Find(const LiveFile& data) const;

 private:
  Status Add(size_t number, const std::set<int32_t>& unpartitioned);
  bool Applies(size_t number, const LiveFile& data) const;

  const std::vector<LiveFile>* deletes_ = nullptr;
  std::unordered_map<std::string, size_t> vectors_;                    // by data file
  std::unordered_map<std::string, std::vector<size_t>> by_file_;       // position deletes of one data file
  std::unordered_map<std::string, std::vector<size_t>> by_partition_;  // position and equality deletes
  std::vector<size_t> everywhere_;                                     // equality deletes without a partition
};

}  // namespace caudal::iceberg
