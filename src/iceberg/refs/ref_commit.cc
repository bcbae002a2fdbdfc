#include "iceberg/refs/ref_commit.h"

#include <fmt/format.h>

namespace caudal::iceberg {
namespace {

constexpr int kRefAttempts = 6;
constexpr int64_t kRefWait = 100;

}  // namespace

Status CommitRefs(Catalog* catalog, const TableName& name, const PlanOfRefs& plan,
                  const RefOptions& options) {
  bool sent = false;
  Status last;
  int64_t wait = kRefWait;
  for (int attempt = 1;; ++attempt) {
    const Result<LoadedTable> loaded = catalog->LoadTable(name);
    if (loaded.ok()) {
      ASSIGN_OR_RETURN(std::optional<TableCommit> commit, plan(loaded->metadata, sent));
      if (!commit) return Status();
      commit->requirements.insert(commit->requirements.begin(), AssertTableUuid{loaded->metadata.table_uuid});
      const CommitAnswer answer = catalog->Commit(name, *commit);
      if (answer.outcome == CommitOutcome::kDone) return Status();
      if (answer.outcome == CommitOutcome::kUnknown) sent = true;
      if (answer.outcome == CommitOutcome::kRefused && answer.status.retry() != Retry::kBackoff)
        return answer.status;
      last = answer.status;
    } else if (loaded.status().retry() != Retry::kBackoff) {
      return loaded.status();
    } else {
      last = loaded.status();
    }
    if (attempt == kRefAttempts) {
      return Status::External(
                 fmt::format("the refs of table '{}' {} after {} tries: {}", name.ToString(),
                             sent ? "are not certain" : "did not change", attempt, last.message()),
                 Retry::kBackoff)
          .Hint("look at its refs, and say it again");
    }
    if (options.wait) options.wait(wait);
    wait *= 2;
  }
}

}  // namespace caudal::iceberg
