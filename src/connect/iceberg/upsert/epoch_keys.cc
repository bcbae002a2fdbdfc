#include "connect/iceberg/upsert/epoch_keys.h"

#include <algorithm>
#include <unordered_map>

namespace caudal {

using iceberg::IndexEntry;

namespace {

constexpr size_t kBlock = 256 * 1024;  // keys that are looked up at once

}  // namespace

Result<std::unique_ptr<EpochKeys>> EpochKeys::Make(const IcebergSinkPlan* plan, TableKeys* keys,
                                                   const std::vector<IcebergCommittable>& parts) {
  std::unique_ptr<EpochKeys> made(new EpochKeys(plan, keys));
  size_t runs_in_all = 0;
  for (const IcebergCommittable& part : parts) {
    const auto first = static_cast<uint32_t>(made->data_files_.size());
    for (const auto& file : part.files) made->data_files_.push_back(file.location);
    if (!part.keys) continue;
    const size_t before = made->entries_.size();
    ASSIGN_OR_RETURN(const size_t runs, ReadKeyPlaces(plan->state_files, *part.keys, &made->entries_));
    for (size_t i = before; i < made->entries_.size(); ++i) {
      if (!made->entries_[i].gone()) made->entries_[i].file += first;
    }
    runs_in_all += runs;
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
  Result<iceberg::DeletedRows> rows = FindRows();
  if (rows.ok() || rows.status().domain() != Domain::kData) return rows;
  ASSIGN_OR_RETURN(const bool again, Reconsider(table, head));
  if (!again) return rows;
  return FindRows();
}

Result<bool> EpochKeys::Reconsider(const iceberg::TableMetadata& table, const iceberg::Snapshot* head) {
  if (std::exchange(reconsidered_, true)) return false;
  RETURN_IF_ERROR(keys_->MakeAnew(table, head));
  return true;
}

Result<iceberg::DeletedRows> EpochKeys::FindRows() {
  iceberg::DeletedRows rows;
  for (const IndexEntry& entry : replaced_) rows[data_files_[entry.file]].Add(entry.position);
  const bool upserts = plan_->options.unique == IcebergUnique::kUpsert;
  std::unordered_map<std::string, iceberg::PositionSet*> sets;  // those of `rows`, found faster
  RETURN_IF_ERROR(FindFormer([&](const IndexEntry& entry, const std::string& file, uint32_t position) {
    if (!upserts) {
      // The task found the key absent; since then somebody else has added it, and was the first.
      left_out_ = true;
      if (!entry.gone()) rows[data_files_[entry.file]].Add(entry.position);
      return;
    }
    iceberg::PositionSet*& set = sets[file];
    if (set == nullptr) set = &rows[file];
    set->Add(position);
  }));
  if (left_out_ && plan_->options.unique == IcebergUnique::kFail) {
    return Status::User("another writer has added rows with keys of this epoch")
        .Hint("'caudal.unique' = 'fail' stops here: remove one of the rows, or take 'ignore'");
  }
  return rows;
}

// A block of keys after the other, so that they are not all in memory twice.
Status EpochKeys::FindFormer(const Former& former) {
  std::vector<iceberg::KeyHash> wanted;
  for (size_t first = 0; first < entries_.size(); first += kBlock) {
    wanted.clear();
    for (size_t i = first; i < std::min(first + kBlock, entries_.size()); ++i)
      wanted.push_back(entries_[i].key);
    RETURN_IF_ERROR(keys_->Find(wanted, [&](size_t number, const std::string& file, uint32_t position) {
      former(entries_[first + number], file, position);
    }));
  }
  return Status();
}

}  // namespace caudal
