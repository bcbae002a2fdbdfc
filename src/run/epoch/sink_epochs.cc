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

Status CommitOne(PendingCommit::Target& target, Epoch epoch) {
  FAULT_POINT(sink_commit_before);
  CommitResult result = target.committer->Commit(epoch, target.committables);
  if (result.outcome == CommitOutcome::kCommitted) {
    FAULT_POINT(sink_commit_after);
    target.committed = true;
    return Status();
  }
  if (Faults::IsInjectedCrash(result.status)) return result.status;
  std::string why = result.status.ok() ? std::string("no reason given") : result.status.message();
  if (result.outcome == CommitOutcome::kUnknown) {
    return Status::External(
        fmt::format("no answer to the commit of epoch {}-{}: {}", epoch.generation, epoch.number, why),
        Retry::kBackoff);
  }
  if (result.outcome == CommitOutcome::kRefused) {
    return Status::User(
               fmt::format("the target refuses epoch {}-{}: {}", epoch.generation, epoch.number, why))
        .Hint(
            "the epoch is kept in the checkpoint: mend the target and start the query again, which repeats "
            "the commit");
  }
  return Status::Data(fmt::format("the prepared rows of epoch {}-{} are gone: {}", epoch.generation,
                                  epoch.number, why))
      .Hint(
          "bring them back (backup of the target's folder) and start again, or rebuild under a new "
          "checkpoint path");
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

PendingCommit SinkEpochs::Take(Epoch epoch) {
  PendingCommit commit;
  commit.epoch = epoch;
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

Status SinkEpochs::Commit(PendingCommit* commit) {
  bool first = true;
  for (PendingCommit::Target& target : commit->targets) {
    if (target.committed) continue;
    if (!first) FAULT_POINT(sink_commit_between);
    first = false;
    Status status = CommitOne(target, commit->epoch);
    if (!status.ok()) return std::move(status).At("sink " + target.target);
  }
  return Status();
}

}  // namespace caudal
