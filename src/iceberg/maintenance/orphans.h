// FindOrphans: files in a table's folders that nothing in its metadata names: what writers that died,
// removals that failed and lost commits left behind.
//
// One thread; blocks. Four rules keep it from taking what is alive: the folders are listed before the table
// is asked once more, so that what was committed meanwhile is known; a file must be old, and one
// of an unknown age is not; one that a caudal sink may still commit is left; and where a file that the table
// names is not found, but one of the same last name that it does not name, nothing is believed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "iceberg/catalog/catalog.h"
#include "iceberg/catalog/table_files.h"

namespace caudal::iceberg {

inline constexpr int64_t kOrphanAgeMillis = int64_t{3} * 24 * 3600 * 1000;

struct OrphanOptions {
  int64_t min_age_ms = kOrphanAgeMillis;
  // Whether a commit that is prepared, and not yet done, may need the file of this name in this table.
  std::function<bool(const TableMetadata& table, const std::string& name)> in_flight;
};

struct OrphanFile {
  std::string path;
  int64_t size = 0;
  int64_t modified_micros = 0;
};

struct OrphanReport {
  std::vector<OrphanFile> orphans;  // by path
  int64_t listed = 0;               // files that were looked at
  int64_t young = 0;                // unknown to the table, and not old enough, or of no age
  int64_t in_flight = 0;            // unknown to the table, and perhaps about to be committed
};

// Changes nothing. User error if the table forbids it ('gc.enabled' = 'false'), and if a file that the
// metadata names seems to be found under another path: nothing could be told then.
Result<OrphanReport> FindOrphans(Catalog* catalog, const TableFiles& files, const TableName& name,
                                 const OrphanOptions& options);

}  // namespace caudal::iceberg
