// ReachableFiles: every file that snapshots of a table are made of, by path.
//
// Owned by one command; one thread; blocks to read manifests, each once.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "iceberg/catalog/table_files.h"
#include "iceberg/manifest/manifest.h"

namespace caudal::iceberg {

class ReachableFiles {
 public:
  explicit ReachableFiles(const TableFiles* files) : files_(files) {}

  // The snapshot's list, its manifests, and the data files and files of deletes that they have; live ones, or
  // all that they tell of. A manifest that was added before is not read again.
  Status Add(const Snapshot& snapshot, bool live_only);
  // The same, going on over lists and manifests that are missing or damaged, whose locations are put into
  // `unread`. An error that may pass is answered all the same.
  Status AddReadable(const Snapshot& snapshot, bool live_only, std::vector<std::string>* unread);
  // What is no part of a snapshot: statistics, metadata files.
  Status AddFile(const std::string& location);

  // Locations by path, so that those of one file are one, however they are written.
  const std::map<std::string, std::string>& lists() const { return lists_; }
  const std::map<std::string, std::string>& manifests() const { return manifests_; }
  const std::map<std::string, std::string>& contents() const { return contents_; }  // data, deletes, others
  bool Has(const std::string& path) const {
    return lists_.contains(path) || manifests_.contains(path) || contents_.contains(path);
  }

 private:
  Result<std::vector<ManifestFile>> ManifestsOf(const Snapshot& snapshot);
  Status AddManifest(const ManifestFile& manifest, bool live_only);
  Status Put(const std::string& location, std::map<std::string, std::string>* to) const;

  const TableFiles* files_;
  std::map<std::string, std::string> lists_, manifests_, contents_;
  std::set<std::string> read_;  // manifests, by location
};

}  // namespace caudal::iceberg
