// Job: one query running: restores it, runs its tasks, ends it.
//
// Start and Prepare block (they read the checkpoint and ask the targets); afterwards all methods may be
// called from any thread and none blocks but Wait. With the seeded executor whoever drives that executor
// drives the job. Destroying a running job is a crash: nothing is flushed, the next Start goes on from the
// last manifest.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "run/job_options.h"
#include "run/job_progress.h"
#include "run/restore/plan_fingerprint.h"

namespace caudal {

class Job {
 public:
  // Takes the query's next generation, repeats the commit of the newest manifest, restores state. Refuses
  // (User) a plan that the checkpoint does not fit.
  static Result<std::unique_ptr<Job>> Start(Plan plan, const JobOptions& options);
  // The same, but no row moves before Begin, the next call.
  static Result<std::unique_ptr<Job>> Prepare(Plan plan, const JobOptions& options);
  void Begin();
  ~Job();
  // Whether an earlier start of the query has committed: what it needs was there once.
  static bool HasCheckpoint(const Plan& plan, const JobOptions& options);
  // Where a query's checkpoint is below a state folder.
  static std::string FolderOf(const std::string& state_root, const std::string& pipeline,
                              const std::string& query);

  enum class StopKind {
    kSavepoint,  // a last epoch; goes on exactly there when started again
    kDrain,      // the sources end: all windows close, a last epoch; cannot go on
  };
  void Stop(StopKind kind);
  // An epoch begins as soon as it can.
  void TriggerCheckpoint();
  // The sources may have rows: poll now.
  void Poll();

  // Until the job has ended: OK after a stop or the end of bounded input.
  Status Wait();
  // The same, for so long at most; false if it has not ended.
  bool WaitFor(int64_t millis);
  bool finished() const;
  Status status() const;  // OK while it runs
  // It has ended because a source's schema changed: plan again and start.
  bool schema_changed() const;
  // Nothing was left to do: the input had ended, and gone through, in an earlier run.
  bool ended_before() const { return ended_before_; }

  JobProgress progress() const;
  const Plan& plan() const { return plan_; }
  const std::string& checkpoint_folder() const { return folder_; }
  int64_t generation() const { return generation_; }
  // The manifest that it went on from; null if it began anew.
  const Manifest* restored_from() const { return coordinator_->base(); }
  // What was passed over at restore, what the plan has that the checkpoint had not.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  Job(Plan plan, const JobOptions& options) : plan_(std::move(plan)), options_(options) {}

  Status MakeReady();
  Status OpenStore();
  void CarryOnCounts(Manifest* manifest);
  Status MakeEndpoints();
  Status RepeatCommit();
  // That the targets have what was committed before the manifest's epoch.
  Status CheckLedgers() const;
  Status RemoveOldEpochs();
  Status CheckEnded();
  Status RemoveLeftovers();
  void ForgetUncommitted();
  Status FindSplits();
  Status RestoreState();
  ConnectorContext MakeConnectorContext(const std::string& sink_id) const;
  Status CheckBounded(const Table& table, const Source& source) const;
  Status AddSink(int node, const std::string& id, const Table& table);
  void OnFinished(Status status, bool schema_changed);

  Plan plan_;
  JobOptions options_;
  JobSettings settings_;
  std::string query_;     // pipeline/query
  std::string folder_;    // empty: ephemeral
  std::string identity_;  // of the folder; an ephemeral job has its own
  int64_t generation_ = 1;
  bool ended_before_ = false;
  int64_t started_millis_ = 0;
  int64_t started_nanos_ = 0;
  std::vector<std::string> warnings_;
  std::vector<NodeState> fingerprints_;
  std::vector<std::vector<std::string>> sinks_of_;  // by node: ids of the sinks downstream

  // In the order in which they must outlive each other.
  std::unique_ptr<MemoryBudget> budget_;
  std::unique_ptr<CheckpointStore> store_;
  std::optional<RestoredCheckpoint> restored_;
  std::optional<DeadLetterTable> dead_letter_;
  std::vector<Endpoint> endpoints_;
  std::unique_ptr<SinkEpochs> sinks_;
  struct NamedSink {
    int node;  // of the plan
    std::string id;
    Epoch last_committed;  // as its target had it when this start had claimed its generation
  };
  std::vector<NamedSink> sink_ids_;
  std::unique_ptr<StateSegments> segments_;
  std::vector<std::unique_ptr<SplitDiscovery>> discoveries_;
  JobContext context_;
  std::unique_ptr<TaskGraph> graph_;
  std::unique_ptr<Coordinator> coordinator_;

  mutable std::mutex mutex_;
  std::condition_variable ended_;
  bool finished_ = false;
  bool stopping_ = false;
  bool schema_changed_ = false;
  Status status_;
};

}  // namespace caudal
