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
  for (const IcebergCommittable& part : parts) {
    const auto first = static_cast<uint32_t>(made->data_files_.size());
    for (const auto& file : part.files) made->data_files_.push_back(file.location);
    if (!part.keys) continue;
    ASSIGN_OR_RETURN(auto places, KeyPlaces::Open(plan->state_files, *part.keys));
    made->most_ += places->entries();
    made->parts_.push_back({std::move(places), first});
  }
  return made;
}

// Runs stand in the order in which they were written, and no two tasks have one key: where it is hidden, a
// later run of the epoch has the key.
class EpochKeys::Merged {
 public:
  explicit Merged(const EpochKeys* epoch) : merge_(Open(epoch)) {}

  // Null at the end; valid until the next call.
  Result<const iceberg::EntryMerge::Merged*> Next() {
    ASSIGN_OR_RETURN(const iceberg::EntryMerge::Merged* next, merge_.Next());
    if (next == nullptr) return nullptr;
    merged_ = *next;
    if (!merged_.entry.gone()) merged_.entry.file += first_files_[merged_.source];
    return &merged_;
  }

 private:
  std::vector<iceberg::EntrySource*> Open(const EpochKeys* epoch) {
    std::vector<iceberg::EntrySource*> sources;
    for (const Part& part : epoch->parts_) {
      for (size_t run = 0; run < part.places->runs(); ++run) {
        sources.push_back(sources_.emplace_back(part.places->Read(run)).get());
        first_files_.push_back(part.first_file);
      }
    }
    return sources;
  }

  std::vector<std::unique_ptr<iceberg::EntrySource>> sources_;
  std::vector<uint32_t> first_files_;
  iceberg::EntryMerge merge_;
  iceberg::EntryMerge::Merged merged_;
};

std::unique_ptr<iceberg::EntrySource> EpochKeys::entries() const {
  class Last : public iceberg::EntrySource {
   public:
    explicit Last(const EpochKeys* epoch) : merged_(epoch) {}
    Result<const IndexEntry*> Next() override {
      for (;;) {
        ASSIGN_OR_RETURN(const iceberg::EntryMerge::Merged* next, merged_.Next());
        if (next == nullptr) return nullptr;
        if (!next->hidden) return &next->entry;
      }
    }

   private:
    Merged merged_;
  };
  return std::make_unique<Last>(this);
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

// A block of keys after the other, so that they are not all in memory.
Result<iceberg::DeletedRows> EpochKeys::FindRows() {
  iceberg::DeletedRows rows;
  std::vector<IndexEntry> block;
  Merged merged(this);
  for (bool more = true; more;) {
    ASSIGN_OR_RETURN(const iceberg::EntryMerge::Merged* next, merged.Next());
    more = next != nullptr;
    if (more && !next->hidden) block.push_back(next->entry);
    if (more && next->hidden && !next->entry.gone())
      rows[data_files_[next->entry.file]].Add(next->entry.position);
    if (more && block.size() < kBlock) continue;
    RETURN_IF_ERROR(FindFormer(block, &rows));
    block.clear();
  }
  if (left_out_ && plan_->options.unique == IcebergUnique::kFail) {
    return Status::User("another writer has added rows with keys of this epoch")
        .Hint("'caudal.unique' = 'fail' stops here: remove one of the rows, or take 'ignore'");
  }
  return rows;
}

Status EpochKeys::FindFormer(std::span<const IndexEntry> block, iceberg::DeletedRows* rows) {
  const bool upserts = plan_->options.unique == IcebergUnique::kUpsert;
  std::unordered_map<std::string, iceberg::PositionSet*> sets;  // those of `rows`, found faster
  std::vector<iceberg::KeyHash> wanted;
  for (const IndexEntry& entry : block) wanted.push_back(entry.key);
  return keys_->Find(wanted, [&](size_t number, const std::string& file, uint32_t position) {
    const IndexEntry& entry = block[number];
    if (!upserts) {
      // The task found the key absent; since then somebody else has added it, and was the first.
      left_out_ = true;
      if (!entry.gone()) (*rows)[data_files_[entry.file]].Add(entry.position);
      return;
    }
    iceberg::PositionSet*& set = sets[file];
    if (set == nullptr) set = &(*rows)[file];
    set->Add(position);
  });
}

}  // namespace caudal
