// Coordinator: drives the epochs of one job: barrier, seal and snapshot, prepare, accounting, manifest,
// commit, and tells the sources.
//
// A Runnable that never blocks: what does runs as a job of the executor and posts its result back. Tasks talk
// to it through EpochControl from any thread. At most one epoch is between barrier and manifest, and one
// between manifest and commit; the two may overlap. A Prepare or state write that failed for a while abandons
// the epoch: the next one covers all since the last commit.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "run/epoch/dead_row_budget.h"
#include "run/epoch/epoch_control.h"
#include "run/epoch/epoch_options.h"
#include "run/epoch/epoch_stages.h"
#include "run/epoch/memory_watch.h"
#include "run/epoch/split_discovery.h"
#include "run/epoch/state_segments.h"
#include "run/job_progress.h"
#include "run/task_graph.h"

namespace caudal {

class Coordinator : public Runnable, public EpochControl {
 public:
  // What it works with; all but `base`, the manifest restored from, outlive it.
  struct Parts {
    Env* env = nullptr;
    Executor* executor = nullptr;
    MemoryBudget* budget = nullptr;
    CheckpointStore* store = nullptr;  // null: ephemeral
    const Plan* plan = nullptr;
    TaskGraph* graph = nullptr;
    std::vector<Endpoint>* endpoints = nullptr;
    SinkEpochs* sinks = nullptr;
    StateSegments* segments = nullptr;
    std::vector<std::unique_ptr<SplitDiscovery>>* discoveries = nullptr;
    std::vector<NodeState> fingerprints;  // by node: id, label, fingerprint, tables
    std::optional<Manifest> base;
    std::function<void(Status, bool schema_changed)> finished;  // once; from Run
  };
  Coordinator(Parts parts, EpochOptions options);

  void Start();
  Outcome Run() override;

  // Any thread.
  void RequestStop(bool drain);
  void OnAck(NodeAck ack) override;
  void OnSegment(TableSegment segment) override;
  bool TakesSegment() override { return parts_.store == nullptr || parts_.segments->TakesMore(); }
  void OnFailure(Status status) override;
  void OnSplitFinished(int node, const Split& split) override;
  void OnSourceEnded() override;
  void RequestEpoch() override;
  void OnNewSchema() override;
  StateTable::SnapshotKind snapshot_kind(int node) const override {
    return kinds_[static_cast<size_t>(node)];
  }
  CheckpointProgress progress() const;
  const Manifest* base() const { return parts_.base ? &*parts_.base : nullptr; }

 private:
  void Post(std::function<void()> result);
  // `job` on an I/O thread; what it returns runs here.
  void Submit(std::function<std::function<void()>()> job);
  void TakeInbox();
  void TakeAck(NodeAck ack);
  void Fail(Status status);
  // No task takes another step; TellEnd when the last one has taken its last.
  void Finish(Status status);
  void TellEnd();

  int64_t EpochAfter(int64_t now) const;
  void MaybeBegin(int64_t now);
  void Begin(bool stop, int64_t now);
  void ChargeSealed(int64_t bytes);
  void SubmitPrepares();
  void MaybeWriteState();
  void WakeTasks();
  void MaybeMakeManifest(int64_t now);
  void Abandon(Status why, int64_t now);
  Manifest BuildManifest() const;
  void OnManifest(const Manifest& manifest);
  void MaybeCommit(int64_t now);
  // Blocks; touches the landing epoch alone.
  Status CommitLanding();
  void OnCommitted();
  void TellCommits();
  void MaybeDiscover(int64_t now);
  void WakeSources(int node);
  void HandOut(const SplitDiscovery& discovery, const std::vector<SplitState>& splits);
  Status OperatorTrouble() const;
  void MaybeGiveUp(int64_t now);
  void Arm(int64_t now);  // sets the timer for what is due next

  Parts parts_;
  const EpochOptions options_;
  MemoryWatch memory_;
  DeadRowBudget dead_rows_;
  std::vector<NodeRole> roles_;
  std::vector<std::string> ids_;
  std::vector<StateTable::SnapshotKind> kinds_;
  int64_t number_;                       // of the last epoch begun
  Epoch previous_;                       // the last manifest
  std::optional<EpochFlight> flight_;    // between barrier and manifest
  std::optional<EpochLanding> landing_;  // between manifest and commit
  Arrivals abandoned_arrivals_;
  int64_t sealed_bytes_ = 0;  // charged for rows that no manifest holds yet
  int64_t next_epoch_nanos_ = 0, earliest_epoch_nanos_ = 0;
  int64_t abandon_backoff_nanos_ = 0;
  int sources_running_ = 0;
  bool schema_changed_ = false, finished_ = false, told_ = false;
  Status end_;                        // once finished_
  std::atomic<size_t> stepping_ = 0;  // once finished_: tasks that may still be in a step
  bool stop_due_ = false;             // the next epoch is the last
  bool drained_ = false;              // the input ends because it was told to
  Status failing_;                    // why the last attempt at an epoch did not commit it
  int64_t give_up_at_ = INT64_MAX;    // asked to stop: until when it is tried again
  int64_t armed_at_ = INT64_MAX;
  std::vector<int64_t> discover_at_;
  bool discovering_ = false;
  std::vector<std::pair<SplitDiscovery*, Split>> finished_splits_;  // while discovering_

  mutable std::mutex mutex_;  // guards what follows
  std::deque<NodeAck> acks_;
  std::vector<std::function<void()>> results_;
  Status failure_;
  bool stop_requested_ = false, epoch_requested_ = false;
  CheckpointProgress progress_;
};

}  // namespace caudal
