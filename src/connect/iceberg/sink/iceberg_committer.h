// IcebergCommitter: makes an epoch visible as one snapshot, found again by its token whoever repeats it.
//
// One thread at a time; the catalog is opened when it is first needed and again after an error.
#pragma once

#include <memory>
#include <span>

#include "api/position_keeper.h"
#include "api/sink.h"
#include "connect/iceberg/iceberg_lake.h"
#include "connect/iceberg/sink/iceberg_committable.h"
#include "connect/iceberg/sink/iceberg_sink_plan.h"

namespace caudal {

class IcebergCommitter : public SinkCommitter, public PositionKeeper {
 public:
  // `plan` outlives the committer.
  explicit IcebergCommitter(const IcebergSinkPlan* plan) : plan_(plan) {}

  // The newest token of this sink in the history of the branch.
  Result<Epoch> LastCommitted() override;
  void NotePositions(const std::vector<SourcePosition>& positions) override;
  CommitResult Commit(Epoch epoch, std::span<const Committable> committables) override;
  // Files of this sink's earlier generations that no snapshot has: data files, half or whole, and manifests.
  Status RemoveLeftovers() override;

 private:
  Result<IcebergLake*> Lake();
  // The rows are the epoch's; none: there is nothing to commit. Sets `lost` if a file is gone.
  Status CommitAppend(Epoch epoch, std::span<const Committable> committables, bool* lost);
  // Data error that names a file which is gone or another one.
  Status CheckFiles(const std::vector<IcebergCommittable>& parts) const;

  const IcebergSinkPlan* plan_;
  std::unique_ptr<IcebergLake> lake_;
  std::string positions_;  // JSON, of the epoch that is committed next
};

}  // namespace caudal
