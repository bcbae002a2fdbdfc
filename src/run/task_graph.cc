#include "run/task_graph.h"

#include <algorithm>
#include <map>

#include "run/router.h"
#include "run/scan/values_source.h"

namespace caudal {

Result<std::unique_ptr<TaskGraph>> TaskGraph::Build(const Plan& plan, const JobContext& job,
                                                    const OperatorFactory& make_operator,
                                                    std::vector<Endpoint>& endpoints,
                                                    const Options& options) {
  std::unique_ptr<TaskGraph> graph(new TaskGraph(plan, job, options));
  RETURN_IF_ERROR(graph->FindStages(endpoints));
  RETURN_IF_ERROR(graph->MakeNodes(make_operator, endpoints));
  RETURN_IF_ERROR(graph->Connect());
  if (job.dead_letter != nullptr) RETURN_IF_ERROR(graph->AddDeadLetters(endpoints.back()));
  return graph;
}

Status TaskGraph::FindStages(const std::vector<Endpoint>& endpoints) {
  const int count = static_cast<int>(plan_.nodes.size());
  stage_of_.resize(static_cast<size_t>(count));
  for (int node = 0; node < count; ++node) stage_of_[static_cast<size_t>(node)] = node;
  for (int node = 0; node < count; ++node) {
    for (const PlanInput& input : plan_.nodes[static_cast<size_t>(node)].inputs) {
      if (input.exchange.kind != Exchange::Kind::kChain) continue;
      const int from = stage_of_[static_cast<size_t>(input.node)];
      const int into = stage_of_[static_cast<size_t>(node)];
      if (from != into) std::replace(stage_of_.begin(), stage_of_.end(), into, from);
    }
  }
  parallelism_.assign(static_cast<size_t>(count), std::max(1, plan_.parallelism));
  for (int node = 0; node < count; ++node) {
    const size_t at = static_cast<size_t>(node);
    int& tasks = parallelism_[static_cast<size_t>(stage_of_[at])];
    if (endpoints[at].source != nullptr) tasks = std::min(tasks, std::max(1, endpoints[at].splits));
  }
  for (int node = 0; node < count; ++node) {
    for (const PlanInput& input : plan_.nodes[static_cast<size_t>(node)].inputs) {
      if (input.exchange.kind != Exchange::Kind::kLane) continue;
      parallelism_[static_cast<size_t>(stage_of_[static_cast<size_t>(node)])] =
          parallelism_[static_cast<size_t>(stage_of_[static_cast<size_t>(input.node)])];
    }
  }
  return Status();
}

Status TaskGraph::MakeNodes(const OperatorFactory& make_operator, std::vector<Endpoint>& endpoints) {
  const size_t count = plan_.nodes.size();
  nodes_.resize(count + (job_.dead_letter != nullptr ? 1 : 0));
  operators_.resize(count);
  sources_.resize(count);
  scans_of_values_.reserve(count);
  std::map<std::pair<int, int>, Task*> task_of_stage;
  for (size_t node = 0; node < count; ++node) {
    const int stage = stage_of_[node];
    const int tasks = parallelism_[static_cast<size_t>(stage)];
    if (endpoints[node].source != nullptr) endpoints[node].group = std::make_unique<SourceGroup>(tasks);
    if (plan_.nodes[node].as<ValuesNode>() != nullptr) {
      scans_of_values_.push_back(ScanOfValues(plan_.nodes[node]));
    }
    for (int task = 0; task < tasks; ++task) {
      Task*& owner = task_of_stage[{stage, task}];
      if (owner == nullptr) {
        tasks_.push_back(std::make_unique<Task>(&job_, options_.steps));
        owner = tasks_.back().get();
      }
      ASSIGN_OR_RETURN(std::unique_ptr<TaskNode> made,
                       MakeNode(static_cast<int>(node), task, make_operator, endpoints[node]));
      nodes_[node].push_back(made.get());
      owner->AddNode(std::move(made));
    }
  }
  return Status();
}

Result<std::unique_ptr<TaskNode>> TaskGraph::MakeNode(int node, int task,
                                                      const OperatorFactory& make_operator,
                                                      Endpoint& endpoint) {
  const size_t at = static_cast<size_t>(node);
  const PlanNode& plan = plan_.nodes[at];
  const int tasks = parallelism_[static_cast<size_t>(stage_of_[at])];
  if (endpoint.source != nullptr) {
    const PlanNode& scan = plan.as<ValuesNode>() != nullptr ? scans_of_values_.back() : plan;
    SourceOptions options = endpoint.options;
    if (options.max_rows_per_epoch > 0) {
      options.max_rows_per_epoch = std::max<int64_t>(1, options.max_rows_per_epoch / tasks);
    }
    auto source = std::make_unique<SourceTask>(&job_, node, task, scan, options, endpoint.source.get(),
                                               endpoint.group.get());
    sources_[at].push_back(source.get());
    return std::unique_ptr<TaskNode>(std::move(source));
  }
  const Schema input =
      plan.inputs.empty() ? Schema() : plan_.nodes[static_cast<size_t>(plan.inputs[0].node)].schema;
  if (endpoint.sink != nullptr) {
    ASSIGN_OR_RETURN(std::unique_ptr<SinkWriter> writer, endpoint.sink->MakeWriter(task));
    return std::unique_ptr<TaskNode>(std::make_unique<SinkTask>(&job_, node, task, plan.id,
                                                                static_cast<int>(plan.inputs.size()),
                                                                endpoint.target, input, std::move(writer)));
  }
  ASSIGN_OR_RETURN(std::unique_ptr<Operator> made, make_operator(plan_, node));
  auto op = std::make_unique<OperatorNode>(&job_, node, task, plan, input, std::move(made));
  // A node that no exchange precedes sees every key.
  Status status = op->Open(GroupsOfTask(task, tasks), options_.mini_batch);
  if (!status.ok()) return std::move(status).At("operator '" + plan.id + "'");
  operators_[at].push_back(op.get());
  return std::unique_ptr<TaskNode>(std::move(op));
}

Task* TaskGraph::task_of(const TaskNode* node) const {
  for (const std::unique_ptr<Task>& task : tasks_) {
    for (const std::unique_ptr<TaskNode>& each : task->nodes()) {
      if (each.get() == node) return task.get();
    }
  }
  return nullptr;
}

Lane* TaskGraph::MakeLane(TaskNode* writer, TaskNode* reader) {
  lanes_.push_back(std::make_unique<Lane>(job_.executor, options_.lane_bytes, job_.budget));
  lanes_.back()->Connect(task_of(writer), task_of(reader));
  return lanes_.back().get();
}

Status TaskGraph::Connect() {
  for (size_t reader = 0; reader < plan_.nodes.size(); ++reader) {
    const PlanNode& plan = plan_.nodes[reader];
    for (size_t port = 0; port < plan.inputs.size(); ++port) {
      const PlanInput& input = plan.inputs[port];
      if (input.exchange.kind == Exchange::Kind::kHash) {
        ConnectHash(static_cast<int>(reader), static_cast<int>(port), input);
        continue;
      }
      const std::vector<TaskNode*>& writers = nodes_[static_cast<size_t>(input.node)];
      if (writers.size() != nodes_[reader].size()) {
        return Status::Internal("plan node '" + plan.id +
                                "' is joined one to one to a stage with another number of tasks");
      }
      for (size_t task = 0; task < writers.size(); ++task) {
        std::unique_ptr<Outlet> outlet;
        if (input.exchange.kind == Exchange::Kind::kChain) {
          outlet =
              std::make_unique<ChainOutlet>(nodes_[reader][task]->AddInlet(static_cast<int>(port), nullptr));
        } else {
          Lane* lane = MakeLane(writers[task], nodes_[reader][task]);
          nodes_[reader][task]->AddInlet(static_cast<int>(port), lane);
          outlet = std::make_unique<LaneOutlet>(lane);
        }
        outlet->reader = static_cast<int>(reader);
        outlet->port = static_cast<int>(port);
        writers[task]->AddOutlet(std::move(outlet));
      }
    }
  }
  return Status();
}

void TaskGraph::ConnectHash(int reader, int port, const PlanInput& input) {
  for (TaskNode* writer : nodes_[static_cast<size_t>(input.node)]) {
    std::vector<Lane*> lanes;
    for (TaskNode* to : nodes_[static_cast<size_t>(reader)]) {
      lanes.push_back(MakeLane(writer, to));
      to->AddInlet(port, lanes.back());
    }
    auto router = std::make_unique<Router>(input.exchange.keys, std::move(lanes));
    router->reader = reader;
    router->port = port;
    writer->AddOutlet(std::move(router));
  }
}

Status TaskGraph::AddDeadLetters(Endpoint& endpoint) {
  const int node = static_cast<int>(plan_.nodes.size());
  for (size_t i = 0; i < tasks_.size(); ++i) {
    ASSIGN_OR_RETURN(std::unique_ptr<SinkWriter> writer, endpoint.sink->MakeWriter(static_cast<int>(i)));
    auto sink =
        std::make_unique<SinkTask>(&job_, node, static_cast<int>(i), "dead-letter", 1, endpoint.target,
                                   job_.dead_letter->table().schema(), std::move(writer));
    for (const std::unique_ptr<TaskNode>& each : tasks_[i]->nodes()) {
      auto outlet = std::make_unique<ChainOutlet>(sink->AddInlet(0, nullptr));
      outlet->reader = node;
      each->set_dead_letter_outlet(std::move(outlet));
    }
    nodes_[static_cast<size_t>(node)].push_back(sink.get());
    tasks_[i]->AddNode(std::move(sink));
  }
  return Status();
}

int TaskGraph::instances() const {
  int count = 0;
  for (const std::vector<TaskNode*>& each : nodes_) count += static_cast<int>(each.size());
  return count;
}

int64_t TaskGraph::lane_bytes() const {
  int64_t bytes = 0;
  for (const std::unique_ptr<Lane>& lane : lanes_) bytes += lane->bytes();
  return bytes;
}

}  // namespace caudal
