#include "run/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "op/make_operator.h"
#include "run/epoch/sink_path.h"
#include "run/plan_tables.h"
#include "run/progress_summary.h"
#include "run/restore/plan_check.h"
#include "run/scan/values_source.h"

namespace caudal {
namespace {

constexpr int64_t kDiscoveryMillis = 10'000;

// A name as part of a path.
std::string PathPart(std::string_view name) {
  std::string part;
  for (char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.';
    plain ? part.append(1, c) : part.append(fmt::format("%{:02x}", static_cast<unsigned char>(c)));
  }
  return part;
}

// By node, and one more for the dead-letter sink: the name of the one table that all its rows were read from.
std::vector<std::string> SourcesOf(const Plan& plan) {
  std::vector<std::string> sources;
  for (const PlanNode& node : plan.nodes) {
    std::string source;
    if (const ScanNode* scan = node.as<ScanNode>()) source = scan->table.name;
    bool first = true;
    for (const PlanInput& input : node.inputs) {
      const size_t at = static_cast<size_t>(input.node);
      const std::string from = at < sources.size() ? sources[at] : std::string();
      source = first || source == from ? from : std::string();
      first = false;
    }
    sources.push_back(std::move(source));
  }
  sources.emplace_back();
  return sources;
}

// By plan node, the sinks that its rows reach.
std::vector<std::vector<std::string>> SinksOf(const Plan& plan, size_t nodes) {
  std::vector<std::vector<std::string>> sinks_of(nodes);
  for (size_t node = plan.nodes.size(); node-- > 0;) {
    if (plan.nodes[node].as<SinkNode>() != nullptr) sinks_of[node].push_back(plan.nodes[node].id);
    for (const PlanInput& input : plan.nodes[node].inputs) {
      std::vector<std::string>& into = sinks_of[static_cast<size_t>(input.node)];
      for (const std::string& sink : sinks_of[node]) {
        if (std::find(into.begin(), into.end(), sink) == into.end()) into.push_back(sink);
      }
    }
  }
  return sinks_of;
}

}  // namespace

std::string Job::FolderOf(const std::string& state_root, const std::string& pipeline,
                          const std::string& query) {
  return state_root + "/" + PathPart(pipeline) + "/" + PathPart(query);
}

Result<std::unique_ptr<Job>> Job::Start(Plan plan, const JobOptions& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<Job> job, Prepare(std::move(plan), options));
  job->Begin();
  return job;
}

Result<std::unique_ptr<Job>> Job::Prepare(Plan plan, const JobOptions& options) {
  std::unique_ptr<Job> job(new Job(std::move(plan), options));
  Status status = job->MakeReady();
  if (!status.ok()) return std::move(status).At("query '" + job->query_ + "'");
  return job;
}

void Job::Begin() {
  if (ended_before_) return OnFinished(Status(), false);
  coordinator_->Start();
}

Job::~Job() {
  if (graph_ == nullptr) return;
  for (const std::unique_ptr<Task>& task : graph_->tasks()) task->Cancel();
  for (const std::unique_ptr<Task>& task : graph_->tasks()) options_.executor->Detach(task.get());
  if (coordinator_ == nullptr) return;
  options_.executor->Detach(coordinator_.get());  // first: it submits the jobs
  options_.executor->CancelJobs(coordinator_.get());
  ForgetUncommitted();
}

// Nobody will ever go on with what an ephemeral job prepared and did not commit.
void Job::ForgetUncommitted() {
  if (!folder_.empty() || (finished() && status().ok())) return;
  graph_.reset();                             // its writers hold the files
  static_cast<void>(RemoveLeftovers().ok());  // the query's own error is the one to be told
}

bool Job::HasCheckpoint(const Plan& plan, const JobOptions& options) {
  if (options.state_root.empty()) return false;
  const auto manifests =
      ListManifests(options.files, FolderOf(options.state_root, options.pipeline, plan.query));
  return manifests.ok() && std::any_of(manifests->begin(), manifests->end(),
                                       [](const ManifestFile& manifest) { return !manifest.closed; });
}

