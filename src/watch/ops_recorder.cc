#include "watch/ops_recorder.h"

#include <algorithm>

#include "watch/progress_json.h"

namespace caudal {
namespace {

constexpr int64_t kIdleNanos = 10'000'000'000;  // a row also when nothing happens: silence is not death
constexpr int64_t kKeptMillis = int64_t{30} * 86'400'000;
constexpr size_t kMostRowsKept = 100'000;
constexpr const char* kFates[] = {"published", "filtered", "dead", "duplicate", "late", "absorbed"};

std::string_view StateName(JobState state) {
  switch (state) {
    case JobState::kRunning:
      return "running";
    case JobState::kStopping:
      return "stopping";
    case JobState::kFinished:
      return "finished";
    case JobState::kFailed:
      return "failed";
  }
  return "";
}

int64_t RowsOf(const EpochSample& epoch) {
  int64_t rows = 0;
  for (const auto& [millis, count] : epoch.freshness) rows += count;
  return rows;
}

// Over all operators; what tasks do most decides what the query does.
struct Busy {
  double busy = 0, blocked = 0, idle = 1;
};
Busy Busiest(const JobProgress& progress) {
  Busy busiest;
  for (const OperatorProgress& node : progress.operators) {
    if (node.busy < busiest.busy) continue;
    busiest = {node.busy, node.blocked, node.idle};
  }
  return busiest;
}

const OperatorProgress* FirstScan(const JobProgress& progress) {
  for (const OperatorProgress& node : progress.operators) {
    if (node.label == "Scan") return &node;
  }
  return nullptr;
}

}  // namespace

void OpsRecorder::Observe(const Plan& plan, const JobProgress& progress) {
  Seen& seen = seen_[progress.query];
  if (seen.generation != progress.generation) {
    // Counts go on across generations, epochs too; only what this process saw is compared.
    seen.generation = progress.generation;
    seen.nanos = env_->SteadyNanos();
  }
  const QueryReport report = MakeReport(plan, progress);
  const int64_t epoch = progress.checkpoints.last.number;
  const bool new_epoch = epoch > seen.epoch;
  if (new_epoch) AddEpochs(progress, seen.epoch);
  if (new_epoch || env_->SteadyNanos() - seen.nanos > kIdleNanos || progress.state == JobState::kFailed) {
    AddProgress(progress, report, &seen);
  }
  AddTotals(progress, report);
}

void OpsRecorder::AddEpochs(const JobProgress& progress, int64_t after) {
  for (const EpochSample& epoch : progress.checkpoints.recent) {
    if (epoch.epoch.number <= after) continue;
    std::vector<std::pair<int64_t, int64_t>> samples = epoch.freshness;
    OpsRow row("epochs");
    row.Text(progress.query)
        .Integer(epoch.epoch.generation)
        .Integer(epoch.epoch.number)
        .Time(epoch.committed_millis);
    row.Integer(epoch.duration_millis).Integer(RowsOf(epoch));
    row.Known(WeightedQuantile(&samples, 0.5))
        .Known(WeightedQuantile(&samples, 0.95))
        .Known(WeightedQuantile(&samples, 1));
    rows_.push_back(std::move(row));
  }
}

void OpsRecorder::AddProgress(const JobProgress& progress, const QueryReport& report, Seen* seen) {
  const int64_t now = env_->SteadyNanos();
  const double seconds = std::max(1e-3, static_cast<double>(now - seen->nanos) / 1e9);
  const CheckpointProgress& checkpoints = progress.checkpoints;
  const EpochSample* last = checkpoints.recent.empty() ? nullptr : &checkpoints.recent.back();
  const bool new_epoch = checkpoints.last.number > seen->epoch;
  const int64_t rows = std::max<int64_t>(0, report.rows_read - seen->rows_read);
  int64_t bytes = 0, state_rows = 0, state_bytes = 0;
  for (const OperatorProgress& node : progress.operators) {
    bytes += node.bytes_read;
    state_rows += node.state_rows;
    state_bytes += node.state_bytes;
  }
  const OperatorProgress* scan = FirstScan(progress);
  const Busy busy = Busiest(progress);
  const double input_rps = static_cast<double>(rows) / seconds;
  const double processed_rps = busy.busy > 0.01 ? input_rps / std::min(1.0, busy.busy) : input_rps;
  const int64_t batch_ms = last != nullptr && new_epoch ? last->duration_millis : -1;
  std::vector<std::pair<int64_t, int64_t>> fresh;
  if (last != nullptr && new_epoch) fresh = last->freshness;

  OpsRow row("streaming_progress");
  row.Text(progress.query)
      .Integer(checkpoints.last.number)
      .Time(env_->NowMillis())
      .Real(input_rps)
      .Real(processed_rps);
  row.Text(ProgressJson(
      progress, {checkpoints.last.number, env_->NowMillis(), rows, input_rps, processed_rps, batch_ms}));
  seen->attempt = new_epoch ? 1 : seen->attempt + 1;
  row.Text(std::to_string(progress.generation)).Integer(seen->attempt).Text(origin_.pipeline);
  row.Text(progress.query.substr(progress.query.find('/') + 1)).Text(origin_.version);
  row.Text(progress.state == JobState::kFailed ? "failed" : new_epoch ? "batch" : "idle");
  row.Known(batch_ms).Integer(static_cast<int64_t>(seconds * 1000));
  row.Known(WeightedQuantile(&fresh, 0.5)).Known(WeightedQuantile(&fresh, 0.95)).Integer(rows);
  // Fates over the first path: a statement set's paths share the source's checks, each has its own rest.
  std::vector<int64_t> fates;
  for (const char* fate : kFates) fates.push_back(report.paths.empty() ? 0 : report.paths[0].Rows(fate));
  seen->fates.resize(fates.size());
  for (size_t i = 0; i < fates.size(); ++i) row.Integer(std::max<int64_t>(0, fates[i] - seen->fates[i]));
  int64_t unaccounted = 0;
  for (const SinkPath& path : report.paths) unaccounted += path.rows_unaccounted;
  row.Integer(unaccounted).Integer(std::max<int64_t>(0, bytes - seen->bytes));
  const Backlog backlog = scan != nullptr ? scan->backlog : Backlog{};
  row.Known(backlog.rows).Known(backlog.files);
  backlog.millis < 0 ? row.Null() : row.Real(static_cast<double>(backlog.millis) / 1000);
  const std::string offsets = SourceOffsets(progress);
  offsets.empty() ? row.Null() : row.Text(offsets);
  row.Time(scan != nullptr ? scan->watermark.event : Watermark::kNone);
  row.Integer(state_rows).Integer(state_bytes).Known(batch_ms).Integer(checkpoints.last_failure.ok() ? 1 : 0);
  last != nullptr ? row.Time(last->committed_millis) : row.Null();
  row.Real(busy.busy).Real(busy.blocked).Real(busy.idle);
  const Status& error = !progress.status.ok() ? progress.status : checkpoints.last_failure;
  error.ok() ? row.Null().Null() : row.Text(DomainName(error.domain())).Text(error.ToString());
  rows_.push_back(std::move(row));

  *seen = {progress.generation, checkpoints.last.number, seen->attempt, report.rows_read, bytes, now,
           std::move(fates)};
}

void OpsRecorder::AddTotals(const JobProgress& progress, const QueryReport& report) {
  const int64_t now = env_->NowMillis();
  OpsRow query("queries");
  query.Text(progress.query).Text(origin_.pipeline).Text(progress.query.substr(progress.query.find('/') + 1));
  query.Text(origin_.owner)
      .Text(origin_.version)
      .Text(std::to_string(progress.generation))
      .Text(StateName(progress.state));
  query.Time(progress.started_millis).Time(now).Integer(progress.checkpoints.last.number);
  query.Integer(progress.checkpoints.committed)
      .Integer(progress.checkpoints.abandoned)
      .Integer(progress.memory_used);
  query.Integer(progress.memory_limit).Integer(progress.longest_step_micros);
  const Status& error = !progress.status.ok() ? progress.status : progress.checkpoints.last_failure;
  error.ok() ? query.Null() : query.Text(error.ToString());
  rows_.push_back(std::move(query));
  for (const SinkPath& path : report.paths) {
    for (const PathFate& fate : path.fates) {
      OpsRow row("fates");
      row.Text(progress.query)
          .Text(path.sink)
          .Text(fate.node)
          .Text(fate.fate)
          .Text(fate.name)
          .Integer(fate.rows)
          .Time(now);
      rows_.push_back(std::move(row));
    }
  }
  for (const OperatorProgress& node : progress.operators) {
    OpsRow row("operators");
    int64_t rows_in = 0;
    for (const int64_t in : node.rows_in) rows_in += in;
    row.Text(progress.query)
        .Text(node.id)
        .Text(node.label)
        .Integer(node.tasks)
        .Integer(rows_in)
        .Integer(node.rows_out);
    row.Real(node.busy).Real(node.blocked).Real(node.idle).Integer(node.cpu_micros);
    row.Integer(node.longest_step_micros).Integer(node.longest_step_cpu_micros);
    row.Integer(node.state_rows).Integer(node.state_bytes);
    row.Time(node.watermark.event).Time(now);
    rows_.push_back(std::move(row));
  }
}

Status OpsRecorder::Flush() {
  if (store_ == nullptr) {
    ASSIGN_OR_RETURN(store_, OpsStore::Open(state_root_));
    RETURN_IF_ERROR(store_->Expire(env_->NowMillis() - kKeptMillis));
  }
  Status status = store_->Write(rows_);
  if (status.ok()) {
    rows_.clear();
    return status;
  }
  store_.reset();
  // History is not worth all memory: the oldest goes first.
  if (rows_.size() > kMostRowsKept) rows_.erase(rows_.begin(), rows_.end() - kMostRowsKept);
  return status;
}

}  // namespace caudal
