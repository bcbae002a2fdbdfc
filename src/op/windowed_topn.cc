#include "op/windowed_topn.h"

#include <algorithm>
#include <limits>

#include "op/lateness.h"
#include "op/row/key_types.h"
#include "op/row/row_lists.h"

namespace caudal {
namespace {

constexpr int64_t kWindowedTopNStep = 10'000'000;  // ns
constexpr uint16_t kIsDue = 1;                     // KeyEntry::scratch: stands in due_
constexpr int64_t kTheOneWindow = 0;               // the end of a batch's only window

}  // namespace

WindowedTopN::WindowedTopN(TopNNode node, const Schema& input, const Schema& output)
    : node_(std::move(node)),
      input_(input),
      clock_column_(input.Find(kClockColumn).value_or(-1)),
      layout_(input, output, node_.with_rank ? 1 : 0),
      codec_(layout_.words() + " " + RankWords(node_)),
      partitions_("partitions", KeyTypesText(input, node_.partition), &codec_),
      changes_(output) {}

Status WindowedTopN::Open(const OperatorContext& context) {
  if (node_.emit == TopNNode::Emit::kOnWatermark) {
    TimeZone zone;
    if (node_.window.local_time_zone) {
      ASSIGN_OR_RETURN(zone, TimeZone::Find(context.evaluator.time_zone));
    }
    windows_ = std::make_unique<WindowSlices>(node_.window, std::move(zone));
  }
  fired_end_ = ClosedBy(Watermark::kNone);
  env_ = context.env;
  charge_.set_budget(context.budget);
  absorbed_ = context.fates->Get(Fate::kAbsorbed, "TopN");
  return Status();
}

int64_t WindowedTopN::ClosedBy(int64_t event) {
  if (windows_ != nullptr) return windows_->LastClosedEnd(event);
  return event == Watermark::kEnd ? kTheOneWindow : kTheOneWindow - 1;
}

Status WindowedTopN::OnRestore(const Watermark& watermark) {
  watermark_ = watermark;
  target_ = watermark;
  fired_end_ = ClosedBy(watermark.event);
  // The window of a partition stands in its key.
  const std::vector<Type> types = ColumnTypes(input_, node_.partition);
  std::vector<ColumnBuilder> builders(types.begin(), types.end());
  const auto place = std::ranges::find(node_.partition, node_.window.time_column) - node_.partition.begin();
  KeyedRows::Cursor cursor;
  std::vector<KeyEntry*> gone;
  partitions_.Walk(&cursor, [&](KeyEntry* entry) {
    int64_t end = kTheOneWindow;
    if (windows_ != nullptr) {
      DecodeKey(partitions_.key(*entry), types, &builders);
      std::vector<ColumnPtr> columns;
      for (ColumnBuilder& builder : builders) columns.push_back(builder.Finish());
      end = windows_->EndOfLabel(TimeColumn(*columns[static_cast<size_t>(place)])[0]);
    }
    if (end > fired_end_) {
      entry->scratch = kIsDue;
      due_[end].push_back(entry);
    } else {
      gone.push_back(entry);
    }
    return true;
  });
  for (KeyEntry* entry : gone) partitions_.Erase(entry);
  charge_.Set(partitions_.bytes());
  return Status();
}

void WindowedTopN::Assign(const Chunk& chunk, Output& out) {
  in_time_.clear();
  ends_.clear();
  if (windows_ == nullptr) {
    for (int32_t i = 0; i < chunk.size(); ++i) in_time_.push_back(static_cast<uint16_t>(chunk.rows()[i]));
    ends_.assign(in_time_.size(), kTheOneWindow);
    return;
  }
  const TimeColumn label(*chunk.column(node_.window.time_column));
  const ClockColumn clock(clock_column_ < 0 ? nullptr : chunk.column(clock_column_).get());
  std::vector<uint16_t> late, closed;
  for (int32_t i = 0; i < chunk.size(); ++i) {
    const uint16_t row = static_cast<uint16_t>(chunk.rows()[i]);
    const int64_t end = windows_->EndOfLabel(label[row]);
    if (IsLate(LateRule::kWindow, clock[row], windows_->EndInstant(end))) {
      late.push_back(row);
    } else if (end <= fired_end_) {
      closed.push_back(row);  // in time by its own split, which the others did not wait for
    } else {
      in_time_.push_back(row);
      ends_.push_back(end);
    }
  }
  RejectLate(chunk, std::move(late), out);
  RejectRows(chunk, std::move(closed), Fate::kLate, "idle",
             {"the row's window was closed while its split was idle"}, out);
}

Result<Progress> WindowedTopN::OnChunk(int port, const Chunk& chunk, Output& out) {
  Assign(chunk, out);
  keys_.Encode(chunk, node_.partition, {in_time_.data(), static_cast<int32_t>(in_time_.size())});
  partitions_.FindOrInsert(keys_, &entries_);
  // A list that is emptied stays until its window is over: others may point to it.
  for (size_t i = 0; i < in_time_.size(); ++i) {
    KeyEntry* entry = entries_[i];
    RowList& list = RowList::At(entry->row());
    if (entry->scratch != kIsDue) {
      entry->scratch = kIsDue;
      due_[ends_[i]].push_back(entry);
    }
    Change(chunk, in_time_[i], list);
    partitions_.Touch(entry);
  }
  *absorbed_ += static_cast<int64_t>(in_time_.size());
  charge_.Set(partitions_.bytes());
  return Progress::kDone;
}

void WindowedTopN::Change(const Chunk& chunk, int32_t row, RowList& list) {
  order_.clear();
  row_.clear();
  AppendSortKey(node_.order, chunk, row, &order_);
  if (IsAdd(chunk.kind(row))) {
    const int64_t at = node_.rowtime_last ? list.LowerBound(order_) : list.UpperBound(order_);
    if (!node_.retracting && at >= node_.last) return;
    layout_.AppendRow(chunk, row, &row_);
    list.Insert(at, order_, row_);
    if (!node_.retracting && list.size() > node_.last) list.Remove(list.size() - 1);
  } else {
    layout_.AppendRow(chunk, row, &row_);
    const int64_t at = list.Find(order_, row_);
    if (at >= 0) list.Remove(at);
  }
}

Result<Progress> WindowedTopN::OnWatermark(const Watermark& watermark, Output& out) {
  target_ = watermark;
  return Resume(out);
}

bool WindowedTopN::EmitList(const RowList& list, Output& out) {
  const int64_t end = std::min(list.size(), node_.last);
  for (list_at_ = std::max(list_at_, node_.first - 1); list_at_ < end; ++list_at_) {
    if (changes_.size() == ChangeBuilder::kMost) return false;
    layout_.Decode(list.row(list_at_), changes_.columns());
    if (node_.with_rank) changes_.columns()[layout_.made_column()].Append(list_at_ + 1);
    changes_.Close(RowKind::kInsert, 0);
  }
  list_at_ = 0;
  return true;
}

Result<Progress> WindowedTopN::Resume(Output& out) {
  const int64_t start = env_->SteadyNanos();
  const int64_t closed = ClosedBy(target_.event);
  while (!due_.empty() && due_.begin()->first <= closed) {
    std::vector<KeyEntry*>& entries = due_.begin()->second;
    // Last first, so that what is done can be dropped from the end.
    if (list_at_ == 0) {
      std::sort(entries.begin(), entries.end(), [this](const KeyEntry* a, const KeyEntry* b) {
        return a->hash != b->hash ? a->hash > b->hash : partitions_.key(*a) > partitions_.key(*b);
      });
    }
    while (!entries.empty()) {
      if (changes_.size() == ChangeBuilder::kMost) {
        changes_.Emit(watermark_.event, out);
        if (out.full() || env_->SteadyNanos() - start > kWindowedTopNStep) return Progress::kMore;
      }
      if (!EmitList(RowList::At(entries.back()->row()), out)) continue;
      partitions_.Erase(entries.back());
      entries.pop_back();
    }
    due_.erase(due_.begin());
  }
  changes_.Emit(watermark_.event, out);
  fired_end_ = std::max(fired_end_, closed);
  watermark_ = target_;
  charge_.Set(partitions_.bytes());
  return Progress::kDone;
}

}  // namespace caudal