Status Job::MakeReady() {
  query_ = options_.pipeline + "/" + plan_.query;
  if (!options_.make_operator) options_.make_operator = MakeOperator;
  started_millis_ = options_.env->NowMillis();
  started_nanos_ = options_.env->SteadyNanos();
  ASSIGN_OR_RETURN(settings_, JobSettings::From(plan_));
  settings_.epochs.ephemeral = options_.state_root.empty();
  // Of one epoch, the only one, it would be a limit of all rows.
  if (settings_.epochs.ephemeral) settings_.max_rows_per_epoch = 0;
  if (!settings_.epochs.ephemeral) {
    folder_ = FolderOf(options_.state_root, options_.pipeline, plan_.query);
  }
  budget_ = std::make_unique<MemoryBudget>("query " + query_, settings_.memory_limit, options_.budget);
  if (plan_.dead_letter) {
    ASSIGN_OR_RETURN(dead_letter_,
                     DeadLetterTable::Make(plan_.dead_letter->table, {query_, options_.pipeline_version}));
  }
  ASSIGN_OR_RETURN(fingerprints_,
                   Fingerprints(plan_, options_.make_operator, settings_.evaluator, options_.env));
  sinks_of_ = SinksOf(plan_, fingerprints_.size());
  if (!folder_.empty()) {
    RETURN_IF_ERROR(CheckPlan(options_.files, folder_, fingerprints_, options_.allow_dropped, &warnings_));
  }
  RETURN_IF_ERROR(OpenStore());
  RETURN_IF_ERROR(RepeatCommit());
  RETURN_IF_ERROR(CheckEnded());
  if (!ended_before_) RETURN_IF_ERROR(FindSplits());

  context_.env = options_.env;
  context_.executor = options_.executor;
  context_.budget = budget_.get();
  context_.evaluator = settings_.evaluator;
  if (plan_.batch) context_.evaluator.query_start_millis = started_millis_;
  context_.dead_letter = dead_letter_ ? &*dead_letter_ : nullptr;
  context_.source_of = SourcesOf(plan_);
  context_.query = query_;
  context_.make_lookup = [this](const Table& table,
                                const LookupRequest& request) -> Result<std::unique_ptr<LookupReader>> {
    ASSIGN_OR_RETURN(const Connector* connector, FindConnector(options_, table));
    ASSIGN_OR_RETURN(const Table revealed, Revealed(table));
    return connector->MakeLookup(revealed, request, MakeConnectorContext(""));
  };
  TaskGraph::Options graph_options;
  graph_options.lane_bytes = settings_.lane_bytes;
  graph_options.steps = options_.steps;
  graph_options.mini_batch = settings_.mini_batch;
  ASSIGN_OR_RETURN(graph_,
                   TaskGraph::Build(plan_, context_, options_.make_operator, endpoints_, graph_options));
  segments_ = std::make_unique<StateSegments>(graph_->node_count(), budget_.get(), options_.snapshot_bytes);
  RETURN_IF_ERROR(RestoreState());

  Coordinator::Parts parts;
  parts.env = options_.env;
  parts.executor = options_.executor;
  parts.budget = budget_.get();
  parts.store = store_.get();
  parts.plan = &plan_;
  parts.graph = graph_.get();
  parts.endpoints = &endpoints_;
  parts.sinks = sinks_.get();
  parts.segments = segments_.get();
  parts.discoveries = &discoveries_;
  parts.fingerprints = fingerprints_;
  if (restored_) {
    CarryOnCounts(&restored_->manifest);
    parts.base = std::move(restored_->manifest);
  }
  restored_.reset();
  parts.finished = [this](Status status, bool schema_changed) {
    OnFinished(std::move(status), schema_changed);
  };
  coordinator_ = std::make_unique<Coordinator>(std::move(parts), settings_.epochs);
  context_.control = coordinator_.get();
  return Status();
}

