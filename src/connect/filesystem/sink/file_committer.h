// FileCommitter: gives prepared files their names. What is named already is left alone, so that an epoch may
// be committed by anyone, any number of times.
#pragma once

#include "api/sink.h"
#include "connect/filesystem/sink/file_sink.h"

namespace caudal {

class FileCommitter : public SinkCommitter {
 public:
  // `plan` outlives the committer.
  explicit FileCommitter(const FileSinkPlan* plan) : plan_(plan) {}

  // A folder cannot tell.
  Result<Epoch> LastCommitted() override { return Epoch(); }
  CommitResult Commit(Epoch epoch, std::span<const Committable> committables) override;
  // Hidden files of this query's earlier generations.
  Status RemoveLeftovers() override;

 private:
  Status RemoveBelow(const std::string& folder);

  const FileSinkPlan* plan_;
};

}  // namespace caudal
