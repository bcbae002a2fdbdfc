#include "op/session_aggregate.h"

#include <algorithm>

#include "op/lateness.h"
#include "op/row/key_types.h"
#include "op/row/row_lists.h"

namespace caudal {
namespace {

constexpr int64_t kSessionStepNanos = 10'000'000;
constexpr int32_t kSessionBatch = 1024;  // rows of a chunk

WindowSpec SlicesOfAMilli(WindowSpec window) {
  window.size = window.slide = 1;
  return window;
}

}  // namespace

bool SessionAggregate::Before::operator()(const Ending& a, const Ending& b) const {
  if (a.end != b.end) return a.end < b.end;
  if (a.entry->hash != b.entry->hash) return a.entry->hash < b.entry->hash;
  return owner->groups_->key(*a.entry) < owner->groups_->key(*b.entry);
}

SessionAggregate::SessionAggregate(AggregateNode node, const Schema& input, const Schema& output,
                                   std::unique_ptr<AccumulatorRow> accumulators, bool batch)
    : node_(std::move(node)),
      key_types_(ColumnTypes(input, node_.keys)),
      output_(output),
      clock_column_(batch ? -1 : input.Find(kClockColumn).value_or(-1)),
      accumulators_(std::move(accumulators)),
      endings_(Before{this}) {
  for (size_t i = 0; i < key_types_.size(); ++i) key_types_[i] = output.fields[i].type;
  const size_t columns = node_.keys.size() + node_.calls.size() + node_.window_columns.size();
  for (size_t i = 0; i < columns; ++i) builders_.emplace_back(output.fields[i].type, kSessionBatch);
}

Status SessionAggregate::Open(const OperatorContext& context) {
  TimeZone zone;
  if (node_.window.local_time_zone) {
    ASSIGN_OR_RETURN(zone, TimeZone::Find(context.evaluator.time_zone));
  }
  times_of_ = std::make_unique<WindowSlices>(SlicesOfAMilli(node_.window), std::move(zone));
  std::string types;
  for (const Type& type : key_types_) types += type.WithNullable(true).ToString() + ",";
  codec_ = std::make_unique<SessionListCodec>(
      "gap " + std::to_string(node_.window.size) + ", " + times_of_->Words(), accumulators_.get());
  groups_ = std::make_unique<KeyedRows>("sessions", types, codec_.get());
  closed_end_ = cached_closed_ = times_of_->LastClosedEnd(Watermark::kNone);
  env_ = context.env;
  charge_.set_budget(context.budget);
  absorbed_ = context.fates->Get(Fate::kAbsorbed, "Aggregate");
  return Status();
}

Status SessionAggregate::OnRestore(const Watermark& watermark) {
  watermark_ = target_ = watermark;
  closed_end_ = times_of_->LastClosedEnd(watermark.event);
  KeyedRows::Cursor cursor;
  groups_->Walk(&cursor, [this](KeyEntry* entry) {
    for (const Session& session : SessionList::At(entry->row()).sessions()) {
      endings_.insert({session.end, entry});
    }
    return true;
  });
  Charge();
  return Status();
}

void SessionAggregate::Charge() {
  constexpr int64_t kBytesOfAnEnding = sizeof(Ending) + 4 * sizeof(void*);  // a node of a tree
  charge_.Set(groups_->bytes() + static_cast<int64_t>(endings_.size()) * kBytesOfAnEnding);
}

int64_t SessionAggregate::ClosedBy(int64_t clock) {
  if (clock != cached_clock_) {
    cached_clock_ = clock;
    cached_closed_ = times_of_->LastClosedEnd(clock);
  }
  return cached_closed_;
}

void SessionAggregate::ReadTimes(const Chunk& chunk, Output& out) {
  const RowSet rows = chunk.rows();
  const TimeColumn time(*chunk.column(node_.window.time_column));
  timed_.clear();
  times_.clear();
  std::vector<uint16_t> timeless;
  for (int32_t i = 0; i < rows.count; ++i) {
    const uint16_t row = static_cast<uint16_t>(rows[i]);
    if (time.IsNull(row)) {
      timeless.push_back(row);
      continue;
    }
    timed_.push_back(row);
    times_.push_back(times_of_->SliceOf(time[row]));
  }
  RejectNullTime(chunk, std::move(timeless), out);
}

int64_t SessionAggregate::Join(KeyEntry* entry, int64_t time, int64_t closed) {
  std::vector<Session>& sessions = SessionList::At(entry->row()).sessions();
  int64_t start = time, end = time + node_.window.size;
  // Those that the row touches stand side by side. Two of them touch each other only if one was closed to the
  // row that opened the other.
  auto first = std::partition_point(sessions.begin(), sessions.end(),
                                    [&](const Session& session) { return session.end < time; });
  while (first != sessions.end() && first->start <= end && first->end <= closed) ++first;
  auto last = first;
  for (; last != sessions.end() && last->start <= end; ++last) {
    start = std::min(start, last->start);
    end = std::max(end, last->end);
  }
  if (end <= closed) return -1;
  if (first == last) {
    first = sessions.emplace(first, start, end, accumulators_.get());
    endings_.insert({end, entry});
    return first - sessions.begin();
  }
  if (last - first > 1) AddUp();
  if (end != std::prev(last)->end) endings_.insert({end, entry});
  for (auto merged = first; merged != last; ++merged) {
    if (merged->end != end) endings_.erase({merged->end, entry});
    if (merged != first) accumulators_->Merge(first->row(), merged->row());
  }
  first->start = start;
  first->end = end;
  sessions.erase(std::next(first), last);
  return first - sessions.begin();
}

void SessionAggregate::AddUp() {
  accumulators_->Update(rows_.data(), *chunk_, {picked_.data(), static_cast<int32_t>(picked_.size())});
  *absorbed_ += static_cast<int64_t>(picked_.size());
  rows_.clear();
  picked_.clear();
}

Result<Progress> SessionAggregate::OnChunk(int port, const Chunk& chunk, Output& out) {
  ReadTimes(chunk, out);
  keys_.Encode(chunk, node_.keys, {timed_.data(), static_cast<int32_t>(timed_.size())});
  groups_->FindOrInsert(keys_, &entries_);
  const ClockColumn clock(clock_column_ < 0 ? nullptr : chunk.column(clock_column_).get());
  chunk_ = &chunk;
  std::vector<uint16_t> late, closed;
  for (size_t i = 0; i < timed_.size(); ++i) {
    const int64_t closed_by_clock = ClosedBy(clock[timed_[i]]);
    const int64_t at = Join(entries_[i], times_[i], std::max(closed_by_clock, closed_end_));
    if (at < 0) {
      // By its own clock, or by that of all splits, which did not wait for its own.
      (times_[i] + node_.window.size <= closed_by_clock ? late : closed).push_back(timed_[i]);
      continue;
    }
    rows_.push_back(SessionList::At(entries_[i]->row()).sessions()[static_cast<size_t>(at)].row());
    picked_.push_back(timed_[i]);
  }
  AddUp();
  std::sort(entries_.begin(), entries_.end());  // a key may stand there often
  entries_.erase(std::unique(entries_.begin(), entries_.end()), entries_.end());
  for (KeyEntry* entry : entries_) {
    SessionList::At(entry->row()).sessions().empty() ? groups_->Erase(entry) : groups_->Touch(entry);
  }
  Charge();
  RejectLate(chunk, std::move(late), out);
  RejectRows(chunk, std::move(closed), Fate::kLate, "idle",
             {"the row's session was closed while its split was idle"}, out);
  return Progress::kDone;
}

void SessionAggregate::AppendSession(const KeyEntry& entry, const Session& session) {
  DecodeKey(groups_->key(entry), key_types_, &builders_);
  const char* row = session.row();
  accumulators_->Results(&row, 1, builders_.data() + key_types_.size());
  ColumnBuilder* label = builders_.data() + key_types_.size() + node_.calls.size();
  for (const AggregateNode::WindowColumn column : node_.window_columns) {
    const int64_t ticks = label->type().ticks_per_second() / 1000;
    switch (column) {
      case AggregateNode::WindowColumn::kStart:
        label->Append(session.start * ticks);
        break;
      case AggregateNode::WindowColumn::kEnd:
        label->Append(session.end * ticks);
        break;
      case AggregateNode::WindowColumn::kTime:
        label->Append(times_of_->TimeLabel(session.end) * ticks);
        break;
    }
    ++label;
  }
  ++batch_;
}

void SessionAggregate::EmitBatch(Output& out) {
  if (batch_ == 0) return;
  std::vector<ColumnPtr> columns;
  for (ColumnBuilder& builder : builders_) columns.push_back(builder.Finish());
  if (output_.size() > static_cast<int>(columns.size())) {
    columns.push_back(ConstantColumn(output_.fields.back().type, Value(watermark_.event), batch_));
  }
  out.Emit(Chunk(std::move(columns), std::exchange(batch_, 0), nullptr, nullptr));
}

Progress SessionAggregate::Fire(Output& out) {
  const int64_t start = env_->SteadyNanos();
  while (!endings_.empty() && endings_.begin()->end <= closed_end_) {
    if (batch_ == kSessionBatch) EmitBatch(out);
    if (out.full() || (batch_ % 32 == 0 && env_->SteadyNanos() - start > kSessionStepNanos)) {
      EmitBatch(out);
      return Progress::kMore;
    }
    const Ending ending = *endings_.begin();
    endings_.erase(endings_.begin());
    std::vector<Session>& sessions = SessionList::At(ending.entry->row()).sessions();
    const auto session = std::find_if(sessions.begin(), sessions.end(),
                                      [&](const Session& each) { return each.end == ending.end; });
    AppendSession(*ending.entry, *session);
    sessions.erase(session);
    sessions.empty() ? groups_->Erase(ending.entry) : groups_->Touch(ending.entry);
  }
  EmitBatch(out);
  watermark_ = target_;
  Charge();
  return Progress::kDone;
}

Result<Progress> SessionAggregate::OnWatermark(const Watermark& watermark, Output& out) {
  target_ = watermark;
  closed_end_ = std::max(closed_end_, times_of_->LastClosedEnd(watermark.event));
  return Fire(out);
}

Result<Progress> SessionAggregate::Resume(Output& out) { return Fire(out); }

}  // namespace caudal