ConnectorContext Job::MakeConnectorContext(const std::string& sink_id) const {
  ConnectorContext context;
  context.env = options_.env;
  context.files = options_.files;
  context.budget = budget_.get();
  context.query = query_;
  context.identity = identity_;
  context.sink = sink_id;
  context.generation = generation_;
  context.ephemeral = folder_.empty();
  if (!sink_id.empty()) {
    context.segment_dir =
        (folder_.empty() ? options_.scratch_dir : folder_ + "/sinks") + "/" + PathPart(sink_id);
  }
  return context;
}

Status Job::AddSink(int node, const std::string& id, const Table& table) {
  ASSIGN_OR_RETURN(const Connector* connector, FindConnector(options_, table));
  const ConnectorContext context = MakeConnectorContext(id);
  if (!folder_.empty() || !options_.scratch_dir.empty()) {
    RETURN_IF_ERROR(options_.files->MakeDirectories(context.segment_dir));
  }
  Endpoint& endpoint = endpoints_[static_cast<size_t>(node)];
  endpoint.target = fmt::format("'{}' ({})", table.name, connector->name());
  ASSIGN_OR_RETURN(const Table revealed, Revealed(table));
  ASSIGN_OR_RETURN(endpoint.sink, connector->MakeSink(revealed, context));
  ASSIGN_OR_RETURN(std::unique_ptr<SinkCommitter> committer, endpoint.sink->MakeCommitter());
  sinks_->AddSink(node, id, endpoint.target, std::move(committer));
  sink_ids_.push_back({node, id, {}});
  return Status();
}

// A result that comes at the end of what has no end is waited for in vain.
Status Job::CheckBounded(const Table& table, const Source& source) const {
  if (source.bounded() || !(plan_.batch || options_.bounded_only)) return Status();
  if (plan_.batch) {
    return Status::User(
               fmt::format("querying the unbounded table '{}' in batch mode is not possible: it never "
                           "ends",
                           table.name))
        .Hint("SET 'execution.runtime-mode' = 'streaming', add a LIMIT, or bound the table by its options");
  }
  return Status::User(
             fmt::format("table '{}' is unbounded, and this statement commits only when its input ends",
                         table.name))
      .Hint("run it with `caudal run`, which commits as it goes, or bound the table by its options");
}

Status Job::MakeEndpoints() {
  endpoints_.clear();
  endpoints_.resize(fingerprints_.size());
  discoveries_.clear();
  sink_ids_.clear();
  sinks_ = std::make_unique<SinkEpochs>(!folder_.empty());
  for (size_t node = 0; node < plan_.nodes.size(); ++node) {
    const PlanNode& plan = plan_.nodes[node];
    Endpoint& endpoint = endpoints_[node];
    if (const SinkNode* sink = plan.as<SinkNode>()) {
      RETURN_IF_ERROR(AddSink(static_cast<int>(node), plan.id, sink->table));
      continue;
    }
    int64_t interval = kDiscoveryMillis;
    if (const ScanNode* scan = plan.as<ScanNode>()) {
      ASSIGN_OR_RETURN(endpoint.options, SourceOptionsOf(scan->table, plan_, settings_));
      ASSIGN_OR_RETURN(const Connector* connector, FindConnector(options_, scan->table));
      const ScanRows rows(plan, dead_letter_ ? &dead_letter_->table() : nullptr, plan_.batch, 0);
      ASSIGN_OR_RETURN(const Table revealed, Revealed(scan->table));
      ASSIGN_OR_RETURN(endpoint.source,
                       connector->MakeSource(revealed, rows.request(), MakeConnectorContext({})));
      RETURN_IF_ERROR(CheckBounded(scan->table, *endpoint.source));
      const std::string_view monitor = scan->table.option("source.monitor-interval");
      if (!monitor.empty()) {
        ASSIGN_OR_RETURN(interval, ParseDurationMillis(monitor));
      }
    } else if (plan.as<ValuesNode>() != nullptr) {
      EvaluatorOptions evaluator = settings_.evaluator;
      evaluator.now_millis = started_millis_;  // rows of constants are as old as the job
      ASSIGN_OR_RETURN(endpoint.source, ValuesSource::Make(plan, evaluator));
      endpoint.options.batch = plan_.batch;
    } else {
      continue;
    }
    discoveries_.push_back(std::make_unique<SplitDiscovery>(static_cast<int>(node),
                                                            endpoint.source->MakeEnumerator(), interval));
  }
  if (!plan_.dead_letter) return Status();
  return AddSink(static_cast<int>(plan_.nodes.size()), "dead-letter", plan_.dead_letter->table);
}

