// IcebergCommitter: makes an epoch visible as one snapshot, found again by its token whoever repeats it.
//
// One thread at a time; the catalog is opened when it is first needed and again after an error.
#pragma once

#include <memory>
#include <span>
#include <utility>

#include "api/position_keeper.h"
#include "api/sink.h"
#include "api/sink_commit.h"
#include "connect/iceberg/iceberg_lake.h"
#include "connect/iceberg/sink/branch_note.h"
#include "connect/iceberg/sink/iceberg_committable.h"
#include "connect/iceberg/sink/iceberg_sink_plan.h"
#include "connect/iceberg/sink/settled_epoch.h"
#include "connect/iceberg/upsert/table_keys.h"
#include "iceberg/commit/head_files.h"

namespace caudal {

class IcebergCommitter : public SinkCommitter, public PositionKeeper, public CommitTeller {
 public:
  // Both outlive the committer; `keys` is null if the table has no key.
  IcebergCommitter(const IcebergSinkPlan* plan, TableKeys* keys)
      : plan_(plan),
        keys_(keys),
        settled_(plan->state_files, plan->scratch),
        branch_(plan->state_files, plan->scratch) {}

  // The newest token of this sink in the history of the branch. User error if that lacks what was committed
  // to it.
  Result<Epoch> LastCommitted() override;
  void NotePositions(const std::vector<SourcePosition>& positions) override;
  CommitResult Commit(Epoch epoch, std::span<const Committable> committables) override;
  std::vector<SinkCommit> TakeCommits() override { return std::exchange(commits_, {}); }
  // Files of this sink's earlier generations that no snapshot has: data files, half or whole, and manifests.
  Status RemoveLeftovers() override;

 private:
  Result<IcebergLake*> Lake();
  // Whether the catalog may show a table as it was before a commit that it acknowledged.
  bool may_lag() const { return plan_->options.catalog_type == IcebergOptions::CatalogType::kRest; }
  // The rows are the epoch's; none: there is nothing to commit. Sets `lost` if a file is gone.
  Status CommitEpoch(Epoch epoch, std::span<const Committable> committables, bool* lost);
  Status CommitKeys(IcebergLake* lake, const std::vector<IcebergCommittable>& parts,
                    const iceberg::PipelineToken& token, const iceberg::AppendOptions& options);
  Status BringKeysAlong(IcebergLake* lake);
  // The epoch was acknowledged just now, by an attempt that began at `began` (wall clock, ms).
  void NoteCommit(const iceberg::PipelineToken& token, const iceberg::AppendOutcome& outcome, int64_t began);
  // What another process or a person may have done to the branch since the last commit.
  Status CheckBranch(IcebergLake* lake);
  // What the history tells of the sink's epochs, acknowledged when nobody was there any more to note it.
  void NoteHistory(const iceberg::TableMetadata& table);
  // User error if the epoch was prepared for another key than the table is declared with now.
  Status CheckKey(const std::vector<IcebergCommittable>& parts) const;
  // Data error that names a file which is gone or another one.
  Status CheckFiles(const std::vector<IcebergCommittable>& parts) const;

  const IcebergSinkPlan* plan_;
  TableKeys* keys_;
  iceberg::HeadFiles known_;  // of the table, from commit to commit
  std::unique_ptr<IcebergLake> lake_;
  SettledEpoch settled_;
  BranchNote branch_;
  std::vector<SinkCommit> commits_;  // not taken yet
  std::string positions_;            // JSON, of the epoch that is committed next
};

}  // namespace caudal
