#include "connect/iceberg/upsert/table_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <tuple>

#include "connect/iceberg/iceberg_lake.h"
#include "connect/iceberg/scan/data_file_reader.h"
#include "data/row_key.h"
#include "iceberg/commit/branch_history.h"
#include "iceberg/index/kept_rows.h"

namespace caudal {
namespace {

using iceberg::IndexEntry;
using iceberg::KeyIndex;

constexpr size_t kEntriesOfARun = size_t{1} << 20;

// What a delete takes away, and from which file.
using DeleteName = std::tuple<std::string, int64_t, std::string>;
std::set<DeleteName> DeletesOf(const iceberg::ScanPlan& plan) {
  std::set<DeleteName> names;
  for (const iceberg::LiveFile& one : plan.deletes) {
    names.emplace(one.file.file_path, one.file.content_offset.value_or(0),
                  one.file.referenced_data_file.value_or(""));
  }
  return names;
}

// Gathers entries until they make a run.
class RunBuilder {
 public:
  explicit RunBuilder(KeyIndex* index) : index_(index) {}

  void BeginFile(const std::string& location) { data_files_.push_back(location); }
  Status Add(const iceberg::KeyHash& key, int64_t position) {
    entries_.push_back({key, static_cast<uint32_t>(data_files_.size() - 1), static_cast<uint32_t>(position)});
    return entries_.size() < kEntriesOfARun ? Status() : Flush();
  }
  Status Flush() {
    // Of a key that is there twice the row read last counts: files and positions ascend as they are read.
    std::sort(entries_.begin(), entries_.end(), [](const IndexEntry& a, const IndexEntry& b) {
      return std::tie(a.key, a.file, a.position) < std::tie(b.key, b.file, b.position);
    });
    size_t kept = 0;
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (i + 1 < entries_.size() && entries_[i + 1].key == entries_[i].key) continue;
      entries_[kept++] = entries_[i];
    }
    entries_.resize(kept);
    RETURN_IF_ERROR(index_->Add(entries_, data_files_));
    entries_.clear();
    data_files_.erase(data_files_.begin(), data_files_.end() - (data_files_.empty() ? 0 : 1));
    return Status();
  }

 private:
  KeyIndex* index_;
  std::vector<IndexEntry> entries_;
  std::vector<std::string> data_files_;
};

}  // namespace

TableKeys::TableKeys(const IcebergSinkPlan* plan) : plan_(plan), files_(plan->files, plan->env) {
  for (size_t i = 0; i < plan->key.size(); ++i) columns_.push_back(static_cast<int>(i));
}

TableKeys::~TableKeys() { EndMerge(); }

Result<std::unique_ptr<TableKeys>> TableKeys::Open(const IcebergSinkPlan* plan) {
  std::unique_ptr<TableKeys> made(new TableKeys(plan));
  ASSIGN_OR_RETURN(made->index_, KeyIndex::Open(plan->state_files, plan->scratch + "/index",
                                                plan->table.table_uuid + " " + plan->key_identity()));
  return made;
}

Status TableKeys::Find(std::span<const iceberg::KeyHash> keys, const KeyIndex::Found& found) {
  const std::shared_lock lock(mutex_);
  return index_->Find(keys, found);
}

Epoch TableKeys::committed() const {
  const std::shared_lock lock(mutex_);
  return committed_;
}

void TableKeys::NoteCommitted(Epoch epoch) {
  const std::unique_lock lock(mutex_);
  committed_ = std::max(committed_, epoch);
}

Status TableKeys::Advance(const iceberg::TableMetadata& table, const iceberg::Snapshot* head) {
  const std::unique_lock lock(mutex_);
  return AdvanceLocked(table, head);
}

Status TableKeys::MakeAnew(const iceberg::TableMetadata& table, const iceberg::Snapshot* head) {
  const std::unique_lock lock(mutex_);
  EndMerge();
  RETURN_IF_ERROR(index_->Clear());
  return AdvanceLocked(table, head);
}