void Job::Stop(StopKind kind) {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  coordinator_->RequestStop(kind == StopKind::kDrain);
}

void Job::TriggerCheckpoint() { coordinator_->RequestEpoch(); }

void Job::Poll() {
  for (int node = 0; node < static_cast<int>(plan_.nodes.size()); ++node) {
    for (SourceTask* source : graph_->sources(node)) {
      source->Poll();
      options_.executor->Wake(graph_->task_of(source));
    }
  }
}

void Job::OnFinished(Status status, bool schema_changed) {
  {
    std::lock_guard lock(mutex_);
    finished_ = true;
    status_ = std::move(status);
    schema_changed_ = schema_changed;
  }
  ended_.notify_all();
}

Status Job::Wait() {
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [&] { return finished_; });
  return status_;
}

bool Job::WaitFor(int64_t millis) {
  std::unique_lock lock(mutex_);
  return ended_.wait_for(lock, std::chrono::milliseconds(millis), [&] { return finished_; });
}

bool Job::finished() const {
  std::lock_guard lock(mutex_);
  return finished_;
}

Status Job::status() const {
  std::lock_guard lock(mutex_);
  return status_;
}

bool Job::schema_changed() const {
  std::lock_guard lock(mutex_);
  return schema_changed_;
}

JobProgress Job::progress() const {
  JobProgress progress;
  progress.query = query_;
  progress.generation = generation_;
  progress.started_millis = started_millis_;
  progress.now_millis = options_.env->NowMillis();
  progress.checkpoints = coordinator_->progress();
  progress.checkpoints.drained |= ended_before_ && coordinator_->base()->drained;
  progress.memory_used = budget_->used();
  progress.memory_limit = budget_->limit();
  progress.over_memory = budget_->over() != nullptr;
  progress.lane_bytes = graph_->lane_bytes();
  std::vector<TaskProgress> tasks;
  for (const std::unique_ptr<Task>& task : graph_->tasks()) {
    tasks.push_back(task->progress());
    progress.longest_step_micros =
        std::max(progress.longest_step_micros, tasks.back().longest_step_nanos / 1000);
  }
  const int64_t elapsed = options_.env->SteadyNanos() - started_nanos_;
  for (size_t node = 0; node < fingerprints_.size(); ++node) {
    const NodeState* base =
        coordinator_->base() != nullptr ? coordinator_->base()->Find(fingerprints_[node].id) : nullptr;
    progress.operators.push_back(SumOfTasks(node, fingerprints_[node], base, tasks, elapsed));
    progress.operators.back().sinks = sinks_of_[node];
    SetDurable(progress.checkpoints, node, progress.now_millis, &progress.operators.back());
    if (node >= plan_.nodes.size()) continue;
    const Endpoint& endpoint = endpoints_[node];
    if (endpoint.source != nullptr) progress.operators.back().client = endpoint.source->client();
    if (endpoint.sink != nullptr) progress.operators.back().client = endpoint.sink->client();
    for (const PlanInput& input : plan_.nodes[node].inputs) {
      const OperatorProgress& from = progress.operators[static_cast<size_t>(input.node)];
      if (!from.takes_input_rows || Absorbs(from.fates)) progress.operators[node].takes_input_rows = false;
    }
  }
  std::lock_guard lock(mutex_);
  progress.status = status_;
  progress.state = !finished_     ? (stopping_ ? JobState::kStopping : JobState::kRunning)
                   : status_.ok() ? JobState::kFinished
                                  : JobState::kFailed;
  return progress;
}

}  // namespace caudal
