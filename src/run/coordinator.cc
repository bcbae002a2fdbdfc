#include "run/coordinator.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/fault_point.h"

namespace caudal {
namespace {

constexpr int64_t kNanosPerMilli = 1'000'000;
constexpr int64_t kFirstBackoff = 100 * kNanosPerMilli;
constexpr int64_t kLongestBackoff = 30'000 * kNanosPerMilli;
constexpr size_t kRecentEpochs = 256;
constexpr size_t kFreshnessSteps = 128;  // of one epoch
constexpr int64_t kRetainEvery = 4;
// How long a query that is asked to stop goes on trying to commit its last epoch.
constexpr int64_t kStopPatience = 30'000 * kNanosPerMilli;
constexpr int64_t kStopLook = 1'000 * kNanosPerMilli;  // and looks again from then on

int64_t Longer(int64_t backoff) { return std::clamp(backoff * 2, kFirstBackoff, kLongestBackoff); }

// Whether the same call, made again, can succeed.
bool IsPassing(const Status& status) {
  return !Faults::IsInjectedCrash(status) && status.retry() == Retry::kBackoff;
}

// (ms from arrival to commit, rows), at most kFreshnessSteps of them: where there are more, the times are
// rounded up together.
std::vector<std::pair<int64_t, int64_t>> FreshnessOf(const Arrivals& arrivals, int64_t committed_millis) {
  std::map<int64_t, int64_t> rows_at;
  for (const auto& [arrival, rows] : arrivals) {
    rows_at[std::max<int64_t>(0, committed_millis - arrival)] += rows;
  }
  for (int64_t step = 2; rows_at.size() > kFreshnessSteps; step *= 2) {
    std::map<int64_t, int64_t> rounded;
    for (const auto& [millis, rows] : rows_at) rounded[(millis + step - 1) / step * step] += rows;
    rows_at = std::move(rounded);
  }
  return {rows_at.begin(), rows_at.end()};
}

// What has been counted, without what it takes to go on.
NodeState Counters(const NodeState& node) {
  NodeState counters;
  counters.id = node.id;
  counters.label = node.label;
  counters.rows_in = node.rows_in;
  counters.rows_out = node.rows_out;
  counters.fates = node.fates;
  return counters;
}

}  // namespace

Coordinator::Coordinator(Parts parts, EpochOptions options)
    : parts_(std::move(parts)),
      options_(options),
      memory_(parts_.budget, options.ephemeral),
      dead_rows_(options.dead_rows),
      number_(parts_.base ? parts_.base->epoch.number : 0),
      previous_(parts_.base ? parts_.base->epoch : Epoch{}) {
  const int count = parts_.graph->node_count();
  kinds_.assign(static_cast<size_t>(count), StateTable::SnapshotKind::kDelta);
  for (int node = 0; node < count; ++node) {
    const Endpoint& endpoint = (*parts_.endpoints)[static_cast<size_t>(node)];
    ids_.push_back(parts_.fingerprints[static_cast<size_t>(node)].id);
    if (endpoint.source != nullptr) {
      roles_.push_back(NodeRole::kSource);
      sources_running_ += static_cast<int>(parts_.graph->sources(node).size());
    } else if (endpoint.sink != nullptr) {
      roles_.push_back(NodeRole::kSink);
    } else {
      const bool passes = parts_.graph->operators(node)[0]->op().passes_rows();
      roles_.push_back(passes ? NodeRole::kPasses : NodeRole::kAbsorbs);
    }
  }
  if (!parts_.base) return;
  progress_.last = parts_.base->epoch;
  progress_.restored_epoch = parts_.base->epoch.number;
  for (const NodeState& node : parts_.fingerprints) {
    const NodeState* state = parts_.base->Find(node.id);
    progress_.nodes.push_back(state != nullptr ? *state : node);
    progress_.restored.push_back(Counters(progress_.nodes.back()));
  }
}

void Coordinator::Start() {
  const int64_t now = parts_.env->SteadyNanos();
  next_epoch_nanos_ = EpochAfter(now);
  {
    std::lock_guard lock(mutex_);
    TellCommits();  // what the start repeated or found
  }
  for (const std::unique_ptr<SplitDiscovery>& discovery : *parts_.discoveries) {
    discover_at_.push_back(now + discovery->interval_millis() * kNanosPerMilli);
    HandOut(*discovery, discovery->known());
  }
  WakeTasks();
  parts_.executor->Wake(this);
}

void Coordinator::WakeTasks() {
  for (const std::unique_ptr<Task>& task : parts_.graph->tasks()) parts_.executor->Wake(task.get());
}

void Coordinator::HandOut(const SplitDiscovery& discovery, const std::vector<SplitState>& splits) {
  const std::vector<SourceTask*>& tasks = parts_.graph->sources(discovery.node());
  for (size_t task = 0; task < tasks.size(); ++task) {
    std::vector<SplitState> mine;
    for (const SplitState& split : splits) {
      if (static_cast<size_t>(split.ordinal) % tasks.size() == task) mine.push_back(split);
    }
    if (!mine.empty()) tasks[task]->Assign(std::move(mine));
    if (discovery.complete()) tasks[task]->AllDiscovered();
    parts_.executor->Wake(parts_.graph->task_of(tasks[task]));
  }
}

// --- what tasks and users say -----------------------------------------------------------------------------

void Coordinator::OnAck(NodeAck ack) {
  {
    std::lock_guard lock(mutex_);
    acks_.push_back(std::move(ack));
  }
  parts_.executor->Wake(this);
}

void Coordinator::OnFailure(Status status) {
  {
    std::lock_guard lock(mutex_);
    if (failure_.ok()) failure_ = std::move(status);
  }
  parts_.executor->Wake(this);
}

// An ephemeral query has nowhere to keep it, nor will it be asked.
void Coordinator::OnSegment(TableSegment segment) {
  if (parts_.store != nullptr && parts_.segments->Add(std::move(segment))) parts_.executor->Wake(this);
}

void Coordinator::Post(std::function<void()> result) {
  {
    std::lock_guard lock(mutex_);
    results_.push_back(std::move(result));
  }
  parts_.executor->Wake(this);
}

void Coordinator::Submit(std::function<std::function<void()>()> job) {
  parts_.executor->Submit(this, [this, job = std::move(job)] { Post(job()); });
}

void Coordinator::OnSplitFinished(int node, const Split& split) {
  Post([this, node, split] {
    for (const std::unique_ptr<SplitDiscovery>& discovery : *parts_.discoveries) {
      if (discovery->node() != node) continue;
      if (discovering_) {
        finished_splits_.emplace_back(discovery.get(), split);
      } else {
        discovery->OnFinished(split);
      }
    }
  });
}

void Coordinator::OnSourceEnded() {
  Post([this] { --sources_running_; });
}

void Coordinator::OnNewSchema() {
  Post([this] {
    schema_changed_ = true;
    std::lock_guard lock(mutex_);
    stop_requested_ = true;
  });
}

void Coordinator::RequestEpoch() {
  {
    std::lock_guard lock(mutex_);
    epoch_requested_ = true;
  }
  parts_.executor->Wake(this);
}

void Coordinator::RequestStop(bool drain) {
  Post([this, drain] {
    give_up_at_ = std::min(give_up_at_, parts_.env->SteadyNanos() + kStopPatience);
    if (!drain) {
      std::lock_guard lock(mutex_);
      stop_requested_ = true;
      return;
    }
    drained_ |= sources_running_ > 0;
    for (int node = 0; node < static_cast<int>(parts_.plan->nodes.size()); ++node) {
      for (SourceTask* source : parts_.graph->sources(node)) source->Drain();
      WakeSources(node);
    }
  });
}

CheckpointProgress Coordinator::progress() const {
  std::lock_guard lock(mutex_);
  return progress_;
}

// --- one round --------------------------------------------------------------------------------------------

Runnable::Outcome Coordinator::Run() {
  TakeInbox();
  if (finished_) {
    TellEnd();
    return Outcome::kIdle;
  }
  const int64_t now = parts_.env->SteadyNanos();
  MaybeWriteState();
  MaybeMakeManifest(now);
  MaybeCommit(now);
  MaybeDiscover(now);
  Status memory = memory_.Look(parts_.plan->query, now);
  if (!memory.ok()) Fail(std::move(memory));
  MaybeBegin(now);
  MaybeGiveUp(now);
  finished_ ? TellEnd() : Arm(now);
  return Outcome::kIdle;
}

// For whom an operator waits: no barrier passes it. A source that waits for somebody lets barriers pass.
Status Coordinator::OperatorTrouble() const {
  for (const std::unique_ptr<Task>& task : parts_.graph->tasks()) {
    for (const NodeProgress& node : task->progress().nodes) {
      if (!node.trouble.ok() && roles_[static_cast<size_t>(node.node)] != NodeRole::kSource)
        return node.trouble;
    }
  }
  return Status();
}

// Nothing is lost by it: what is not committed is read again.
void Coordinator::MaybeGiveUp(int64_t now) {
  if (finished_ || now < give_up_at_) return;
  if (Status trouble = OperatorTrouble(); !trouble.ok()) {
    return Fail(std::move(trouble).Hint(
        "the query was to stop, and rows wait for an answer; started again, it goes on at its last epoch"));
  }
  const bool trying = landing_ ? landing_->running : flight_.has_value();
  if (failing_.ok() || trying) return;
  Fail(Status(failing_).Hint(
      landing_
          ? "the query was to stop and its last epoch is not yet seen everywhere; it is kept in the "
            "checkpoint, and the next start commits it first"
          : "the query was to stop and could not commit its last epoch; started again, it goes on at the "
            "one before"));
}

void Coordinator::Arm(int64_t now) {
  bool requested = false;
  {
    std::lock_guard lock(mutex_);
    requested = epoch_requested_;
  }
  int64_t at = INT64_MAX;
  // What is due already waits for something that will wake us.
  auto consider = [&](int64_t due) { at = due > now ? std::min(at, due) : at; };
  if (!flight_ && !options_.ephemeral) consider(std::max(next_epoch_nanos_, earliest_epoch_nanos_));
  if (!flight_ && (stop_due_ || requested)) consider(earliest_epoch_nanos_);
  if (landing_ && !landing_->running) consider(landing_->retry_at);
  if (give_up_at_ != INT64_MAX) consider(std::max(give_up_at_, now + kStopLook));
  for (size_t i = 0; i < discover_at_.size(); ++i) {
    if (!(*parts_.discoveries)[i]->complete()) consider(discover_at_[i]);
  }
  if (memory_.over()) consider(now + kFirstBackoff);
  if (at == INT64_MAX) return;
  if (armed_at_ <= now || at < armed_at_) {
    armed_at_ = at;
    parts_.executor->WakeAt(this, at);
  }
}

void Coordinator::TakeInbox() {
  std::deque<NodeAck> acks;
  std::vector<std::function<void()>> results;
  Status failure;
  {
    std::lock_guard lock(mutex_);
    std::swap(acks, acks_);
    std::swap(results, results_);
    failure = failure_;
  }
  if (finished_) return;
  if (!failure.ok()) return Fail(std::move(failure));
  for (NodeAck& ack : acks) TakeAck(std::move(ack));
  for (std::function<void()>& result : results) {
    if (!finished_) result();
  }
}

void Coordinator::TakeAck(NodeAck ack) {
  if (!flight_ || flight_->barrier.epoch != ack.epoch) return;
  NodeState& node = flight_->nodes[static_cast<size_t>(ack.node)];
  node.watermark.event = std::min(node.watermark.event, ack.watermark.event);
  node.watermark.processing = std::min(node.watermark.processing, ack.watermark.processing);
  ++node.tasks;
  node.state_rows += ack.state_rows;
  node.state_bytes += ack.state_bytes;
  node.splits.insert(node.splits.end(), ack.splits.begin(), ack.splits.end());
  flight_->arrivals.insert(flight_->arrivals.end(), ack.arrivals.begin(), ack.arrivals.end());
  flight_->totals->Add(ack);
  parts_.segments->Complete(ack.node, ack.kind);
  parts_.sinks->Add(ack.node, std::move(ack.sealed));
  ChargeSealed(ack.sealed_bytes);
  SubmitPrepares();
  --flight_->acks_missing;
}

// Sealed rows stay in memory until a manifest holds them: an outage of the disk must not grow beyond the
// budget.
void Coordinator::ChargeSealed(int64_t bytes) {
  if (parts_.budget != nullptr) parts_.budget->Charge(bytes);
  sealed_bytes_ += bytes;
}

void Coordinator::SubmitPrepares() {
  for (PendingSeal* seal : parts_.sinks->TakeWaiting()) {
    Submit([this, seal] {
      SinkEpochs::Prepare(seal);
      return [this, seal] { parts_.sinks->Prepared(seal); };
    });
  }
}

// --- an epoch between barrier and manifest ----------------------------------------------------------------

// Results that come at multiples of a delay are in an epoch that begins just then, and wait for none.
int64_t Coordinator::EpochAfter(int64_t now) const {
  int64_t millis = options_.interval_millis;
  if (options_.by_the_clock && millis > 0) {
    const int64_t rest = millis - parts_.env->NowMillis() % millis;
    millis = rest < millis / 10 ? millis + rest : rest;  // a timer may be early, an epoch late
  }
  return now + millis * kNanosPerMilli;
}

void Coordinator::MaybeBegin(int64_t now) {
  if (flight_ || now < earliest_epoch_nanos_) {
    stop_due_ = stop_due_ || sources_running_ == 0;
    return;
  }
  bool requested = false;
  {
    std::lock_guard lock(mutex_);
    stop_due_ = stop_due_ || stop_requested_ || sources_running_ == 0;
    requested = epoch_requested_;
    epoch_requested_ = false;
  }
  if (landing_ && landing_->last) return;
  const bool due = !options_.ephemeral && (requested || now >= next_epoch_nanos_);
  if (stop_due_ || due) Begin(stop_due_, now);
}

void Coordinator::Begin(bool stop, int64_t now) {
  const size_t count = static_cast<size_t>(parts_.graph->node_count());
  flight_.emplace();
  flight_->barrier = {{parts_.store != nullptr ? parts_.store->generation() : 1, ++number_}, stop};
  flight_->totals = std::make_unique<EpochTotals>(static_cast<int>(count));
  flight_->nodes = parts_.fingerprints;
  for (NodeState& node : flight_->nodes) {
    node.watermark = {Watermark::kEnd, Watermark::kEnd};
    node.state_rows = node.state_bytes = 0;
  }
  flight_->acks_missing = parts_.graph->instances();
  flight_->began_nanos = now;
  next_epoch_nanos_ = EpochAfter(now);
  kinds_ = parts_.segments->Begin(number_);
  for (size_t node = 0; node < parts_.plan->nodes.size(); ++node) {
    for (SourceTask* source : parts_.graph->sources(static_cast<int>(node))) {
      source->RequestBarrier(flight_->barrier);
    }
    WakeSources(static_cast<int>(node));
  }
}

void Coordinator::WakeSources(int node) {
  for (SourceTask* source : parts_.graph->sources(node)) parts_.executor->Wake(parts_.graph->task_of(source));
}

void Coordinator::MaybeWriteState() {
  if (!flight_ || flight_->writing_state || !parts_.segments->due(flight_->acks_missing == 0)) return;
  flight_->writing_state = true;
  Submit([this] {
    Status status = parts_.segments->Write(parts_.store);
    return [this, status] {
      flight_->writing_state = false;
      if (flight_->failure.ok()) flight_->failure = status;
      if (parts_.segments->TakeRelief()) WakeTasks();
    };
  });
}

void Coordinator::MaybeMakeManifest(int64_t now) {
  if (!flight_ || flight_->acks_missing > 0 || flight_->writing_state || flight_->manifest_submitted) return;
  if (parts_.sinks->running()) return;
  Status failure = flight_->failure.ok() ? parts_.sinks->failure() : flight_->failure;
  if (!failure.ok()) return Abandon(std::move(failure), now);
  std::vector<int64_t> recounts;
  for (int node = 0; node < parts_.graph->node_count(); ++node)
    recounts.push_back(parts_.sinks->recount(node));
  Status counted = flight_->totals->Check(ids_, roles_, recounts);
  if (!counted.ok()) return Fail(std::move(counted));
  DeadRowBudget::Counts counts = DeadRowBudget::Counts::Of(*flight_->totals, parts_.graph->node_count());
  Status affordable = dead_rows_.Check(counts, flight_->totals->first_dead());
  if (!affordable.ok()) return Fail(std::move(affordable));
  if (landing_) return;  // the epoch before is not visible yet
  flight_->manifest_submitted = true;
  dead_rows_.Note(std::move(counts));
  const Manifest manifest = BuildManifest();
  if (parts_.store == nullptr) return OnManifest(manifest);
  Submit([this, manifest] {
    auto make = [&]() -> Status {
      RETURN_IF_ERROR(parts_.store->CreateManifest(manifest));
      FAULT_POINT(manifest_after);
      return Status();
    };
    Status status = make();
    return [this, manifest, status] {
      if (status.ok()) return OnManifest(manifest);
      // When it cannot be told whether the manifest was made, only a restart finds out.
      if (status.domain() == Domain::kExternal && status.retry() != Retry::kBackoff) return Fail(status);
      Abandon(status, parts_.env->SteadyNanos());
    };
  });
}

Manifest Coordinator::BuildManifest() const {
  Manifest manifest;
  manifest.query = parts_.plan->query;
  if (parts_.store != nullptr) manifest.identity = parts_.store->identity();
  manifest.epoch = flight_->barrier.epoch;
  manifest.previous = previous_;
  manifest.created_micros = parts_.env->NowMicros();
  manifest.processing = Watermark::kNone;
  manifest.final = flight_->barrier.stop && sources_running_ == 0;
  manifest.drained = manifest.final && drained_;
  manifest.nodes = flight_->nodes;
  for (size_t i = 0; i < manifest.nodes.size(); ++i) {
    NodeState& node = manifest.nodes[i];
    const NodeTotals& totals = flight_->totals->node(static_cast<int>(i));
    manifest.processing = std::max(manifest.processing, node.watermark.processing);
    node.segments = parts_.segments->refs(static_cast<int>(i));
    node.committables = parts_.sinks->committables(static_cast<int>(i));
    totals.GoOnFrom(parts_.base ? parts_.base->Find(node.id) : nullptr, &node);
  }
  for (const std::unique_ptr<SplitDiscovery>& discovery : *parts_.discoveries) {
    discovery->Complete(&manifest.nodes[static_cast<size_t>(discovery->node())]);
  }
  return manifest;
}

// Gives the epoch up: its sealed rows and state records stay and go into the next one.
void Coordinator::Abandon(Status why, int64_t now) {
  const Epoch epoch = flight_->barrier.epoch;
  why = std::move(why).At(fmt::format("epoch {}-{}", epoch.generation, epoch.number));
  if (!IsPassing(why)) return Fail(std::move(why));
  if (parts_.store != nullptr) parts_.store->Abandon(epoch.number);
  abandoned_arrivals_.insert(abandoned_arrivals_.end(), flight_->arrivals.begin(), flight_->arrivals.end());
  abandon_backoff_nanos_ = Longer(abandon_backoff_nanos_);
  earliest_epoch_nanos_ = now + abandon_backoff_nanos_;
  next_epoch_nanos_ = std::min(next_epoch_nanos_, earliest_epoch_nanos_);
  flight_.reset();
  failing_ = why;
  std::lock_guard lock(mutex_);
  ++progress_.abandoned;
  progress_.last_failure = std::move(why);
}

// --- an epoch between manifest and commit -----------------------------------------------------------------

void Coordinator::OnManifest(const Manifest& manifest) {
  previous_ = manifest.epoch;
  ChargeSealed(-sealed_bytes_);
  abandon_backoff_nanos_ = 0;
  landing_.emplace();
  landing_->commit = parts_.sinks->Take(manifest.epoch, manifest.nodes);
  landing_->nodes = manifest.nodes;
  landing_->arrivals = std::move(abandoned_arrivals_);
  abandoned_arrivals_.clear();
  landing_->arrivals.insert(landing_->arrivals.end(), flight_->arrivals.begin(), flight_->arrivals.end());
  landing_->last = flight_->barrier.stop;
  landing_->began_nanos = flight_->began_nanos;
  flight_.reset();
  MaybeCommit(parts_.env->SteadyNanos());
}

void Coordinator::MaybeCommit(int64_t now) {
  if (!landing_ || landing_->running || now < landing_->retry_at) return;
  landing_->running = true;
  Submit([this] {
    Status status = CommitLanding();
    return [this, status] {
      landing_->running = false;
      if (status.ok()) return OnCommitted();
      const Epoch epoch = landing_->commit.epoch;
      Status framed = Status(status).At(fmt::format("epoch {}-{}", epoch.generation, epoch.number));
      if (!IsPassing(framed)) return Fail(std::move(framed));
      landing_->backoff_nanos = Longer(landing_->backoff_nanos);
      landing_->retry_at = parts_.env->SteadyNanos() + landing_->backoff_nanos;
      failing_ = framed;
      std::lock_guard lock(mutex_);
      progress_.last_failure = std::move(framed);
    };
  });
}

Status Coordinator::CommitLanding() {
  RETURN_IF_ERROR(SinkEpochs::Commit(&landing_->commit));
  if (!landing_->last || parts_.store == nullptr) return Status();
  const Status noted = parts_.store->NoteCommitted(landing_->commit.epoch);
  // Without the note, only a plan that drops a sink is asked to run once more as it was.
  return Faults::IsInjectedCrash(noted) ? noted : Status();
}

void Coordinator::OnCommitted() {
  const int64_t now = parts_.env->SteadyNanos();
  const EpochLanding landing = std::move(*landing_);
  landing_.reset();
  failing_ = Status();
  earliest_epoch_nanos_ = std::max(earliest_epoch_nanos_, now + options_.min_pause_millis * kNanosPerMilli);
  for (size_t node = 0; node < parts_.plan->nodes.size(); ++node) {
    Source* source = (*parts_.endpoints)[node].source.get();
    if (source == nullptr) continue;
    source->Committed(PositionsOf(landing.nodes[node]));
  }
  EpochSample sample;
  sample.epoch = landing.commit.epoch;
  sample.committed_millis = parts_.env->NowMillis();
  sample.duration_millis = (now - landing.began_nanos) / kNanosPerMilli;
  sample.freshness = FreshnessOf(landing.arrivals, sample.committed_millis);
  {
    std::lock_guard lock(mutex_);
    progress_.last = landing.commit.epoch;
    progress_.drained = landing.last && drained_ && sources_running_ == 0;
    ++progress_.committed;
    progress_.last_failure = Status();
    progress_.recent.push_back(std::move(sample));
    if (progress_.recent.size() > kRecentEpochs) progress_.recent.erase(progress_.recent.begin());
    progress_.nodes = landing.nodes;
    // Whoever shows progress copies it many times a second.
    for (NodeState& node : progress_.nodes) {
      node.segments.clear();
      node.committables.clear();
    }
    TellCommits();
    for (const PendingCommit::Target& target : landing.commit.targets) {
      int64_t& bytes = progress_.bytes_written[target.id];
      for (const Committable& one : target.committables) bytes += one.bytes;
    }
  }
  memory_.OnCommitted();
  if (landing.last) return Finish(Status());
  if (parts_.store == nullptr || landing.commit.epoch.number % kRetainEvery != 0) return;
  Submit([this] {
    Status status = parts_.store->Retain(std::max(2, options_.keep));
    return [this, status] {
      if (Faults::IsInjectedCrash(status)) return Fail(status);
      std::lock_guard lock(mutex_);
      if (!status.ok()) progress_.last_failure = status;  // files stay a little longer
    };
  });
}

// REQUIRES: mutex_ is held, no commit runs.
void Coordinator::TellCommits() {
  std::vector<SinkCommit>& told = progress_.commits;
  for (SinkCommit& commit : parts_.sinks->TakeCommits()) told.push_back(std::move(commit));
  if (told.size() <= kRecentEpochs) return;
  const auto surplus = static_cast<ptrdiff_t>(told.size() - kRecentEpochs);
  told.erase(told.begin(), told.begin() + surplus);
  progress_.commits_before += surplus;
}

// --- splits and the end -----------------------------------------------------------------------------------

void Coordinator::MaybeDiscover(int64_t now) {
  if (discovering_) return;
  for (size_t i = 0; i < discover_at_.size(); ++i) {
    SplitDiscovery* discovery = (*parts_.discoveries)[i].get();
    if (discovery->complete() || now < discover_at_[i]) continue;
    discovering_ = true;
    Submit([this, discovery, i] {
      Result<SplitDiscovery::Found> found = discovery->Look();
      return [this, discovery, i, found] {
        discovering_ = false;
        discover_at_[i] = parts_.env->SteadyNanos() + discovery->interval_millis() * kNanosPerMilli;
        if (!found.ok())
          return Fail(found.status().At("source '" + ids_[static_cast<size_t>(discovery->node())] + "'"));
        HandOut(*discovery, discovery->Take(*found));
        for (const auto& [of, split] : finished_splits_) of->OnFinished(split);
        finished_splits_.clear();
      };
    });
    return;
  }
}

void Coordinator::Fail(Status status) {
  {
    std::lock_guard lock(mutex_);
    if (failure_.ok()) failure_ = status;
  }
  Finish(std::move(status));
}

void Coordinator::Finish(Status status) {
  if (finished_) return;
  finished_ = true;
  end_ = std::move(status);
  const std::vector<std::unique_ptr<Task>>& tasks = parts_.graph->tasks();
  stepping_ = tasks.size();
  for (const std::unique_ptr<Task>& task : tasks) task->Cancel();
  for (const std::unique_ptr<Task>& task : tasks) {
    parts_.executor->Retire(task.get(), [this, task = task.get()] {
      task->Publish();  // where it stopped: nobody asks before the job has finished
      if (--stepping_ == 0) parts_.executor->Wake(this);
    });
  }
}

void Coordinator::TellEnd() {
  if (stepping_ > 0 || std::exchange(told_, true)) return;
  parts_.finished(std::move(end_), schema_changed_);
}

}  // namespace caudal
