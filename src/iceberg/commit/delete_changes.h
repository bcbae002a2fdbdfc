// DeleteChanges: what taking rows away does to the deletes of a branch's head: in format 3 one deletion
// vector for each data file touched, which holds what its former one held and replaces it; in format 2 files
// of position deletes.
//
// Made anew at each attempt of a commit, against the head that the attempt asserts. One thread; blocks.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "iceberg/catalog/table_files.h"
#include "iceberg/commit/head_files.h"
#include "iceberg/deletes/position_set.h"
#include "iceberg/manifest/manifest.h"

namespace caudal::iceberg {

using DeletedRows = std::map<std::string, PositionSet>;  // by data file

struct DeleteChanges {
  std::vector<ManifestFile> manifests;  // durable, in no list yet
  std::set<std::string> replaced;       // manifests of the head in whose place they stand
  std::set<std::string> partitions;     // that lost rows, as PreparedAppend has them
  // Files of deletes, of which `vectors` are deletion vectors; the positions in them; bytes.
  struct Count {
    int64_t files = 0, vectors = 0, positions = 0, bytes = 0;
  };
  Count added, removed;
};

struct DeleteTarget {
  const TableFiles* files = nullptr;
  const TableMetadata* table = nullptr;
  const HeadFiles* head = nullptr;  // with the data files that the commit itself adds
  std::string name;                 // of what is written, without its end; no other attempt has it
};

// Internal error that names a data file which the head does not have, or the position behind its end.
Status CheckDeletedRows(const HeadFiles& head, const DeletedRows& rows);

// Writes what is needed; nothing if all of `rows` are gone already. REQUIRES: CheckDeletedRows is OK. Adds to
// `written` each file that it writes, also if it fails.
Result<DeleteChanges> MakeDeleteChanges(const DeleteTarget& target, const DeletedRows& rows,
                                        std::vector<std::string>* written);

}  // namespace caudal::iceberg
