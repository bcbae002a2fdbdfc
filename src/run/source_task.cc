#include "run/source_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/outage.h"
#include "base/fault_point.h"
#include "data/column_view.h"

namespace caudal {
namespace {

constexpr int64_t kPollNanosPerMilli = 1'000'000;
constexpr int64_t kFirstPollBackoff = kPollNanosPerMilli;
constexpr int64_t kLongestPollBackoff = 20 * kPollNanosPerMilli;  // an idle query takes < 1 % of a core
constexpr int64_t kBudgetPause = 20 * kPollNanosPerMilli;

constexpr size_t kMaxWarnings = 100;

// What to do about a record that stops the query; `hint`: what would let it be read, if that is known.
std::string WayOut(const Table& table, const std::string& hint) {
  const std::string path(table.option("path"));
  // A file that a SELECT names by its path is declared nowhere.
  const std::string go_on =
      table.name == path
          ? fmt::format("write `{}` /*+ OPTIONS('caudal.errors' = 'skip') */ to leave such rows out", path)
          : "set 'caudal.errors' = 'dead-letter' to keep such rows aside";
  return hint.empty() ? go_on : fmt::format("{}, or {}", hint, go_on);
}

}  // namespace

SourceTask::SourceTask(const JobContext* job, int node, int task, const PlanNode& plan, SourceOptions options,
                       Source* source, SourceGroup* group)
    : TaskNode(job, node, task, plan.id, 0),
      plan_(plan),
      options_(options),
      source_(source),
      group_(group),
      rows_(plan, job->dead_letter == nullptr ? nullptr : &job->dead_letter->table(), options.batch,
            options.max_skew_millis),
      evaluator_(job->evaluator) {}

void SourceTask::Assign(std::vector<SplitState> splits) {
  std::lock_guard lock(mutex_);
  for (SplitState& split : splits) mailbox_.splits.push_back(std::move(split));
  has_mail_ = true;
}

void SourceTask::RequestBarrier(const Barrier& barrier) {
  std::lock_guard lock(mutex_);
  mailbox_.barriers.push_back(barrier);
  has_mail_ = true;
}

void SourceTask::Drain() {
  std::lock_guard lock(mutex_);
  mailbox_.drain = true;
  has_mail_ = true;
}

void SourceTask::AllDiscovered() {
  std::lock_guard lock(mutex_);
  mailbox_.complete = true;
  has_mail_ = true;
}

void SourceTask::Poll() {
  std::lock_guard lock(mutex_);
  mailbox_.poll = true;
  has_mail_ = true;
}

bool SourceTask::may_poll() const {
  if (stopped_ || drained_ || ended_) return false;
  if (options_.max_rows_per_epoch > 0 && epoch_rows_ >= options_.max_rows_per_epoch) return false;
  return job_->budget == nullptr || job_->budget->over() == nullptr;
}

bool SourceTask::exhausted() const {
  if (drained_) return true;
  if (!complete_) return false;
  return std::all_of(splits_.begin(), splits_.end(),
                     [](const auto& split) { return split->reader == nullptr; });
}

bool SourceTask::has_work() {
  if (has_mail_) return true;
  if (stopped_ || ended_) return false;
  if (exhausted()) return true;
  const int64_t now = job_->env->SteadyNanos();
  return (!options_.batch && now >= heartbeat_at_) || (may_poll() && NextSplit(now) != nullptr);
}

int64_t SourceTask::wake_at() {
  if (stopped_ || ended_) return INT64_MAX;
  int64_t at = options_.batch ? INT64_MAX : heartbeat_at_;
  if (may_poll()) {
    for (const auto& split : splits_) {
      if (split->reader != nullptr) at = std::min(at, split->poll_at_nanos);
    }
  } else if (!drained_) {
    at = std::min(at, job_->env->SteadyNanos() + kBudgetPause);
  }
  return at;
}

// A split that has had no row yet is not ahead, and nobody waits for it: it may stay empty for ever.
bool SourceTask::IsAhead(const ActiveSplit& split, int64_t slowest) const {
  if (options_.max_drift_millis == 0 || options_.batch || slowest == Watermark::kEnd) return false;
  if (slowest == Watermark::kNone) return true;  // where the others are is known in a moment
  const int64_t clock = split.clock.now();
  return clock != Watermark::kNone && clock > slowest + options_.max_drift_millis;
}

SourceTask::ActiveSplit* SourceTask::NextSplit(int64_t now) {
  const int64_t slowest = group_->Slowest();
  std::vector<ActiveSplit*> candidates;
  for (const auto& split : splits_) {
    if (split->reader == nullptr || split->poll_at_nanos > now) continue;
    if (IsAhead(*split, slowest)) {
      split->looked = true;
      split->empty_since_nanos = kNotEmpty;
      continue;
    }
    candidates.push_back(split.get());
  }
  if (candidates.empty()) return nullptr;
  return candidates[job_->executor->Choose(static_cast<uint32_t>(candidates.size()), turn_)];
}

Status SourceTask::Take() {
  if (has_mail_) {
    Mailbox mail;
    {
      std::lock_guard lock(mutex_);
      std::swap(mail, mailbox_);
      has_mail_ = false;
    }
    RETURN_IF_ERROR(TakeMail(std::move(mail)));
  }
  if (stopped_) return Status();
  const int64_t now = job_->env->SteadyNanos();
  if (may_poll()) {
    ++turn_;
    if (ActiveSplit* split = NextSplit(now)) RETURN_IF_ERROR(PollSplit(*split, now));
  } else {
    for (const auto& split : splits_) split->empty_since_nanos = kNotEmpty;
    if (!epoch_requested_ && job_->budget != nullptr && job_->budget->must_give_back()) {
      epoch_requested_ = true;
      job_->control->RequestEpoch();  // a commit lets sinks give memory back
    }
  }
  SendWatermark(now);
  return Status();
}

Status SourceTask::TakeMail(Mailbox mail) {
  for (const SplitState& split : mail.splits) RETURN_IF_ERROR(OpenSplit(split));
  complete_ |= mail.complete;
  drained_ |= mail.drain;
  if (mail.poll) {
    for (const auto& split : splits_) split->poll_at_nanos = split->backoff_nanos = 0;
  }
  for (const Barrier& barrier : mail.barriers) {
    // Early results that are due belong to the epoch, and whoever is told to stop after a drain must see the
    // end before the barrier.
    const int64_t now = job_->env->SteadyNanos();
    heartbeat_at_ = std::min(heartbeat_at_, now);
    SendWatermark(now);
    stopped_ |= barrier.stop;
    RETURN_IF_ERROR(PassBarrier(barrier));
  }
  return Status();
}

Status SourceTask::OpenSplit(const SplitState& state) {
  auto active = std::make_unique<ActiveSplit>();
  active->split = {state.id, state.ordinal};
  active->clock.Restore(state.clock);
  active->position = state.position;
  if (!state.finished) {
    Result<std::unique_ptr<SplitReader>> reader = source_->Open(active->split, state.position);
    if (!reader.ok()) return reader.status().At(SplitName(*active));
    active->reader = std::move(*reader);
  }
  splits_.push_back(std::move(active));
  return Status();
}

std::string SourceTask::frame() const { return fmt::format("source '{}'", plan_.as<ScanNode>()->table.name); }

// "filesystem events[0]": what positions and offsets are of.
std::string SourceTask::SplitName(const ActiveSplit& split) const {
  const Table& table = plan_.as<ScanNode>()->table;
  const auto connector = table.options.find("connector");
  return fmt::format("{}{}[{}]", connector == table.options.end() ? "" : connector->second + " ", table.name,
                     split.split.ordinal);
}

Status SourceTask::PollSplit(ActiveSplit& split, int64_t now) {
  FAULT_POINT(source_poll);
  Result<::caudal::Poll> polled = split.reader->Next();
  if (!polled.ok()) return polled.status().At(SplitName(split));
  split.looked = true;
  if (SourceRows* rows = std::get_if<SourceRows>(&*polled)) {
    split.backoff_nanos = split.poll_at_nanos = 0;
    split.empty_since_nanos = kNotEmpty;
    split.idle = false;
    return TakeRows(split, std::move(*rows));
  }
  if (std::holds_alternative<NothingYet>(*polled)) {
    OnNothing(split, now);
    return Status();
  }
  if (std::holds_alternative<Finished>(*polled)) {
    Finish(split);
    return Status();
  }
  split.poll_at_nanos = INT64_MAX;  // rows of the new schema wait until the job is planned anew
  job_->control->OnNewSchema();
  return Status();
}

void SourceTask::OnNothing(ActiveSplit& split, int64_t now) {
  split.backoff_nanos = std::clamp(split.backoff_nanos * 2, kFirstPollBackoff, kLongestPollBackoff);
  split.poll_at_nanos = now + split.backoff_nanos;
  if (split.empty_since_nanos == kNotEmpty) split.empty_since_nanos = now;
  const int64_t timeout = options_.idle_timeout_millis * kPollNanosPerMilli;
  if (timeout == 0 || now - split.empty_since_nanos < timeout) return;
  // Silence because of an outage is no idleness: what waits there would be late.
  split.idle |= std::min(now, split.reader->nothing_waits_nanos()) - split.empty_since_nanos >= timeout;
}

Status SourceTask::TakeRows(ActiveSplit& split, SourceRows rows) {
  int64_t count = rows.chunk.size();
  for (const RejectedRecord& record : rows.rejected) count += record.records;
  rows_read_ += count;
  split.rows_read += count;
  epoch_rows_ += count;
  bytes_read_ += rows.bytes;
  ignored_values_ += rows.ignored_values;
  for (std::string& warning : rows.warnings) {
    if (warnings_.size() < kMaxWarnings) warnings_.push_back(std::move(warning));
  }
  const int64_t wall = job_->env->NowMillis();
  if (count > 0) NoteArrival(split, rows, count, wall);
  RETURN_IF_ERROR(RejectRecords(split, rows.rejected));
  evaluator_.set_now_millis(wall);
  ChunkOriginPtr origin(new ChunkOrigin{SplitName(split), rows.file, std::move(rows.offsets)});
  const Chunk chunk =
      rows_.Make({&rows, split.split.ordinal, wall, std::move(origin)}, split.clock, evaluator_,
                 [&](const Chunk& bad, Rejection rejection) {
                   if (options_.errors == ErrorPolicy::kFail) {
                     if (contract_.ok())
                       contract_ = FirstError(bad, rejection).Hint(WayOut(plan_.as<ScanNode>()->table, {}));
                     return;
                   }
                   if (options_.errors == ErrorPolicy::kSkip) {
                     NoteDead(rejection.name, rejection.messages[0], bad.origin()->Place(bad.rows()[0]));
                     *fates_.Get(Fate::kDead, rejection.name) += bad.size();
                     return;
                   }
                   RejectRows(bad, rows_.rejected_schema(), rejection);
                 });
  if (!contract_.ok()) return contract_;
  SendRows(chunk);
  if (rows_.rows_ahead() > 0 && !std::exchange(told_ahead_, true)) {
    warnings_.emplace_back(
        "rows lie further ahead of their arrival than 'caudal.max-future-skew' and do not move the "
        "watermark");
  }
  if (options_.max_rows_per_epoch > 0 && epoch_rows_ >= options_.max_rows_per_epoch && !epoch_requested_) {
    epoch_requested_ = true;
    job_->control->RequestEpoch();
  }
  return Status();
}

// When the rows reached the source: of all, the first one's time stands for the chunk.
void SourceTask::NoteArrival(ActiveSplit& split, const SourceRows& rows, int64_t count, int64_t wall) {
  int64_t arrival = wall, last = wall;
  if (rows.arrival != nullptr && !rows.chunk.empty()) {
    const ColumnView<int64_t> times(*rows.arrival);
    const RowSet all = rows.chunk.rows();
    if (!rows.arrival->IsNull(all[0])) arrival = times[all[0]];
    const int32_t end = all[rows.chunk.size() - 1];
    if (!rows.arrival->IsNull(end)) last = times[end];
  }
  // As the record says it, which its producer's clock may have told.
  arrival = std::min(arrival, wall);
  last = std::min(last, wall);
  if (split.first_arrival_millis < 0) split.first_arrival_millis = arrival;
  split.last_arrival_millis = last;
  if (!arrivals_.empty() && arrivals_.back().first == arrival) {
    arrivals_.back().second += count;
  } else {
    arrivals_.emplace_back(arrival, count);
  }
}

int64_t SourceTask::RecordsPassed(const ActiveSplit& split) {
  const int64_t passed = split.reader != nullptr ? split.reader->records_passed() : split.records_passed;
  return passed >= 0 ? passed : split.rows_read;
}

Status SourceTask::RejectRecords(const ActiveSplit& split, const std::vector<RejectedRecord>& records) {
  if (records.empty()) return Status();
  if (options_.errors == ErrorPolicy::kFail) {
    const ChunkOrigin origin{SplitName(split), records[0].file, {records[0].offset}};
    return Status::Data(records[0].message)
        .At(origin.Place(0))
        .Hint(WayOut(plan_.as<ScanNode>()->table, records[0].hint));
  }
  const ChunkOrigin first{SplitName(split), records[0].file, {records[0].offset}};
  NoteDead(records[0].error_class, records[0].message, first.Place(0));
  for (const RejectedRecord& record : records) *fates_.Get(Fate::kDead, record.error_class) += record.records;
  if (dead_letter_ == nullptr || options_.errors == ErrorPolicy::kSkip) return Status();
  const Chunk rows = job_->dead_letter->FromRecords(
      records, plan_.as<ScanNode>()->table.name, split.split.ordinal, {id(), task(), job_->env->NowMillis()});
  dead_letter_->rows += rows.size();
  dead_letter_->Send(rows);
  return Status();
}

void SourceTask::Finish(ActiveSplit& split) {
  split.position = split.reader->position();
  split.records_passed = split.reader->records_passed();
  split.reader.reset();
  job_->control->OnSplitFinished(node(), split.split);
}

Watermark SourceTask::LeastClock(int64_t now) {
  int64_t least = Watermark::kEnd, slowest = Watermark::kEnd;
  bool active = false, waits = false;
  for (const auto& split : splits_) {
    if (split->reader == nullptr) continue;
    waits = true;
    group_->Reach(split->clock.now());
    if (split->idle) continue;
    active = true;
    least = std::min(least, split->clock.now());
    if (split->clock.now() != Watermark::kNone) slowest = std::min(slowest, split->clock.now());
  }
  if (waits) {
    inactive_since_nanos_ = kNotEmpty;
  } else if (inactive_since_nanos_ == kNotEmpty) {
    inactive_since_nanos_ = now;
  }
  const int64_t timeout = options_.idle_timeout_millis * kPollNanosPerMilli;
  group_->Publish(task(), least, slowest,
                  !active && timeout > 0 && (waits || now - inactive_since_nanos_ >= timeout));
  if (active) return {least};
  // Nothing of ours is active: follow the others. When all are idle none holds another back, and the
  // watermark goes to the furthest of them, as in Flink's StatusWatermarkValve.
  const int64_t others = group_->Least();
  return {others == Watermark::kEnd ? group_->furthest() : others, Watermark::kNone, group_->idle()};
}

void SourceTask::SendWatermark(int64_t now) {
  if (ended_) return;
  const bool end = exhausted();
  if (options_.batch && !end) return;
  const Watermark least = end ? Watermark{Watermark::kEnd} : LeastClock(now);
  const int64_t event = std::max(sent_.event, least.event);
  if (event == sent_.event && least.idle == sent_.idle && now < heartbeat_at_ && !end) return;
  heartbeat_at_ = now + options_.heartbeat_millis * kPollNanosPerMilli;
  sent_ = {event, std::max(sent_.processing, job_->env->NowMillis()), least.idle};
  Send(sent_);
  if (end) {
    ended_ = true;
    group_->Publish(task(), Watermark::kEnd, Watermark::kEnd, true);
    job_->control->OnSourceEnded();
  }
}

Result<Progress> SourceTask::OnBarrier(const Barrier&, NodeAck* ack) {
  for (const auto& split : splits_) {
    SplitState state;
    state.id = split->split.id;
    state.ordinal = split->split.ordinal;
    state.position = split->reader != nullptr ? split->reader->position() : split->position;
    state.clock = split->clock.now();
    state.finished = split->reader == nullptr;
    state.records = RecordsPassed(*split);
    state.arrival_millis = split->last_arrival_millis;
    ack->records_passed += state.records;
    ack->splits.push_back(std::move(state));
  }
  ack->rows_read = rows_read_;
  ack->arrivals = std::move(arrivals_);
  arrivals_.clear();
  epoch_rows_ = 0;
  epoch_requested_ = false;
  return Progress::kDone;
}

NodeProgress SourceTask::progress() const {
  NodeProgress progress = TaskNode::progress();
  progress.bytes_read = bytes_read_;
  progress.ignored_values = ignored_values_;
  progress.warnings = warnings_;
  Backlog total;
  total.settled = !has_mail_;  // splits may be in it
  auto add = [](int64_t& sum, int64_t value) {
    if (value >= 0) sum = std::max<int64_t>(sum, 0) + value;
  };
  for (const auto& split : splits_) {
    if (split->reader == nullptr) continue;
    const Backlog backlog = split->reader->backlog();
    add(total.rows, backlog.rows);
    add(total.bytes, backlog.bytes);
    add(total.files, backlog.files);
    total.millis = std::max(total.millis, backlog.millis);
    total.settled = total.settled && backlog.settled && split->looked;
    SplitProgress& each = progress.splits.emplace_back();
    each.id = split->split.id;
    each.backlog = backlog;
    each.watermark = split->clock.now();
    each.idle = split->idle;
    const Outage* away = dynamic_cast<const Outage*>(split->reader.get());
    if (Status outage = away != nullptr ? away->outage() : Status(); progress.trouble.ok() && !outage.ok()) {
      progress.trouble = std::move(outage).At(SplitName(*split));
    }
    each.gaps = split->reader->gaps();
    each.losses = split->reader->losses();
    each.records = RecordsPassed(*split);
    each.first_arrival_millis = split->first_arrival_millis;
  }
  // Whoever knows bytes alone is taken to go on with rows of the mean size.
  if (total.rows < 0 && total.bytes >= 0 && bytes_read_ > 0) {
    total.rows = static_cast<int64_t>(static_cast<double>(total.bytes) * static_cast<double>(rows_read_) /
                                          static_cast<double>(bytes_read_) +
                                      0.5);
  }
  progress.backlog = total;
  return progress;
}

}  // namespace caudal
