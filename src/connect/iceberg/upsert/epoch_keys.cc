#include "connect/iceberg/upsert/epoch_keys.h"

#include <algorithm>
#include <unordered_map>

namespace caudal {

using iceberg::IndexEntry;

Result<std::unique_ptr<EpochKeys>> EpochKeys::Make(TableKeys* keys, FileSystem* files,
                                                   const std::vector<IcebergCommittable>& parts) {
  std::unique_ptr<EpochKeys> made(new EpochKeys(keys));
  size_t runs_in_all = 0;
  for (const IcebergCommittable& part : parts) {
    const auto first = static_cast<uint32_t>(made->data_files_.size());
    for (const auto& file : part.files) made->data_files_.push_back(file.location);
    if (!part.keys) continue;
    ASSIGN_OR_RETURN(const std::vector<KeyRun> runs, ReadKeyPlaces(files, *part.keys));
    for (const KeyRun& run : runs) {
      for (IndexEntry entry : run) {
        if (!entry.gone()) entry.file += first;
        made->entries_.push_back(entry);
      }
      ++runs_in_all;
    }
  }
  if (runs_in_all > 1) made->Fold();
  return made;
}

// Runs stand in the order in which they were written, and no two tasks have one key.
void EpochKeys::Fold() {
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const IndexEntry& a, const IndexEntry& b) { return a.key < b.key; });
  size_t kept = 0;
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (i + 1 == entries_.size() || entries_[i + 1].key != entries_[i].key) {
      entries_[kept++] = entries_[i];
    } else if (!entries_[i].gone()) {
      replaced_.push_back(entries_[i]);
    }
  }
  entries_.resize(kept);
}

Result<iceberg::DeletedRows> EpochKeys::Find(const iceberg::TableMetadata& table,
                                             const iceberg::Snapshot* head) {
  RETURN_IF_ERROR(keys_->Advance(table, head));
  iceberg::DeletedRows rows;
  for (const IndexEntry& entry : replaced_) rows[data_files_[entry.file]].Add(entry.position);
  std::vector<iceberg::KeyHash> wanted;
  wanted.reserve(entries_.size());
  for (const IndexEntry& entry : entries_) wanted.push_back(entry.key);
  std::unordered_map<const std::string*, iceberg::PositionSet*> sets;  // by the index's own text
  RETURN_IF_ERROR(keys_->index().Find(wanted, [&](size_t, const std::string& file, uint32_t position) {
    iceberg::PositionSet*& set = sets[&file];
    if (set == nullptr) set = &rows[file];
    set->Add(position);
  }));
  return rows;
}

}  // namespace caudal