Status TableKeys::AdvanceToHead() { return BringToHead(false); }

Status TableKeys::MakeAnewAtHead() { return BringToHead(true); }

Status TableKeys::BringToHead(bool anew) {
  ASSIGN_OR_RETURN(const auto lake, IcebergLake::Open(plan_->options, plan_->files, plan_->env));
  ASSIGN_OR_RETURN(const iceberg::LoadedTable table, lake->catalog().LoadTable(plan_->options.name));
  const iceberg::Snapshot* head = iceberg::HeadOf(table.metadata, plan_->branch);
  return anew ? MakeAnew(table.metadata, head) : Advance(table.metadata, head);
}

Status TableKeys::AdvanceLocked(const iceberg::TableMetadata& table, const iceberg::Snapshot* head) {
  std::optional<KeyIndex::Stamp> from = index_->stamp();
  KeyIndex::Stamp wanted;
  if (head != nullptr) wanted = {head->snapshot_id, head->sequence_number};
  if (from && from->snapshot_id == wanted.snapshot_id) return Status();
  if (from && table.last_sequence_number < from->sequence_number) {
    return Older();
  }
  EndMerge();
  from = index_->stamp();  // none, if the merge has lost the runs
  busy_ = true;
  Status status = Bring(table, head, from, wanted);
  busy_ = false;
  // What was read for this head must not come with the next.
  if (!status.ok()) index_->Discard();
  if (status.ok()) StartMerge();
  return status;
}

// A service may be behind for a while; a file is what it is.
Status TableKeys::Older() const {
  const char* what = "the catalog gave metadata that is older than a commit it acknowledged";
  Status older = plan_->options.catalog_type == IcebergOptions::CatalogType::kRest
                     ? Status::External(what, Retry::kBackoff)
                     : Status::User(what);
  return std::move(older).Hint(
      "if it was restored from a copy, bring the newer one back, or go on with the older table under another "
      "--state folder");
}

Status TableKeys::Bring(const iceberg::TableMetadata& table, const iceberg::Snapshot* head,
                        const std::optional<KeyIndex::Stamp>& from, const KeyIndex::Stamp& wanted) {
  iceberg::ScanPlan plan;
  if (head != nullptr) {
    ASSIGN_OR_RETURN(plan, iceberg::PlanScan(files_, table, *head));
  }
  if (from && head != nullptr) {
    ASSIGN_OR_RETURN(const bool added, AddNewFiles(table, plan, *head, *from));
    if (added) return index_->Seal(wanted);
  }
  return Rebuild(table, plan, wanted);
}

Status TableKeys::Rebuild(const iceberg::TableMetadata& table, const iceberg::ScanPlan& plan,
                          const KeyIndex::Stamp& stamp) {
  RETURN_IF_ERROR(index_->Clear());
  std::vector<const iceberg::ScanFile*> all;
  for (const iceberg::ScanFile& file : plan.files) all.push_back(&file);
  RETURN_IF_ERROR(AddFiles(table, plan, all));
  return index_->Seal(stamp);
}

