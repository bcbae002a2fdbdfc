// TaskNode: the part of a task that runs one plan node: takes messages from its inlets, keeps the order
// that the contracts ask for (flush before watermark and barrier, Resume before anything else, alignment of
// barriers, minimum of watermarks) and hands on what the node makes.
//
// Owned by its Task and called by the thread that runs it. Derived: OperatorNode, SourceTask, SinkTask.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/fate.h"
#include "api/operator.h"
#include "base/env.h"
#include "run/epoch/epoch_control.h"
#include "run/inlet.h"
#include "run/node_progress.h"
#include "run/outlet.h"
#include "run/scan/dead_letter.h"

namespace caudal {

// What every node of a job shares. All outlive the nodes.
struct JobContext {
  Env* env = nullptr;
  Executor* executor = nullptr;
  EpochControl* control = nullptr;
  MemoryBudget* budget = nullptr;
  EvaluatorOptions evaluator;
  const DeadLetterTable* dead_letter = nullptr;  // null: rejected rows are only counted
  std::vector<std::string> source_of;  // by node: the table that all its rows were read from; empty = several
  std::string query;
  decltype(OperatorContext::make_lookup) make_lookup;
};

// The error of the first of some rejected rows: what, where in the SQL and which record, as far as known.
Status FirstError(const Chunk& chunk, const Rejection& rejection);

class TaskNode {
 public:
  TaskNode(const JobContext* job, int node, int task, std::string id, int inputs)
      : job_(job), node_(node), task_(task), id_(std::move(id)), inputs_(inputs) {}
  virtual ~TaskNode() = default;

  // While the graph is built.
  Inlet* AddInlet(int port, Lane* lane);
  void AddOutlet(std::unique_ptr<Outlet> outlet) { outlets_.push_back(std::move(outlet)); }
  void set_dead_letter_outlet(std::unique_ptr<Outlet> outlet) { dead_letter_ = std::move(outlet); }
  void set_owner(Runnable* owner) { owner_ = owner; }
  // Before the first message.
  virtual void Restore(const NodeState& state) { watermark_ = sent_ = state.watermark; }

  // Has something to do, and room for what it makes.
  bool ready() { return has_work() && room(); }
  // Has something to do, but no room.
  bool waits_for_room() { return has_work() && !room(); }
  // One message, or one Resume. REQUIRES: ready().
  Status Step();
  // Env::SteadyNanos at which it may have something to do though no message comes.
  virtual int64_t wake_at() { return INT64_MAX; }

  int node() const { return node_; }
  const std::string& id() const { return id_; }
  // What an error of it is in: "operator 'out/calc'".
  virtual std::string frame() const { return "operator '" + id_ + "'"; }
  virtual NodeProgress progress() const;

 protected:
  virtual Result<Progress> OnChunk(int port, const Chunk& chunk) = 0;
  virtual Result<Progress> OnWatermark(const Watermark& watermark) { return Progress::kDone; }
  virtual Result<Progress> OnFlush(FlushBefore next) { return Progress::kDone; }
  virtual Result<Progress> Resume() { return Progress::kDone; }
  // SteadyNanos before which a Resume would get nowhere; INT64_MAX: until the task is woken.
  virtual int64_t resume_at() const { return 0; }
  // Adds to the ack what the node keeps; kMore: call it again before anything else.
  virtual Result<Progress> OnBarrier(const Barrier& barrier, NodeAck* ack) { return Progress::kDone; }
  // Whether there is a message to take or a call to go on with.
  virtual bool has_work();
  // A message when no call is under way; what Step does.
  virtual Status Take();

  virtual bool room() const;
  void SendRows(const Chunk& chunk);
  void Send(const Message& message);
  // Acknowledges and passes the barrier on. REQUIRES: OnBarrier is done at once, as for sources.
  Status PassBarrier(const Barrier& barrier);
  // Counts and keeps rejected rows. `chunk`: rows of `schema`. Dead rows without a dead-letter table to go to
  // fail the step.
  void RejectRows(const Chunk& chunk, const Schema& schema, const Rejection& rejection);

  // Remembers the epoch's first dead row.
  void NoteDead(std::string_view error_class, const std::string& message, const std::string& place);

  bool call_under_way() const { return phase_ != Phase::kReady; }

  const JobContext* job_;
  Runnable* owner_ = nullptr;  // the task
  FateCounters fates_;
  Watermark watermark_;  // of the inlets together, as far as handled
  Watermark sent_;
  std::unique_ptr<Outlet> dead_letter_;

 private:
  enum class Phase { kReady, kChunk, kFlushForWatermark, kWatermark, kFlushForBarrier, kBarrier };

  Inlet* NextInlet();
  Watermark Combined() const;
  Status TakeWatermark(Inlet* inlet, const Watermark& watermark);
  Status TakeBarrier(Inlet* inlet, const Barrier& barrier);
  Status Acknowledge(const Barrier& barrier, NodeAck ack);
  // The call of phase_ has returned `progress`: goes on to the next one.
  Status Advance(Result<Progress> progress);

  const int node_;
  const int task_;
  const std::string id_;
  const int inputs_;
  std::vector<std::unique_ptr<Inlet>> inlets_;
  std::vector<std::unique_ptr<Outlet>> outlets_;
  Phase phase_ = Phase::kReady;
  std::optional<DeadExample> first_dead_;
  Status refusal_;  // what the step under way must fail with
  Watermark next_watermark_;
  Barrier barrier_;
  NodeAck ack_;  // while phase_ is kBarrier
  uint32_t turn_ = 0;
  int64_t rows_out_ = 0;
  int64_t busy_nanos_ = 0;
  int64_t cpu_nanos_ = 0;
  int64_t longest_step_nanos_ = 0;
  int64_t longest_step_cpu_nanos_ = 0;

 protected:
  int task() const { return task_; }
};

}  // namespace caudal
