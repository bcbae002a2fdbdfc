// HeadFiles: what the head of a branch has: its data files by path, and the deletes that touch them.
//
// One thread. Manifests never change, so that those read once are remembered from commit to commit; what a
// data file's statistics say is not. A manifest of deletes is loaded only once it is committed. What Find…
// answers lives until the next Load.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "iceberg/catalog/table_files.h"
#include "iceberg/manifest/manifest.h"

namespace caudal::iceberg {

class HeadFiles {
 public:
  // Makes these, and nothing else, the manifests that it knows; blocks to read new ones. Data error for a
  // damaged manifest and for two deletion vectors of one file. Knows none after an error.
  Status Load(const TableFiles& files, const std::vector<ManifestFile>& manifests);

  struct Data {
    int32_t spec_id = 0;
    std::vector<Value> partition;
    int64_t records = 0;
    int64_t sequence_number = 0;  // of its data
  };
  const Data* FindData(std::string_view path) const;            // null: no such file
  const ManifestFile* ManifestOf(std::string_view path) const;  // that has the data file; null: none
  void ForEachData(const std::function<void(std::string_view path, const Data& data)>& each) const;

  // A live entry of a manifest of deletes.
  struct Delete {
    const ManifestFile* manifest = nullptr;
    const ManifestEntry* entry = nullptr;
  };
  const Delete* FindVector(std::string_view path) const;  // the data file's; null: it has none
  // Files of position deletes (format 2) that may hold some of this data file.
  std::vector<Delete> FindPositions(std::string_view path, const Data& data) const;
  // Every live entry of a manifest of deletes.
  const std::vector<ManifestEntry>& EntriesOf(const ManifestFile& manifest) const;
  // Whether one of the other's data files is among these.
  bool HasAnyOf(const HeadFiles& other) const;
  size_t data_files() const { return data_.size(); }

 private:
  struct Contents {
    ManifestFile manifest;
    std::vector<ManifestEntry> deletes;              // of a manifest of deletes
    std::vector<std::pair<std::string, Data>> data;  // of one of data
  };
  Status Change(const TableFiles& files, const std::vector<ManifestFile>& manifests);
  static Result<std::unique_ptr<Contents>> Read(const TableFiles& files, const ManifestFile& manifest);
  bool Settle(const ManifestFile& manifest);
  Status AddVectors(const Contents& contents);
  void Forget(const Contents& contents);

  std::map<std::string, std::unique_ptr<Contents>> contents_;  // by the manifest's path
  struct Place {
    const Contents* contents = nullptr;
    const Data* data = nullptr;
  };
  std::unordered_map<std::string_view, Place> data_;
  std::unordered_map<std::string_view, Delete> vectors_;
};

}  // namespace caudal::iceberg
