// Manifests put together, so that the list of a table that is committed to for long stays short.
//
// Each commit may join some of those that its head has: never its own, of which it may be found again, and so
// few that it costs the same whatever the table has grown to. Functions; one thread; JoinManifests blocks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "iceberg/catalog/table_files.h"
#include "iceberg/manifest/manifest.h"

namespace caudal::iceberg {

// Numbers in `listed`, ascending, of one content and spec, that are worth joining now; mostly none. Those of
// about the same number of files are joined, so that each entry is written again but a few times in its life.
// By the table's 'commit.manifest-merge.enabled' and 'commit.manifest.…'.
std::vector<size_t> PlanMerge(const TableMetadata& table, const std::vector<ManifestFile>& listed);

// Whether manifests of the spec can be written: no partition can be of a column that is gone.
bool IsWritable(const TableMetadata& table, int32_t spec_id);

struct JoinTarget {
  const TableFiles* files = nullptr;
  const TableMetadata* table = nullptr;
  std::string name;  // of what is written, without number and end; no other attempt has it
  std::vector<std::string>* written = nullptr;  // told of each file
  int64_t next = 0;                             // the number of the next
};

// The live entries of all of them, which are committed and of one content and spec, partition by partition,
// in `parts` manifests or fewer, appended to `joined`. Data error for one that is not what its line of the
// list says, since what it lacks would be gone for good.
Status JoinManifests(const std::vector<ManifestFile>& group, int64_t parts, JoinTarget* target,
                     std::vector<ManifestFile>* joined);

}  // namespace caudal::iceberg
