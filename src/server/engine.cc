#include "server/engine.h"

#include <unistd.h>

#include <filesystem>

#include "server/connectors.h"

namespace caudal {
namespace {

std::string ScratchFolder() {
  std::error_code error;
  const std::filesystem::path temporary = std::filesystem::temp_directory_path(error);
  return ((error ? std::filesystem::path("/tmp") : temporary) / ("caudal-" + std::to_string(getpid())))
      .string();
}

}  // namespace

Engine::Engine(Options options)
    : options_(std::move(options)),
      budget_("process", options_.memory_limit),
      executor_(Env::Real(), options_.threads) {
  if (options_.scratch_dir.empty()) options_.scratch_dir = ScratchFolder();
}

Engine::~Engine() {
  std::error_code ignored;  // what it held is of no use to anybody
  std::filesystem::remove_all(options_.scratch_dir, ignored);
}

JobOptions Engine::MakeJobOptions(const std::string& pipeline, const std::string& state_root) {
  JobOptions options;
  options.env = Env::Real();
  options.files = FileSystem::Local();
  options.executor = &executor_;
  options.budget = &budget_;
  options.connectors = UserConnectors();
  options.pipeline = pipeline;
  options.state_root = state_root;
  options.scratch_dir = options_.scratch_dir;
  return options;
}

Status Engine::Select(Plan plan, RowsConsumer consumer, bool* started) {
  const ResultConnector result(std::move(consumer));
  PlanNode sink;
  const int last = static_cast<int>(plan.nodes.size()) - 1;
  const PlanNode& input = plan.nodes.back();
  sink.id = "result";
  sink.inputs = {{last, {}}};
  sink.schema = input.schema;
  sink.kinds = input.kinds;
  sink.payload = SinkNode{ResultTable(input.schema), {}};
  plan.nodes.push_back(std::move(sink));

  JobOptions options = MakeJobOptions("session", "");
  std::vector<const Connector*> connectors(options.connectors.begin(), options.connectors.end());
  connectors.push_back(&result);
  options.connectors = connectors;
  *started = false;
  ASSIGN_OR_RETURN(const std::unique_ptr<Job> job, Job::Start(std::move(plan), options));
  *started = true;
  return job->Wait();
}

Result<JobProgress> Engine::Insert(Plan plan, bool* started) {
  const JobOptions options = MakeJobOptions("session", "");
  Result<std::unique_ptr<Job>> job = Job::Start(std::move(plan), options);
  *started = job.ok();
  RETURN_IF_ERROR(job.ok() ? (*job)->Wait() : job.status());
  return (*job)->progress();
}

EvaluatorOptions EvaluatorOptionsOf(const Options& settings) {
  EvaluatorOptions options;
  if (auto zone = settings.find("table.local-time-zone"); zone != settings.end())
    options.time_zone = zone->second;
  return options;
}

}  // namespace caudal
