// ReplaceChanges: the manifests of a head in which some data files have taken the place of others.
//
// Made anew at each attempt of a commit, against the head that it asserts. One thread; blocks.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "iceberg/catalog/table_files.h"
#include "iceberg/commit/delete_changes.h"
#include "iceberg/commit/file_replacement.h"
#include "iceberg/commit/head_files.h"
#include "iceberg/commit/snapshot_summary.h"
#include "iceberg/manifest/manifest.h"

namespace caudal::iceberg {

struct ReplaceTarget {
  const TableFiles* files = nullptr;
  const TableMetadata* table = nullptr;
  HeadFiles* head = nullptr;  // loaded with `manifests`
  std::string name;           // of what is written, without its end; no other attempt has it
};

struct ReplaceChanges {
  std::vector<ManifestFile> manifests;  // of the new head, all of them
  PreparedAppend added;                 // as a summary counts it
  RemovedData removed;
  DeleteChanges deletes;
  int64_t moved_deletes = 0;
};

// Whether the head has all of the files that the group was made of.
bool IsWhole(const HeadFiles& head, const FileReplacement& group);

// Of the groups, which are whole. Adds to `written` each file that it writes, also if it fails.
Result<ReplaceChanges> MakeReplaceChanges(const ReplaceTarget& target,
                                          const std::vector<const FileReplacement*>& groups,
                                          const std::vector<ManifestFile>& manifests,
                                          std::vector<std::string>* written);

}  // namespace caudal::iceberg
