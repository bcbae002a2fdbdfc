#include "run/epoch/sink_epochs.h"

#include <fmt/format.h>

#include "base/fault_point.h"

namespace caudal {
namespace {

Status PrepareOne(PendingSeal* seal) {
  FAULT_POINT(sink_prepare_before);
  ASSIGN_OR_RETURN(Committable committable, seal->sealed->Prepare());
  FAULT_POINT(sink_prepare_after);
  seal->committable = std::move(committable);
  return Status();
}

// With the places that the sink names.
Status Framed(Status status, const Status& why) {
  if (why.ok()) return status;
  for (const std::string& frame : why.frames()) status = std::move(status).At(frame);
  return status;
}

// What to do about a commit that no repetition mends; what the sink itself says comes first.
std::string WayOut(const Status& why, bool kept, std::string_view with_checkpoint, std::string_view without) {
  std::string hint = why.ok() ? "" : why.hint();
  if (!hint.empty()) hint += "; ";
  return hint.append(kept ? with_checkpoint : without);
}

std::vector<SourcePosition> PositionsIn(const std::vector<NodeState>& nodes) {
  std::vector<SourcePosition> positions;
  for (const NodeState& node : nodes) {
    for (const SplitState& split : node.splits) positions.push_back({node.id, split.id, split.position});
  }
  return positions;
}

Status CommitOne(PendingCommit::Target& target, const PendingCommit& commit) {
  FAULT_POINT(sink_commit_before);
  if (auto* keeper = dynamic_cast<PositionKeeper*>(target.committer)) keeper->NotePositions(commit.positions);
  CommitResult result = target.committer->Commit(commit.epoch, target.committables);
  if (result.outcome == CommitOutcome::kCommitted) {
    FAULT_POINT(sink_commit_after);
    target.committed = true;
    return Status();
  }
  const Status& why = result.status;
  if (Faults::IsInjectedCrash(why)) return why;
  const std::string epoch =
      commit.kept ? fmt::format("epoch {}-{}", commit.epoch.generation, commit.epoch.number) : "the rows";
  const std::string reason = why.ok() ? std::string("no reason given") : why.message();
  if (result.outcome == CommitOutcome::kUnknown) {
    Status unknown = Framed(
        Status::External(fmt::format("no answer to the commit of {}: {}", epoch, reason), Retry::kBackoff),
        why);
    return why.ok() || why.hint().empty() ? unknown : std::move(unknown).Hint(why.hint());
  }
  if (result.outcome == CommitOutcome::kRefused) {
    std::string message = fmt::format("the target refuses {}: {}", epoch, reason);
    // Rows that break a constraint are the data's fault.
    const bool data = !why.ok() && why.domain() == Domain::kData;
    Status refused = data ? Status::Data(std::move(message)) : Status::User(std::move(message));
    return Framed(std::move(refused), why)
        .Hint(WayOut(
            why, commit.kept,
            "the epoch is kept in the checkpoint: mend the target and start the query again, which repeats "
            "the commit",
            "mend the target, or leave such rows out, and run the statement again"));
  }
  return Framed(Status::Data(fmt::format("what was prepared of {} is not there: {}", epoch, reason)), why)
      .Hint(WayOut(
          why, commit.kept,
          "bring it back (backup of the target's folder) and start again, or rebuild into empty targets "
          "under another --state folder",
          "run the statement again"));
}

}  // namespace

void SinkEpochs::AddSink(int node, std::string id, std::string target,
                         std::unique_ptr<SinkCommitter> committer) {
  slots_.push_back({node, std::move(id), std::move(target), std::move(committer)});
}

SinkCommitter* SinkEpochs::committer(int node) const {
  for (const Slot& slot : slots_) {
    if (slot.node == node) return slot.committer.get();
  }
  return nullptr;
}

void SinkEpochs::Add(int node, std::unique_ptr<SealedEpoch> sealed) {
  if (sealed == nullptr) return;
  PendingSeal& seal = pending_.emplace_back();
  seal.node = node;
  seal.sealed = std::move(sealed);
}

std::vector<PendingSeal*> SinkEpochs::TakeWaiting() {
  std::vector<PendingSeal*> waiting;
  for (PendingSeal& seal : pending_) {
    if (seal.running || seal.committable) continue;
    seal.running = true;
    seal.status = Status();
    waiting.push_back(&seal);
  }
  return waiting;
}

void SinkEpochs::Prepare(PendingSeal* seal) { seal->status = PrepareOne(seal); }

bool SinkEpochs::running() const {
  for (const PendingSeal& seal : pending_) {
    if (seal.running) return true;
  }
  return false;
}

Status SinkEpochs::failure() const {
  for (const PendingSeal& seal : pending_) {
    if (seal.status.ok()) continue;
    for (const Slot& slot : slots_) {
      if (slot.node == seal.node) return Status(seal.status).At("sink " + slot.target);
    }
    return seal.status;
  }
  return Status();
}

int64_t SinkEpochs::recount(int node) const {
  int64_t rows = 0;
  for (const Slot& slot : slots_) rows += slot.node == node ? slot.recounted : 0;
  for (const PendingSeal& seal : pending_) {
    if (seal.node == node && seal.committable) {
      rows += seal.committable->rows_added + seal.committable->rows_removed;
    }
  }
  return rows;
}

std::vector<StoredCommittable> SinkEpochs::committables(int node) const {
  std::vector<StoredCommittable> stored;
  for (const PendingSeal& seal : pending_) {
    if (seal.node != node || !seal.committable) continue;
    const Committable& one = *seal.committable;
    stored.push_back({one.payload, one.rows_added, one.rows_removed, one.bytes});
  }
  return stored;
}

PendingCommit SinkEpochs::Take(Epoch epoch, const std::vector<NodeState>& nodes) {
  PendingCommit commit;
  commit.epoch = epoch;
  commit.kept = kept_;
  commit.positions = PositionsIn(nodes);
  for (Slot& slot : slots_) {
    slot.recounted = recount(slot.node);
    PendingCommit::Target& target = commit.targets.emplace_back();
    target.node = slot.node;
    target.id = slot.id;
    target.target = slot.target;
    target.committer = slot.committer.get();
    for (PendingSeal& seal : pending_) {
      if (seal.node == slot.node && seal.committable)
        target.committables.push_back(std::move(*seal.committable));
    }
    std::erase_if(pending_, [&](const PendingSeal& seal) { return seal.node == slot.node; });
  }
  return commit;
}

PendingCommit SinkEpochs::Take(const Manifest& manifest) const {
  PendingCommit commit;
  commit.epoch = manifest.epoch;
  commit.positions = PositionsIn(manifest.nodes);
  for (const Slot& slot : slots_) {
    const NodeState* node = manifest.Find(slot.id);
    if (node == nullptr) continue;  // a sink added since
    PendingCommit::Target& target = commit.targets.emplace_back();
    target.node = slot.node;
    target.id = slot.id;
    target.target = slot.target;
    target.committer = slot.committer.get();
    for (const StoredCommittable& one : node->committables) {
      target.committables.push_back({one.payload, one.rows_added, one.rows_removed, one.bytes});
    }
  }
  return commit;
}

std::vector<SinkCommit> SinkEpochs::TakeCommits() const {
  std::vector<SinkCommit> commits;
  for (const Slot& slot : slots_) {
    auto* teller = dynamic_cast<CommitTeller*>(slot.committer.get());
    if (teller == nullptr) continue;
    for (SinkCommit& commit : teller->TakeCommits()) {
      commit.sink = slot.id;
      commits.push_back(std::move(commit));
    }
  }
  return commits;
}

Status SinkEpochs::Commit(PendingCommit* commit) {
  bool first = true;
  for (PendingCommit::Target& target : commit->targets) {
    if (target.committed) continue;
    if (!first) FAULT_POINT(sink_commit_between);
    first = false;
    Status status = CommitOne(target, *commit);
    if (!status.ok()) return std::move(status).At("sink " + target.target);
  }
  return Status();
}

}  // namespace caudal
