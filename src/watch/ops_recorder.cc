#include "watch/ops_recorder.h"

#include <algorithm>

#include "base/secret.h"
#include "watch/progress_json.h"

namespace caudal {
namespace {

constexpr int64_t kIdleNanos = 10'000'000'000;  // a row also when nothing happens: silence is not death
constexpr int64_t kRateNanos = 900'000'000;     // between two looks at the rate of a query
constexpr int64_t kKeptMillis = int64_t{30} * 86'400'000;
constexpr int64_t kExpireEvery = 3'600'000'000'000;  // ns
constexpr int kNumbersOfQuery = 11;                  // columns of ops.queries that only a job can fill
constexpr size_t kMostRowsKept = 100'000;
constexpr const char* kFates[] = {"published", "filtered", "dead", "duplicate", "late", "absorbed"};

std::string_view StateName(const JobProgress& progress) {
  switch (progress.state) {
    case JobState::kRunning:
      return "running";
    case JobState::kStopping:
      return "stopping";
    case JobState::kFinished:
      return progress.checkpoints.drained ? "drained" : "finished";
    case JobState::kFailed:
      return "failed";
    case JobState::kWaiting:
      return "waiting";
  }
  return "";
}

// For good, or so that it is started again.
bool HasFailed(const JobProgress& progress) {
  return progress.state == JobState::kFailed ||
         (progress.state == JobState::kWaiting && !progress.status.ok());
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

// Rows that sources gave so far.
int64_t RowsTaken(const JobProgress& progress) {
  int64_t rows = 0;
  for (const OperatorProgress& node : progress.operators) {
    if (node.label != "Scan") continue;
    rows += node.rows_out;
    for (const CountedFate& fate : node.fates) rows += fate.rows;
  }
  return rows;
}

// What a row of streaming_progress tells of the query as a whole, behind its fates.
void AddState(const JobProgress& progress, const Batch& batch, OpsRow* row) {
  const CheckpointProgress& checkpoints = progress.checkpoints;
  int64_t state_rows = 0, state_bytes = 0;
  for (const OperatorProgress& node : progress.operators) {
    state_rows += node.state_rows;
    state_bytes += node.state_bytes;
  }
  const OperatorProgress* scan = FirstScan(progress);
  const Backlog backlog = scan != nullptr ? scan->backlog : Backlog{};
  row->Known(backlog.rows).Known(backlog.files);
  backlog.millis < 0 ? row->Null() : row->Real(static_cast<double>(backlog.millis) / 1000);
  const std::string offsets = SourceOffsets(progress);
  offsets.empty() ? row->Null() : row->Text(offsets);
  row->Time(scan != nullptr ? scan->watermark.event : Watermark::kNone);
  row->Integer(state_rows).Integer(state_bytes).Known(batch.millis);
  row->Integer(checkpoints.last_failure.ok() ? 1 : 0);
  checkpoints.recent.empty() ? row->Null() : row->Time(checkpoints.recent.back().committed_millis);
  const Busy busy = Busiest(progress);
  row->Real(busy.busy).Real(busy.blocked).Real(busy.idle);
  const Status error = !progress.status.ok() ? progress.status : progress.trouble();
  error.ok() ? row->Null().Null() : row->Text(DomainName(error.domain())).Text(error.ToString());
}

// Whether the source's watermark waits for this split: another one is further, or nobody can tell how far
// this one is.
bool Holds(const OperatorProgress& scan, const SplitProgress& split) {
  if (split.idle) return false;
  const Backlog& backlog = split.backlog;
  bool further = backlog.rows < 0 && backlog.bytes < 0 && backlog.files < 0 && !backlog.settled;
  for (const SplitProgress& other : scan.splits) {
    if (other.idle) continue;
    if (other.watermark < split.watermark) return false;
    further = further || other.watermark > split.watermark;
  }
  return further;
}

}  // namespace

void OpsRecorder::Observe(const Plan& plan, const JobProgress& progress) {
  if (progress.generation == 0) return AddQuery(progress);
  Seen& seen = seen_[progress.query];
  if (seen.generation != progress.generation) Begin(plan, progress, &seen);
  const QueryReport report = MakeReport(plan, progress);
  const int64_t epoch = progress.checkpoints.last.number;
  const bool new_epoch = epoch > seen.epoch;
  if (new_epoch) AddEpochs(progress, seen.epoch);
  AddCommits(progress, &seen);
  const bool failed = HasFailed(progress);
  if (new_epoch || env_->SteadyNanos() - seen.nanos > kIdleNanos || failed) {
    AddProgress(progress, report, &seen);
  }
  AddWarnings(progress, &seen);
  AddQuery(progress);
  AddFates(progress, report);
  AddOperators(progress);
  AddSplits(progress, &seen);
  AddClients(progress);
}

void OpsRecorder::Begin(const Plan& plan, const JobProgress& progress, Seen* seen) {
  // Seen before by this process: rows of an epoch that it did not see end are of the next row. Not so when
  // counts began anew.
  const QueryReport restored = MakeReport(plan, progress.checkpoints.restored);
  if (seen->generation == 0 || restored.rows_read < seen->report.rows_read) {
    seen->report = restored;
    seen->epoch = progress.checkpoints.restored_epoch;
  }
  seen->generation = progress.generation;
  seen->attempt = 0;
  seen->warnings.clear();
  seen->losses.clear();
  seen->bytes = 0;
  seen->commits = 0;
  // Its first row may be of rows that were read and committed before anybody looked.
  const int64_t age = progress.started_millis == 0 ? 0 : env_->NowMillis() - progress.started_millis;
  seen->nanos = env_->SteadyNanos() - std::max<int64_t>(0, age) * 1'000'000;
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

void OpsRecorder::AddCommits(const JobProgress& progress, Seen* seen) {
  int64_t number = progress.checkpoints.commits_before;
  for (const SinkCommit& commit : progress.checkpoints.commits) {
    if (number++ < seen->commits) continue;
    OpsRow row("commits");
    // What an earlier process saw itself is better than what is told of it now.
    row.only_new = !commit.exact;
    row.Text(progress.query).Text(commit.sink).Text(commit.table).Text(commit.branch);
    row.Integer(commit.epoch.generation).Integer(commit.epoch.number);
    row.Integer(commit.snapshot_id).Integer(commit.sequence_number).Time(commit.published_millis);
    row.Integer(commit.exact ? 1 : 0).Known(commit.commit_millis);
    rows_.push_back(std::move(row));
  }
  seen->commits = std::max(seen->commits, number);
}

void OpsRecorder::AddProgress(const JobProgress& progress, const QueryReport& report, Seen* seen) {
  const int64_t now = env_->SteadyNanos();
  const double seconds = std::max(1e-3, static_cast<double>(now - seen->nanos) / 1e9);
  const CheckpointProgress& checkpoints = progress.checkpoints;
  const EpochSample* last = checkpoints.recent.empty() ? nullptr : &checkpoints.recent.back();
  const bool new_epoch = checkpoints.last.number > seen->epoch;
  int64_t bytes = 0;
  for (const OperatorProgress& node : progress.operators) bytes += node.bytes_read;
  const double busy = Busiest(progress).busy;
  Batch batch;
  batch.id = checkpoints.last.number;
  batch.observed_millis = env_->NowMillis();
  batch.rows = std::max<int64_t>(0, report.rows_read - seen->report.rows_read);
  batch.input_rps = static_cast<double>(batch.rows) / seconds;
  batch.processed_rps = busy > 0.01 ? batch.input_rps / std::min(1.0, busy) : batch.input_rps;
  if (last != nullptr && new_epoch) batch.millis = last->duration_millis;
  const std::string json = ProgressJson(progress, batch);
  seen->attempt = new_epoch ? 1 : seen->attempt + 1;
  for (size_t i = 0; i < report.paths.size(); ++i) {
    const SinkPath& path = report.paths[i];
    const SinkPath before = i < seen->report.paths.size() ? seen->report.paths[i] : SinkPath();
    const auto since = [](int64_t total, int64_t until) { return std::max<int64_t>(0, total - until); };
    OpsRow row("streaming_progress");
    row.Text(progress.query).Integer(batch.id).Time(batch.observed_millis);
    row.Real(batch.input_rps).Real(batch.processed_rps).Text(json).Text(path.sink);
    row.Text(std::to_string(progress.generation)).Integer(seen->attempt).Text(origin_.pipeline);
    row.Text(progress.query.substr(progress.query.find('/') + 1)).Text(origin_.version);
    row.Text(HasFailed(progress) ? "failed" : new_epoch ? "batch" : "idle");
    row.Known(batch.millis).Integer(static_cast<int64_t>(seconds * 1000));
    std::vector<std::pair<int64_t, int64_t>> fresh;
    if (last != nullptr && new_epoch) fresh = last->freshness;
    row.Known(WeightedQuantile(&fresh, 0.5)).Known(WeightedQuantile(&fresh, 0.95));
    row.Integer(since(path.rows_read, before.rows_read));
    for (const char* fate : kFates) row.Integer(since(path.Rows(fate), before.Rows(fate)));
    row.Integer(path.rows_unaccounted).Integer(since(bytes, seen->bytes));
    AddState(progress, batch, &row);
    rows_.push_back(std::move(row));
  }
  seen->epoch = batch.id;
  seen->bytes = bytes;
  seen->nanos = now;
  seen->report = report;
}

void OpsRecorder::AddWarnings(const JobProgress& progress, Seen* seen) {
  for (const OperatorProgress& node : progress.operators) {
    for (const std::string& warning : node.warnings) {
      if (!seen->warnings.insert(node.id + '\0' + warning).second) continue;
      OpsRow row("warnings");
      row.Text(progress.query)
          .Text(std::to_string(progress.generation))
          .Text(node.id)
          .Text(Secrets::RedactMessage(warning));
      row.Time(env_->NowMillis());
      rows_.push_back(std::move(row));
    }
  }
}

// As of now: a query that has not committed yet is seen to work.
void OpsRecorder::AddQuery(const JobProgress& progress) {
  Live& live = live_[progress.query];
  const int64_t rows = RowsTaken(progress);
  const int64_t nanos = env_->SteadyNanos();
  if (live.nanos == 0 || rows < live.rows) {
    live = {rows, nanos, 0};
  } else if (nanos - live.nanos >= kRateNanos) {
    const double seconds = static_cast<double>(nanos - live.nanos) / 1e9;
    live = {rows, nanos, static_cast<double>(rows - live.rows) / seconds};
  }
  const bool runs = progress.state == JobState::kRunning || progress.state == JobState::kStopping;
  OpsRow query("queries");
  query.Text(progress.query).Text(origin_.pipeline).Text(progress.query.substr(progress.query.find('/') + 1));
  query.Text(origin_.owner).Text(origin_.version);
  if (progress.generation == 0) {
    query.Null().Text(StateName(progress)).Null().Time(env_->NowMillis());
    for (int column = 0; column < kNumbersOfQuery; ++column) query.Null();
    progress.status.ok() ? query.Null() : query.Text(Secrets::RedactMessage(progress.status.ToString()));
    return rows_.push_back(std::move(query));
  }
  query.Text(std::to_string(progress.generation));
  query.Text(StateName(progress)).Time(progress.started_millis).Time(env_->NowMillis());
  query.Integer(progress.checkpoints.last.number).Integer(progress.checkpoints.committed);
  query.Integer(progress.checkpoints.abandoned).Integer(progress.memory_used).Integer(progress.memory_limit);
  query.Integer(progress.longest_step_micros);
  query.Integer(rows).Real(runs ? live.rows_per_second : 0);
  const OperatorProgress* scan = FirstScan(progress);
  query.Time(scan != nullptr ? scan->watermark.event : Watermark::kNone);
  const Backlog backlog = scan != nullptr ? scan->backlog : Backlog{};
  query.Known(backlog.rows).Known(backlog.files);
  const Status error = !progress.status.ok() ? progress.status : progress.trouble();
  // Others than this process read the store, and do not know what to mask.
  error.ok() ? query.Null() : query.Text(Secrets::RedactMessage(error.ToString()));
  rows_.push_back(std::move(query));
}

void OpsRecorder::AddFates(const JobProgress& progress, const QueryReport& report) {
  const auto add = [&](const char* table, const SinkPath& path, const PathFate& fate) {
    OpsRow row(table);
    row.Text(progress.query).Text(path.sink).Text(fate.node).Text(fate.fate).Text(fate.name);
    row.Integer(fate.rows).Time(env_->NowMillis());
    rows_.push_back(std::move(row));
  };
  for (const SinkPath& path : report.paths) {
    for (const PathFate& fate : path.fates) add("fates", path, fate);
    for (const PathFate& fate : path.change_fates) add("change_fates", path, fate);
  }
}

void OpsRecorder::AddOperators(const JobProgress& progress) {
  for (const OperatorProgress& node : progress.operators) {
    OpsRow row("operators");
    int64_t rows_in = 0;
    for (const int64_t in : node.rows_in) rows_in += in;
    row.Text(progress.query).Text(node.id).Text(node.label).Integer(node.tasks);
    row.Integer(rows_in).Integer(node.rows_out);
    row.Real(node.busy).Real(node.blocked).Real(node.idle).Integer(node.cpu_micros);
    row.Integer(node.longest_step_micros).Integer(node.longest_step_cpu_micros);
    row.Integer(node.state_rows).Integer(node.state_bytes);
    row.Time(node.watermark.event).Time(env_->NowMillis());
    rows_.push_back(std::move(row));
  }
}

void OpsRecorder::AddSplits(const JobProgress& progress, Seen* seen) {
  const auto lag = [](const Backlog& backlog, OpsRow* row) {
    row->Known(backlog.rows);
    backlog.millis < 0 ? row->Null() : row->Real(static_cast<double>(backlog.millis) / 1000);
  };
  for (const OperatorProgress& node : progress.operators) {
    for (const SplitProgress& split : node.splits) {
      OpsRow row("splits");
      row.Text(progress.query).Text(node.id).Text(split.id);
      lag(split.backlog, &row);
      lag(split.durable, &row);
      row.Integer(split.gaps).Time(split.watermark).Integer(split.idle ? 1 : 0);
      row.Integer(Holds(node, split) ? 1 : 0).Time(env_->NowMillis());
      rows_.push_back(std::move(row));
      // Positions carry them: each process tells all of them once more, under the same key.
      size_t& told = seen->losses[node.id + '\0' + split.id];
      for (; told < split.losses.size(); ++told) {
        const LostRange& lost = split.losses[told];
        OpsRow range("losses");
        range.Text(progress.query).Text(node.id).Text(split.id).Integer(lost.from);
        range.Known(lost.to - 1).Known(lost.to < 0 ? -1 : lost.to - lost.from);
        range.Text(lost.reason).Time(lost.found_millis);
        rows_.push_back(std::move(range));
      }
    }
  }
}

void OpsRecorder::AddClients(const JobProgress& progress) {
  for (const OperatorProgress& node : progress.operators) {
    for (const auto& [name, value] : node.client) {
      OpsRow row("clients");
      row.Text(progress.query).Text(node.id).Text(name).Text(value).Time(env_->NowMillis());
      rows_.push_back(std::move(row));
    }
  }
}

Status OpsRecorder::Flush() {
  if (store_ == nullptr) {
    ASSIGN_OR_RETURN(store_, OpsStore::Open(state_root_));
    expire_at_nanos_ = env_->SteadyNanos();
  }
  Status status = store_->Write(rows_);
  if (status.ok()) {
    rows_.clear();
    if (env_->SteadyNanos() < expire_at_nanos_) return status;
    expire_at_nanos_ = env_->SteadyNanos() + kExpireEvery;
    return store_->Expire(env_->NowMillis() - kKeptMillis);
  }
  store_.reset();
  // History is not worth all memory: the oldest goes first.
  if (rows_.size() > kMostRowsKept) rows_.erase(rows_.begin(), rows_.end() - kMostRowsKept);
  return status;
}

}  // namespace caudal
