// FileCommitter: gives prepared files their names. What is named already is left alone, so that an epoch may
// be committed by anyone, any number of times; a file that is not the epoch's own is never replaced. Once the
// ledger has an epoch its files are their readers', and may be gone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/sink.h"
#include "connect/filesystem/sink/commit_ledger.h"
#include "connect/filesystem/sink/file_committable.h"
#include "connect/filesystem/sink/file_sink.h"

namespace caudal {

class FileCommitter : public SinkCommitter {
 public:
  // `plan` outlives the committer.
  explicit FileCommitter(const FileSinkPlan* plan)
      : plan_(plan), ledger_(plan->format.files, plan->ledger_path()) {}

  // As the ledger has it or the files that stand in the folder, for either may be gone; in a store the ledger
  // alone, which has there an epoch whose commit has only begun.
  Result<Epoch> LastCommitted() override;
  CommitResult Commit(Epoch epoch, std::span<const Committable> committables) override;
  // Hidden files of this sink's earlier generations: those that LastCommitted met, or else it looks for them.
  Status RemoveLeftovers() override;

 private:
  // Gives one file its name, or finds that it has it.
  CommitResult Name(const CommittedFile& file);
  CommitResult Rename(const CommittedFile& file);
  CommitResult Publish(const CommittedFile& file);
  static CommitResult Taken(const CommittedFile& file);
  CommitResult Lost(const CommittedFile& file) const;
  // What a walk through the table's folder, which may be large, is made for.
  struct Found {
    Epoch newest;
    std::vector<std::string> leftovers;
  };
  Status Look(const std::string& folder, Found* found) const;
  // Uploads that earlier generations left.
  Result<std::vector<UnpublishedFile>> LookForUploads() const;

  const FileSinkPlan* plan_;
  CommitLedger ledger_;
  std::optional<std::vector<std::string>> leftovers_;    // once looked for, until removed
  std::optional<std::vector<UnpublishedFile>> uploads_;  // the same, in a store
};

}  // namespace caudal
