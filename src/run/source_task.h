// SourceTask: polls the readers of its splits, rejects what breaks the contract, keeps a clock for each
// split, sends the minimum of the active ones and begins barriers.
//
// A TaskNode without inlets. What the coordinator wants (splits, barriers, the end) comes through a mailbox,
// the only part that other threads may call.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "api/plan.h"
#include "run/scan/scan_rows.h"
#include "run/scan/source_group.h"
#include "run/task_node.h"

namespace caudal {

// What becomes of rows that cannot be used.
enum class ErrorPolicy { kFail, kDeadLetter, kSkip };

struct SourceOptions {
  ErrorPolicy errors = ErrorPolicy::kFail;
  bool batch = false;
  int64_t max_skew_millis = 0;
  int64_t idle_timeout_millis = 0;  // 0 = never idle
  int64_t heartbeat_millis = 200;
  int64_t max_drift_millis = 0;    // how far a split may run ahead of its group; 0 = any
  int64_t max_rows_per_epoch = 0;  // this task's share; 0 = any
};

class SourceTask : public TaskNode {
 public:
  SourceTask(const JobContext* job, int node, int task, const PlanNode& plan, SourceOptions options,
             Source* source, SourceGroup* group);

  // The mailbox. Any thread; the caller wakes the task.
  void Assign(std::vector<SplitState> splits);
  void RequestBarrier(const Barrier& barrier);
  void Drain();          // read no more, send kEnd
  void AllDiscovered();  // no further split will be assigned
  void Poll();           // there may be rows

  int64_t wake_at() override;
  NodeProgress progress() const override;
  std::string frame() const override;

 protected:
  bool has_work() override;
  Result<Progress> OnChunk(int, const Chunk&) override { return Progress::kDone; }
  Status Take() override;
  Result<Progress> OnBarrier(const Barrier& barrier, NodeAck* ack) override;

 private:
  static constexpr int64_t kNotEmpty = -1;
  struct ActiveSplit {
    Split split;
    std::unique_ptr<SplitReader> reader;  // null once finished
    SplitClock clock;
    Position position;  // once finished: the last one
    int64_t rows_read = 0;
    int64_t records_passed = -1;                                  // once finished: what the reader said last
    int64_t first_arrival_millis = -1, last_arrival_millis = -1;  // of rows read; -1 = none
    bool idle = false;
    bool looked = false;  // it has been polled, or is not to be: what waits is known
    // The first poll without rows since the last one with: idleness counts from there, not while it is not
    // polled.
    int64_t empty_since_nanos = kNotEmpty;
    int64_t poll_at_nanos = 0;
    int64_t backoff_nanos = 0;
  };
  struct Mailbox {
    std::vector<SplitState> splits;
    std::vector<Barrier> barriers;
    bool drain = false;
    bool complete = false;
    bool poll = false;
    bool empty() const { return splits.empty() && barriers.empty() && !drain && !complete && !poll; }
  };

  Status TakeMail(Mailbox mail);
  std::string SplitName(const ActiveSplit& split) const;
  Status OpenSplit(const SplitState& state);
  ActiveSplit* NextSplit(int64_t now);
  // It is to wait for the `slowest` of its group.
  bool IsAhead(const ActiveSplit& split, int64_t slowest) const;
  Status PollSplit(ActiveSplit& split, int64_t now);
  Status TakeRows(ActiveSplit& split, SourceRows rows);
  void NoteArrival(ActiveSplit& split, const SourceRows& rows, int64_t count, int64_t wall);
  static int64_t RecordsPassed(const ActiveSplit& split);
  Status RejectRecords(const ActiveSplit& split, const std::vector<RejectedRecord>& records);
  void Finish(ActiveSplit& split);
  // Sends a watermark when the minimum has moved or the heartbeat is due.
  void SendWatermark(int64_t now);
  // Publishes how far the active splits are and gives what the watermark may be.
  Watermark LeastClock(int64_t now);
  void OnNothing(ActiveSplit& split, int64_t now);
  bool may_poll() const;
  bool exhausted() const;

  const PlanNode& plan_;
  const SourceOptions options_;
  Source* source_;
  SourceGroup* group_;
  ScanRows rows_;
  Evaluator evaluator_;
  std::vector<std::unique_ptr<ActiveSplit>> splits_;
  uint32_t turn_ = 0;
  bool complete_ = false;
  bool drained_ = false;
  bool stopped_ = false;  // the last barrier has been sent
  bool ended_ = false;    // kEnd has been sent
  int64_t heartbeat_at_ = 0;
  int64_t inactive_since_nanos_ = kNotEmpty;  // no split to wait for
  int64_t rows_read_ = 0;
  int64_t bytes_read_ = 0;
  int64_t ignored_values_ = 0;
  std::vector<std::string> warnings_;
  bool told_ahead_ = false;
  int64_t epoch_rows_ = 0;
  bool epoch_requested_ = false;
  Status contract_;  // set by a reject under kFail
  std::vector<std::pair<int64_t, int64_t>> arrivals_;

  std::mutex mutex_;
  Mailbox mailbox_;
  std::atomic<bool> has_mail_{false};
};

}  // namespace caudal
