// QueryFolder: one query's checkpoint folder below a state folder, as commands look at it.
//
// Plain data. Finding takes no generation and changes nothing; a run may go on meanwhile.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "state/checkpoint_store.h"

namespace caudal {

struct QueryFolder {
  std::string query;  // pipeline/query, as the identity has it
  std::string path;
  std::vector<ManifestFile> manifests;  // oldest first; epochs only

  std::string pipeline() const { return query.substr(0, query.find('/')); }
  std::string name() const { return query.substr(query.find('/') + 1); }
  // The newest that can be read; none if nothing was committed or all are damaged.
  std::optional<Manifest> Newest() const;
};

// By folder name. User error if there is no such state folder.
Result<std::vector<QueryFolder>> FindQueryFolders(const std::string& state_root);

// "3-17"
std::string EpochName(const Epoch& epoch);
// "3-17 of 2026-03-01 12:00:00.000"
std::string EpochAndTime(const Manifest& manifest);

}  // namespace caudal
