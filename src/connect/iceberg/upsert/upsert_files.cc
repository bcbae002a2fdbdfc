#include "connect/iceberg/upsert/upsert_files.h"

#include <fmt/format.h>

#include <algorithm>

namespace caudal {

Result<size_t> UpsertFiles::FileFor(const std::string& key) {
  const auto found = open_.find(key);
  if (found != open_.end()) return found->second;
  const RowPartitions::Partition& partition = partitions_.Find(key);
  ASSIGN_OR_RETURN(auto file, DataFileWriter::Make(plan_, {partition.values, partition.folder, task_,
                                                           keys_->NextFileNumber()}));
  files_.push_back(std::move(file));
  open_.emplace(key, files_.size() - 1);
  return files_.size() - 1;
}

// No row follows in the partition's file.
Status UpsertFiles::End(const std::string& key) {
  DataFileWriter* file = files_[open_.at(key)].get();
  open_.erase(key);
  RETURN_IF_ERROR(file->EndRows());
  for (bool more = true; more;) {
    ASSIGN_OR_RETURN(more, file->Step());
  }
  return Status();
}

Status UpsertFiles::WritePartition(const std::string& key, const std::vector<Rows>& parts,
                                   const UpsertRows& rows, KeyRun* run) {
  for (const Rows& part : parts) {
    ASSIGN_OR_RETURN(const size_t number, FileFor(key));
    DataFileWriter* file = files_[number].get();
    const UpsertRows::Batch& batch = rows.batches()[part.batch];
    auto position = static_cast<uint32_t>(file->rows());
    for (const uint16_t row : part.rows) {
      run->push_back({batch.keys[row], static_cast<uint32_t>(number), position++});
    }
    RETURN_IF_ERROR(
        file->Append(batch.rows.columns(), {part.rows.data(), static_cast<int32_t>(part.rows.size())}));
    for (bool more = true; more;) {
      ASSIGN_OR_RETURN(more, file->Step());
    }
    if (file->estimated_bytes() >= plan_->target_bytes) RETURN_IF_ERROR(End(key));
  }
  const bool too_many = open_.size() > static_cast<size_t>(plan_->options.max_open_files);
  return too_many && open_.contains(key) ? End(key) : Status();
}

Status UpsertFiles::Write(UpsertRows* rows) {
  if (rows->empty()) return Status();
  KeyRun run;
  std::unordered_map<std::string, std::vector<Rows>> parts;
  std::vector<std::string> order;  // of partitions, as their rows came
  const std::vector<SelectionPtr> live = rows->Live();
  for (size_t i = 0; i < live.size(); ++i) {
    if (live[i]->rows.empty()) continue;
    for (const PartitionShare& share : partitions_.Split(rows->batches()[i].rows.WithSelection(live[i]))) {
      std::vector<Rows>& part = parts[share.folder];
      if (part.empty()) order.push_back(share.folder);
      part.push_back({i, share.rows});
    }
  }
  for (const std::string& key : order) RETURN_IF_ERROR(WritePartition(key, parts.at(key), *rows, &run));
  for (const iceberg::KeyHash& key : rows->Gone()) {
    run.push_back({key, iceberg::IndexEntry::kGone, 0});
    ++folded_.removed;
  }
  std::sort(run.begin(), run.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  waiting_.push_back(std::move(run));
  folded_.added += rows->folded().added;
  folded_.removed += rows->folded().removed;
  rows->Clear();
  (void)WritePlaces().ok();  // the next run tries again, and FinishPlaces
  return Status();
}

Status UpsertFiles::WritePlaces() {
  if (places_ == nullptr) {
    const std::string path = fmt::format("{}/{}{}-{}-{}.places", plan_->scratch, plan_->final_prefix(),
                                         plan_->generation, task_, keys_->NextFileNumber());
    ASSIGN_OR_RETURN(places_, KeyPlacesWriter::Make(plan_->state_files, path));
  }
  for (const KeyRun& run : waiting_) places_->Add(run);
  waiting_.clear();
  return Status();
}

Result<KeyPlacesFile> UpsertFiles::FinishPlaces() {
  RETURN_IF_ERROR(WritePlaces());
  return places_->Finish();
}

Result<std::vector<iceberg::DataFile>> UpsertFiles::Finish(Epoch epoch) {
  while (finished_.size() < files_.size()) {
    std::unique_ptr<DataFileWriter>& file = files_[finished_.size()];
    ASSIGN_OR_RETURN(iceberg::DataFile data, file->Finish(epoch));
    finished_.push_back(std::move(data));
    file = nullptr;
  }
  return finished_;
}

UpsertRows::Folded UpsertFiles::Recount() const {
  UpsertRows::Folded count = folded_;
  for (const iceberg::DataFile& file : finished_) count.added += file.record_count;
  return count;
}

int64_t UpsertFiles::buffered_bytes() const {
  int64_t bytes = 0;
  for (const auto& file : files_) bytes += file == nullptr ? 0 : file->buffered_bytes();
  for (const KeyRun& run : waiting_) bytes += static_cast<int64_t>(run.size() * sizeof(run[0]));
  if (places_ != nullptr) bytes += places_->buffered_bytes();
  return bytes;
}

}  // namespace caudal
