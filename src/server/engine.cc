#include "server/engine.h"

#include <unistd.h>

#include <filesystem>

#include "connect/kafka/own_topics.h"
#include "server/connectors.h"
#include "server/program_files.h"
#include "server/row_limit.h"

namespace caudal {
namespace {

constexpr int64_t kTickMillis = 100;
constexpr int64_t kLimitTickMillis = 5;

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
  options.files = ProgramFiles();
  options.executor = &executor_;
  options.budget = &budget_;
  options.connectors = UserConnectors();
  options.pipeline = pipeline;
  options.state_root = state_root;
  options.scratch_dir = options_.scratch_dir;
  return options;
}

Result<JobProgress> Engine::Select(Plan plan, RowsConsumer consumer, const SelectOptions& ends,
                                   bool* started) {
  const bool batch = plan.batch;
  std::optional<RowLimit> limit = RowLimit::TakeFrom(&plan);
  if (limit) {
    consumer = [&limit, consumer = std::move(consumer)](const Chunk& chunk) {
      return limit->Pass(chunk, consumer);
    };
  }
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
  const int64_t begin = options.env->SteadyNanos();
  int64_t seconds = 0;
  while (!job->WaitFor(limit ? kLimitTickMillis : kTickMillis)) {
    const int64_t millis = (options.env->SteadyNanos() - begin) / 1'000'000;
    const bool over = ends.deadline_millis > 0 && millis >= ends.deadline_millis;
    const bool stopped = over || (ends.should_stop && ends.should_stop());
    if (std::exchange(seconds, millis / 1000) != millis / 1000) {
      if (ends.on_second) ends.on_second();
      if (ends.on_trouble) ends.on_trouble(job->progress().trouble());
    }
    if (!stopped && !(limit && limit->reached())) continue;
    if (stopped && batch && !limit) {
      Status early =
          Status::User(over ? "the deadline passed before the input ended" : "stopped before the input ended")
              .Hint("a batch query has its result at the end: give it more time, or less to read");
      const Status trouble = job->progress().trouble();
      return trouble.ok() ? early : std::move(early).At("waiting, since " + trouble.message());
    }
    job->Stop(Job::StopKind::kSavepoint);
    RETURN_IF_ERROR(job->Wait());
    return job->progress();
  }
  RETURN_IF_ERROR(job->status());
  return job->progress();
}

Result<JobProgress> Engine::Insert(Plan plan, const InsertOptions& watch, bool* started) {
  RETURN_IF_ERROR(LeaveOutOwnTopics(&plan));
  JobOptions options = MakeJobOptions("session", "");
  options.bounded_only = true;
  Result<std::unique_ptr<Job>> job = Job::Start(std::move(plan), options);
  *started = job.ok();
  Status status = job.ok() ? Status() : job.status();
  while (job.ok() && !(*job)->WaitFor(kTickMillis)) {
    if (watch.on_trouble) watch.on_trouble((*job)->progress().trouble());
    if (!watch.should_stop || !watch.should_stop()) continue;
    status = Status::User("stopped before the input ended: nothing was committed");
    job = status;
  }
  if (job.ok()) status = (*job)->status();
  RETURN_IF_ERROR(status);
  return (*job)->progress();
}

EvaluatorOptions EvaluatorOptionsOf(const Options& settings) {
  EvaluatorOptions options;
  if (auto zone = settings.find("table.local-time-zone"); zone != settings.end())
    options.time_zone = zone->second;
  return options;
}

}  // namespace caudal
