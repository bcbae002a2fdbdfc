// Task: a chain of plan nodes that one thread at a time runs, message by message.
//
// Owned by the job; run by the executor. The node farthest downstream that can do something goes first, so
// rows do not pile up between nodes. Blocks never: a node whose outlets are full is left alone until its lane
// has room.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "run/task_node.h"

namespace caudal {

struct TaskProgress {
  std::vector<NodeProgress> nodes;
  int64_t busy_nanos = 0;
  int64_t blocked_nanos = 0;  // something to do, but no room downstream
  int64_t longest_step_nanos = 0;
};

class Task : public Runnable {
 public:
  // `steps`: at most that many in one Run.
  Task(const JobContext* job, int steps) : job_(job), steps_(steps) {}

  // In topological order.
  void AddNode(std::unique_ptr<TaskNode> node) {
    node->set_owner(this);
    nodes_.push_back(std::move(node));
  }
  const std::vector<std::unique_ptr<TaskNode>>& nodes() const { return nodes_; }

  Outcome Run() override;
  // No node is stepped any more. Any thread.
  void Cancel() { cancelled_ = true; }
  // As of at most ~200 ms ago. Any thread.
  TaskProgress progress() const;
  // REQUIRES: the task is not being run.
  void Publish();

 private:
  TaskNode* NextNode();
  void Park(int64_t now);

  const JobContext* job_;
  const int steps_;
  std::vector<std::unique_ptr<TaskNode>> nodes_;
  std::atomic<bool> cancelled_{false};
  int64_t armed_at_ = INT64_MAX;  // the timer that is set
  int64_t publish_at_ = 0;
  int64_t blocked_since_ = 0;  // 0 = is not
  int64_t busy_nanos_ = 0;
  int64_t blocked_nanos_ = 0;
  int64_t longest_step_nanos_ = 0;

  mutable std::mutex mutex_;
  TaskProgress published_;
};

}  // namespace caudal
