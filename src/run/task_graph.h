// TaskGraph: the tasks, nodes and lanes that a plan becomes. Decides nothing about the plan: nodes joined by
// chain edges share a task; a stage behind a hash exchange has Plan::parallelism tasks; a source's stage has
// no more tasks than splits.
//
// Owned by the job. Built before the first message; its tasks then belong to the executor's threads.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "api/plan.h"
#include "run/operator_node.h"
#include "run/schedule/lane.h"
#include "run/sink_task.h"
#include "run/source_task.h"
#include "run/task.h"

namespace caudal {

// Makes the operator of one plan node for one task.
using OperatorFactory = std::function<Result<std::unique_ptr<Operator>>(const Plan& plan, int node)>;

// What the outside world gives to a node: by position in the plan; the dead-letter sink stands behind the
// last.
struct Endpoint {
  std::unique_ptr<Source> source;
  std::unique_ptr<Sink> sink;
  std::unique_ptr<SourceGroup> group;
  SourceOptions options;
  int splits = 0;      // known when the graph is built
  std::string target;  // for error frames
};

class TaskGraph {
 public:
  struct Options {
    int64_t lane_bytes = 16 << 20;
    int steps = 64;  // messages in one Run
    bool mini_batch = false;
  };
  // All arguments outlive the graph. `endpoints` gets its source groups.
  static Result<std::unique_ptr<TaskGraph>> Build(const Plan& plan, const JobContext& job,
                                                  const OperatorFactory& make_operator,
                                                  std::vector<Endpoint>& endpoints, const Options& options);

  const std::vector<std::unique_ptr<Task>>& tasks() const { return tasks_; }
  // By plan node (the dead-letter node behind the last), then by task.
  const std::vector<TaskNode*>& nodes(int node) const { return nodes_[static_cast<size_t>(node)]; }
  const std::vector<OperatorNode*>& operators(int node) const {
    return operators_[static_cast<size_t>(node)];
  }
  const std::vector<SourceTask*>& sources(int node) const { return sources_[static_cast<size_t>(node)]; }
  Task* task_of(const TaskNode* node) const;
  int node_count() const { return static_cast<int>(nodes_.size()); }
  int instances() const;  // of all nodes: the acks of an epoch
  int64_t lane_bytes() const;

 private:
  TaskGraph(const Plan& plan, const JobContext& job, const Options& options)
      : plan_(plan), job_(job), options_(options) {}

  Status FindStages(const std::vector<Endpoint>& endpoints);
  Status MakeNodes(const OperatorFactory& make_operator, std::vector<Endpoint>& endpoints);
  Result<std::unique_ptr<TaskNode>> MakeNode(int node, int task, const OperatorFactory& make_operator,
                                             Endpoint& endpoint);
  Status Connect();
  void ConnectHash(int reader, int port, const PlanInput& input);
  Status AddDeadLetters(Endpoint& endpoint);
  Lane* MakeLane(TaskNode* writer, TaskNode* reader);

  const Plan& plan_;
  const JobContext& job_;
  const Options options_;
  std::vector<PlanNode> scans_of_values_;  // stable: reserved once
  std::vector<int> stage_of_;              // by plan node
  std::vector<int> parallelism_;           // by stage
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<std::unique_ptr<Task>> tasks_;
  std::vector<std::vector<TaskNode*>> nodes_;
  std::vector<std::vector<OperatorNode*>> operators_;
  std::vector<std::vector<SourceTask*>> sources_;
};

}  // namespace caudal