Result<bool> TableKeys::AddNewFiles(const iceberg::TableMetadata& table, const iceberg::ScanPlan& plan,
                                    const iceberg::Snapshot& head, const KeyIndex::Stamp& from) {
  iceberg::ScanPlan former;
  if (from.snapshot_id != 0) {
    const iceberg::Snapshot* snapshot = table.FindSnapshot(from.snapshot_id);
    if (snapshot == nullptr) return false;  // it has expired, or the table was rolled back
    ASSIGN_OR_RETURN(former, iceberg::PlanScan(files_, table, *snapshot));
  }
  std::set<std::string_view> known;
  for (const iceberg::ScanFile& file : former.files) known.insert(file.data.file.file_path);
  std::vector<const iceberg::ScanFile*> added;
  for (const iceberg::ScanFile& file : plan.files) {
    if (!known.contains(file.data.file.file_path)) added.push_back(&file);
  }
  // A row that was rewritten has its key in a file that is new, so that what the index says of the former
  // file is hidden.
  if (iceberg::KeepsRows(table, head, from.snapshot_id)) {
    RETURN_IF_ERROR(AddFiles(table, plan, added));
    return true;
  }
  // Whatever was there must still be, and nothing of it be deleted since.
  if (plan.files.size() - added.size() != known.size()) return false;
  std::set<DeleteName> deletes = DeletesOf(plan);
  for (const iceberg::ScanFile* file : added) {
    for (const size_t number : file->deletes) {
      const iceberg::DataFile& one = plan.deletes[number].file;
      const bool of_it_alone = one.referenced_data_file == file->data.file.file_path;
      if (of_it_alone)
        deletes.erase({one.file_path, one.content_offset.value_or(0), *one.referenced_data_file});
    }
  }
  if (deletes != DeletesOf(former)) return false;
  RETURN_IF_ERROR(AddFiles(table, plan, added));
  return true;
}

Status TableKeys::AddFiles(const iceberg::TableMetadata& table, const iceberg::ScanPlan& plan,
                           const std::vector<const iceberg::ScanFile*>& files) {
  const iceberg::Schema& schema = *table.FindSchema(table.current_schema_id);
  std::vector<ScanColumn> columns;
  for (const int column : plan_->key) {
    const iceberg::Field* field = schema.FindField(plan_->ids[static_cast<size_t>(column)]);
    if (field == nullptr) {
      return Status::User(
          fmt::format("column '{}' of the key is no longer in the table", plan_->rows[column].name));
    }
    columns.push_back({ScanColumn::From::kField, field->name, plan_->rows[column].type, *field});
  }
  RunBuilder builder(index_.get());
  RowKeys keys;
  for (const iceberg::ScanFile* file : files) {
    const iceberg::DataFile& data = file->data.file;
    if (data.record_count > UINT32_MAX) {
      return Status::User(fmt::format("'{}' has {} rows, more than an index of keys can tell apart",
                                      data.file_path, data.record_count));
    }
    builder.BeginFile(data.file_path);
    ASSIGN_OR_RETURN(const auto reader,
                     DataFileReader::Open(plan_->files, table, plan, *file, columns, 0, 0));
    for (;;) {
      ASSIGN_OR_RETURN(const FileRows rows, reader->Next());
      if (rows.chunk.physical_rows() == 0) break;
      const RowSet live = rows.chunk.rows();
      keys.Encode(rows.chunk, columns_, live);
      for (int32_t i = 0; i < live.count; ++i) {
        RETURN_IF_ERROR(builder.Add(iceberg::HashKey(keys.key(i), plan_->key_seed), rows.first + live[i]));
      }
    }
  }
  return builder.Flush();
}

void TableKeys::Note(int64_t parent, const KeyIndex::Stamp& stamp, iceberg::EntrySource* entries,
                     int64_t most, const std::vector<std::string>& data_files) {
  const std::unique_lock lock(mutex_);
  const std::optional<KeyIndex::Stamp> from = index_->stamp();
  if (!from || from->snapshot_id != parent) return;
  Status status = index_->Add(entries, most, data_files);
  if (status.ok()) status = index_->Seal(stamp);
  if (status.ok()) return StartMerge();
  // The table has the rows; what the index lacks is read from there.
  EndMerge();
  (void)index_->Clear().ok();
}

// A merge that fails leaves the runs as they are.
void TableKeys::StartMerge() {
  if (merging_ || !index_->wants_merge()) return;
  EndMerge();
  merging_ = true;
  merger_ = std::thread([this] {
    while (index_->wants_merge() && index_->Merge().ok()) {
    }
    merging_ = false;
  });
}

void TableKeys::EndMerge() {
  if (merger_.joinable()) merger_.join();
}

}  // namespace caudal
