// RewriteManifests: many small manifests of a branch's head as few of the wanted size, the files of one
// partition beside each other, so that readers open fewer of them and leave more of them out.
//
// One thread; blocks. Every live file stays what it was: its numbers, its row ids, its statistics. Whoever
// commits meanwhile wins: what was written goes, and is made anew upon the new head.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "iceberg/catalog/catalog.h"
#include "iceberg/catalog/table_files.h"

namespace caudal::iceberg {

struct RewriteManifestsOptions {
  std::string branch = "main";
  std::optional<int64_t> target_bytes;  // default: commit.manifest.target-size-bytes of the table, or 8 MB
  std::function<void(int64_t millis)> wait;  // between attempts; nothing: no pause
};

struct RewriteManifestsReport {
  int64_t snapshot_id = 0;  // 0: there was nothing to do
  int64_t replaced = 0;
  int64_t written = 0;
  int64_t kept = 0;
};

// External error (backoff) if others were quicker again and again, or the outcome is not certain: the same
// call may be repeated.
Result<RewriteManifestsReport> RewriteManifests(Catalog* catalog, const TableFiles& files,
                                                const TableName& name,
                                                const RewriteManifestsOptions& options);

}  // namespace caudal::iceberg
