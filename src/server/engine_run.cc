#include "server/engine_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "server/state_place.h"

namespace caudal {
namespace {

constexpr auto kTick = std::chrono::milliseconds(50);
constexpr int64_t kRecordNanos = 1'000'000'000;
// So long the first start waits for what an earlier run has got going: long enough to hear that the SQL does
// not fit its checkpoint, shorter than what asking a server that is away takes.
constexpr int64_t kPatienceNanos = 3'000'000'000;

QueryOrigin OriginOf(const ProgramText& text) {
  if (!text.file) return {text.name, "", ""};
  return {text.name, text.file->owner, text.file->version};
}

// Rows that sources gave so far, restored counts included.
int64_t RowsRead(const JobProgress& progress) {
  int64_t rows = 0;
  for (const OperatorProgress& node : progress.operators) {
    if (node.label != "Scan") continue;
    rows += node.rows_out;
    for (const CountedFate& fate : node.fates) rows += fate.rows;
  }
  return rows;
}

void WriteTo(const std::string& branch, Plan* plan) {
  for (PlanNode& node : plan->nodes) {
    if (auto* sink = std::get_if<SinkNode>(&node.payload)) sink->table.options["branch"] = branch;
  }
}

bool HasBacklog(const JobProgress& progress) {
  return std::any_of(progress.operators.begin(), progress.operators.end(), [](const OperatorProgress& node) {
    return node.label == "Scan" && (node.backlog.files > 0 || node.backlog.rows > 0 ||
                                    node.backlog.bytes > 0 || !node.backlog.settled);
  });
}

}  // namespace

EngineRun::Pipeline::Pipeline(const Program* program, const RunOptions& options, Engine* engine, Env* env)
    : program(program),
      budget("pipeline " + program->text().name,
             program->text().file ? program->text().file->memory_bytes : 0, engine->budget()),
      recorder(LocalStateFolder(options.state_root), OriginOf(program->text()), env) {}

EngineRun::EngineRun(const std::vector<const Program*>& programs, RunOptions options, RunSignals* signals,
                     ChildReport* report)
    : options_(std::move(options)),
      signals_(signals),
      child_report_(report),
      env_(Env::Real()),
      log_(LocalStateFolder(options_.state_root)),
      engine_({options_.threads, options_.memory_limit, LocalStateFolder(options_.state_root) + "/scratch"}),
      board_(env_) {
  for (const Program* program : programs) {
    pipelines_.push_back(std::make_unique<Pipeline>(program, options_, &engine_, env_));
  }
}

Status EngineRun::Start() {
  if (!options_.listen_host.empty()) {
    http_.AddPage("/metrics", [this] { return board_.Metrics(); });
    http_.AddPage("/livez", [this] { return board_.Live(); });
    http_.AddPage("/readyz", [this] { return board_.Ready(); });
    http_.AddPage("/status", [this] { return board_.Status(); });
    board_.Show({}, {"the queries are being started"});
    RETURN_IF_ERROR(http_.Start(options_.listen_host, options_.listen_port));
    log_.Write(fmt::format("event=listening address={}:{}", options_.listen_host, http_.port()));
  }
  for (const auto& pipeline : pipelines_) AddQueries(pipeline.get());
  // A run that has been under way goes on with what can: the mistakes of its first start have been told.
  admitted_ = options_.restarted;
  began_nanos_ = env_->SteadyNanos();
  for (const auto& [pipeline, query] : queries_) query->Begin(/*held=*/!admitted_);
  return Status();
}

void EngineRun::AddQueries(Pipeline* pipeline) {
  const ProgramText& text = pipeline->program->text();
  for (Plan& plan : pipeline->program->Queries()) {
    if (!options_.only_query.empty() && plan.query != options_.only_query) continue;
    if (!options_.branch.empty()) WriteTo(options_.branch, &plan);
    JobOptions options = engine_.MakeJobOptions(text.name, options_.state_root);
    options.budget = &pipeline->budget;
    if (text.file) options.pipeline_version = text.file->version;
    options.allow_dropped = options_.allow_dropped;
    options.refuse_drained = !options_.restarted;
    queries_.push_back(
        {pipeline, std::make_unique<QueryRunner>(std::move(plan), std::move(options), env_, &log_)});
  }
}

Status EngineRun::Admit(int64_t now) {
  const bool patient = now - began_nanos_ < kPatienceNanos;
  bool waits = false;
  for (const auto& [pipeline, query] : queries_) {
    if (query->answer() && query->refuses()) return *query->answer();
    if (query->answer()) continue;
    waits = waits || patient || !query->has_checkpoint();
    if (patient) break;  // of several refusals the first in the order of the program is told
  }
  if (waits) return Status();
  admitted_ = true;
  for (const auto& [pipeline, query] : queries_) query->LetGo();
  return Status();
}

Status EngineRun::Run(const std::function<void(const RunView&)>& show, bool* before_start) {
  *before_start = true;
  RETURN_IF_ERROR(Start());
  rows_moved_nanos_ = viewed_nanos_ = env_->SteadyNanos();
  while (true) {
    HandleSignals();
    for (const auto& [pipeline, query] : queries_) query->Tick();
    const int64_t now = env_->SteadyNanos();
    if (!admitted_ && !ended()) RETURN_IF_ERROR(Admit(now));
    *before_start = !admitted_;
    CheckIdle(now);
    Record(now);
    show(View(now));
    if (ended()) break;
    std::this_thread::sleep_for(kTick);
  }
  MakeReports();
  Status worst;
  for (const auto& [pipeline, query] : queries_) {
    if (!query->status().ok() && (worst.ok() || query->status().domain() > worst.domain()))
      worst = query->status();
  }
  return worst;
}

void EngineRun::HandleSignals() {
  if (std::exchange(signals_->checkpoint, 0) != 0) {
    for (const auto& [pipeline, query] : queries_) query->TriggerCheckpoint();
  }
  if (std::exchange(signals_->drain, 0) != 0) StopAll(Job::StopKind::kDrain);
  if (std::exchange(signals_->savepoint, 0) != 0) StopAll(Job::StopKind::kSavepoint);
}

void EngineRun::StopAll(Job::StopKind kind) {
  if (std::exchange(stopping_, true)) return;
  log_.Write(fmt::format("event=stopping kind={}", kind == Job::StopKind::kDrain ? "drain" : "savepoint"));
  for (const auto& [pipeline, query] : queries_) query->Stop(kind);
}

// Idle: no source has given a row for so long, none says that something waits, and all of it is committed.
void EngineRun::CheckIdle(int64_t now) {
  if (options_.until_idle_millis == 0 || stopping_) return;
  int64_t rows = 0;
  bool busy = false, uncommitted = false;
  for (const auto& [pipeline, query] : queries_) {
    const JobProgress progress = query->progress();
    rows += RowsRead(progress);
    if (query->ended()) continue;  // what it has left unread stays so
    busy = busy || !query->running() || HasBacklog(progress);
    uncommitted = uncommitted || RowsRead(progress) != MakeReport(query->plan(), progress).rows_read;
  }
  if (busy || rows != rows_seen_) {
    rows_seen_ = rows;
    rows_moved_nanos_ = now;
    epoch_asked_ = false;
    return;
  }
  if (now - rows_moved_nanos_ < options_.until_idle_millis * 1'000'000) return;
  if (!options_.drain) return StopAll(Job::StopKind::kSavepoint);  // whose epoch takes all that is left
  if (!uncommitted) return StopAll(Job::StopKind::kDrain);
  // What is left is not worth the rest of the commit interval.
  if (std::exchange(epoch_asked_, true)) return;
  for (const auto& [pipeline, query] : queries_) query->TriggerCheckpoint();
}

void EngineRun::Record(int64_t now) {
  std::vector<JobProgress> jobs;
  std::vector<std::string> not_running;
  int64_t commits = 0;
  for (const auto& [pipeline, query] : queries_) {
    jobs.push_back(query->progress());
    const std::string& name = jobs.back().query;
    if (query->ended() && !query->status().ok()) {
      not_running.push_back(fmt::format("query {} has failed: {}", name, query->status().ToString()));
    } else if (query->starting()) {
      not_running.push_back(fmt::format("query {} is being started", name));
    } else if (!query->ended() && !query->running()) {
      not_running.push_back(fmt::format("query {} waits to be started again", name));
    }
    commits += jobs.back().checkpoints.committed;
  }
  if (commits > commits_) child_report_->Progress();
  const bool new_commit = std::exchange(commits_, commits) != commits;
  const bool flush = now - recorded_nanos_ >= kRecordNanos || ended();
  if (new_commit || flush) {
    for (size_t i = 0; i < jobs.size(); ++i) {
      // What the store says of a query that had ended before, or begins only now, is still true.
      const auto& [pipeline, query] = queries_[i];
      const bool begins = !query->has_run() && jobs[i].status.ok() && query->trouble().ok();
      if (query->ended_before() || begins) continue;
      pipeline->recorder.Observe(query->plan(), jobs[i]);
    }
  }
  if (flush) {
    recorded_nanos_ = now;
    Status status;
    for (const auto& pipeline : pipelines_) {
      Status flushed = pipeline->recorder.Flush();
      if (status.ok()) status = std::move(flushed);
    }
    if (!status.ok() && !store_failed_) {
      log_.Write(fmt::format("event=ops_store_failed error={}", RunLog::Quoted(status.ToString())));
    }
    store_failed_ = !status.ok();
  }
  board_.Show(std::move(jobs), std::move(not_running));
}

RunView EngineRun::View(int64_t now) {
  RunView view;
  for (const auto& [pipeline, query] : queries_) {
    for (std::string& warning : query->TakeWarnings()) view.warnings.push_back(std::move(warning));
    const JobProgress progress = query->progress();
    view.rows_read += RowsRead(progress);
    view.epoch = std::max(view.epoch, progress.checkpoints.last.number);
    view.commits += progress.checkpoints.committed;
    view.running += query->running() ? 1 : 0;
    if (view.trouble.ok()) view.trouble = query->trouble();
    ++view.queries;
  }
  if (!ended()) WarnOfEnded(&view);
  const double seconds = static_cast<double>(now - viewed_nanos_) / 1e9;
  if (seconds >= 1) {
    rate_ = static_cast<double>(view.rows_read - viewed_rows_) / seconds;
    viewed_rows_ = view.rows_read;
    viewed_nanos_ = now;
  }
  view.rows_per_second = rate_;
  return view;
}

// The last one's error is told as the run's.
void EngineRun::WarnOfEnded(RunView* view) {
  for (const auto& [pipeline, query] : queries_) {
    if (!query->ended() || query->status().ok() || !told_ended_.insert(query.get()).second) continue;
    view->warnings.push_back(fmt::format("query '{}' has ended, the others go on: {}",
                                         query->progress().query, query->status().ToString()));
  }
}

bool EngineRun::awaits_answers() const {
  return std::any_of(queries_.begin(), queries_.end(),
                     [](const Query& query) { return query.runner->starting(); });
}

bool EngineRun::ended() const {
  return std::all_of(queries_.begin(), queries_.end(),
                     [](const Query& query) { return query.runner->ended(); });
}

void EngineRun::MakeReports() {
  reports_.clear();
  for (const auto& [pipeline, query] : queries_) {
    if (query->has_run() && !query->ended_before())
      reports_.push_back(MakeReport(query->plan(), query->progress()));
  }
}

}  // namespace caudal
