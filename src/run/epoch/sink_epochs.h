// SinkEpochs: what the sinks of a query have sealed and not yet committed, and their committers.
//
// Owned by the coordinator, whose thread calls all but Prepare and Commit: these block, run on I/O threads,
// and touch only what they were given.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/position_keeper.h"
#include "api/sink.h"
#include "api/sink_commit.h"
#include "state/manifest.h"

namespace caudal {

// The epoch of a sealed writer on its way to a committable.
struct PendingSeal {
  int node = 0;
  std::unique_ptr<SealedEpoch> sealed;
  std::optional<Committable> committable;
  Status status;
  bool running = false;
};

// One epoch that the manifest holds, on its way to every target.
struct PendingCommit {
  struct Target {
    int node = 0;
    std::string id;
    std::string target;
    SinkCommitter* committer = nullptr;
    std::vector<Committable> committables;
    bool committed = false;
  };
  Epoch epoch;
  bool kept = true;                       // in a checkpoint, so that a start again repeats it
  std::vector<SourcePosition> positions;  // of all sources
  std::vector<Target> targets;
};

class SinkEpochs {
 public:
  // `kept`: there is a checkpoint.
  explicit SinkEpochs(bool kept) : kept_(kept) {}

  // In the order in which sinks become visible.
  void AddSink(int node, std::string id, std::string target, std::unique_ptr<SinkCommitter> committer);
  SinkCommitter* committer(int node) const;

  void Add(int node, std::unique_ptr<SealedEpoch> sealed);
  // Those that wait for Prepare, again after an error; marks them running.
  std::vector<PendingSeal*> TakeWaiting();
  static void Prepare(PendingSeal* seal);
  void Prepared(PendingSeal* seal) { seal->running = false; }
  bool running() const;
  // The first failure of what is pending; OK when all is prepared.
  Status failure() const;

  // Rows in committables of `node` so far, those pending among them.
  int64_t recount(int node) const;
  std::vector<StoredCommittable> committables(int node) const;
  // The manifest, of these nodes, holds everything pending: what is to be committed now.
  PendingCommit Take(Epoch epoch, const std::vector<NodeState>& nodes);
  // The same from a manifest.
  PendingCommit Take(const Manifest& manifest) const;

  // What targets tell of their commits since the last call. While none runs.
  std::vector<SinkCommit> TakeCommits() const;

  // Each target not yet committed, in order. Whatever stops it is returned with the target's frame; External
  // with Retry::kBackoff means: repeat.
  static Status Commit(PendingCommit* commit);

 private:
  struct Slot {
    int node;
    std::string id;
    std::string target;
    std::unique_ptr<SinkCommitter> committer;
    int64_t recounted = 0;
  };
  bool kept_;
  std::vector<Slot> slots_;
  std::list<PendingSeal> pending_;
};

}  // namespace caudal
