#include "connect/iceberg/upsert/upsert_writer.h"

#include <fmt/format.h>

#include "api/duplicate_counter.h"
#include "connect/iceberg/iceberg_types.h"
#include "connect/iceberg/sink/iceberg_committable.h"
#include "iceberg/catalog/table_files.h"

namespace caudal {
namespace {

class UpsertSealedEpoch : public SealedEpoch {
 public:
  UpsertSealedEpoch(const IcebergSinkPlan* plan, int task, Epoch epoch, std::unique_ptr<UpsertFiles> files,
                    UpsertRows rows)
      : plan_(plan), task_(task), epoch_(epoch), files_(std::move(files)), rows_(std::move(rows)) {}

  Result<Committable> Prepare() override {
    // Trouble with the disk shows in Finish; what goes wrong before it will do so again.
    if (!std::exchange(written_, true)) wrong_ = files_->Write(&rows_);
    RETURN_IF_ERROR(wrong_);
    ASSIGN_OR_RETURN(const std::vector<iceberg::DataFile> data, files_->Finish(epoch_));
    const std::string name =
        fmt::format("{}{}-{}-{}", plan_->final_prefix(), epoch_.generation, epoch_.number, task_);
    const iceberg::TableFiles files(plan_->files, plan_->env);
    IcebergCommittable made;
    ASSIGN_OR_RETURN(made.append, iceberg::PrepareAppend(files, plan_->table, plan_->spec.spec_id, data,
                                                         fmt::format("{}-{}", name, files.NewUuid())));
    for (const iceberg::DataFile& file : data)
      made.files.push_back({file.file_path, file.file_size_in_bytes});
    if (!files_->empty()) {
      ASSIGN_OR_RETURN(made.keys, files_->FinishPlaces());
      made.key_identity = plan_->key_identity();
    }
    const UpsertRows::Folded count = files_->Recount();
    return Committable{made.ToJson(), count.added, count.removed, made.append.bytes};
  }

 private:
  const IcebergSinkPlan* plan_;
  int task_;
  Epoch epoch_;
  std::unique_ptr<UpsertFiles> files_;
  UpsertRows rows_;
  bool written_ = false;
  Status wrong_;
};

}  // namespace

UpsertWriter::UpsertWriter(const IcebergSinkPlan* plan, TableKeys* keys, int task)
    : plan_(plan),
      keys_(keys),
      task_(task),
      rows_(&plan->key, plan->key_seed),
      files_(std::make_unique<UpsertFiles>(plan, keys, task)) {
  if (plan->options.unique != IcebergUnique::kUpsert) filter_ = std::make_unique<KeyFilter>(plan, keys);
}

Status UpsertWriter::Write(const Chunk& all, SinkRejects& rejects) {
  Chunk chunk = all;
  if (filter_ != nullptr) {
    ASSIGN_OR_RETURN(chunk, filter_->Keep(all));
    // A caller who could not count them would lose them.
    auto* counter = dynamic_cast<DuplicateCounter*>(&rejects);
    if (counter == nullptr) return Status::Internal("nobody counts the rows that the table has already");
    counter->Duplicate(all.size() - chunk.size());
    if (chunk.empty()) return Status();
  }
  std::vector<ColumnPtr> content;
  for (const ColumnPtr& column : chunk.columns()) content.push_back(FileColumn(column));
  rows_.Add(chunk, content);
  return rows_.bytes() < plan_->options.buffer_bytes ? Status() : files_->Write(&rows_);
}

Result<std::unique_ptr<SealedEpoch>> UpsertWriter::Seal(Epoch epoch) {
  if (filter_ != nullptr) filter_->Seal(epoch);
  auto files = std::exchange(files_, std::make_unique<UpsertFiles>(plan_, keys_, task_));
  UpsertRows rows = std::exchange(rows_, UpsertRows(&plan_->key, plan_->key_seed));
  return std::unique_ptr<SealedEpoch>(
      new UpsertSealedEpoch(plan_, task_, epoch, std::move(files), std::move(rows)));
}

int64_t UpsertWriter::buffered_bytes() const { return rows_.bytes() + files_->buffered_bytes(); }

}  // namespace caudal
