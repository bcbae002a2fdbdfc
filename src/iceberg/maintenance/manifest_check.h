// CheckManifest: whether a manifest is what its line in the manifest list says, and its entries hold
// together.
//
// Blocks to read the manifest; one thread.
#pragma once

#include <string>
#include <vector>

#include "iceberg/catalog/table_files.h"
#include "iceberg/maintenance/violations.h"
#include "iceberg/manifest/manifest.h"

namespace caudal::iceberg {

// A manifest that was read: its live entries, without the statistics of columns.
struct CheckedManifest {
  ManifestFile line;
  std::vector<ManifestEntry> live;
};

// External error if the disk does not answer; all else is a violation.
Result<CheckedManifest> CheckManifest(const TableFiles& files, const TableMetadata& table,
                                      const ManifestFile& line, const std::string& place, Violations* found);

// The bytes of a file; nothing, and a violation, if it is not there.
Result<std::optional<std::string>> ReadIfThere(const TableFiles& files, const std::string& location,
                                               const std::string& place, Violations* found);

}  // namespace caudal::iceberg
