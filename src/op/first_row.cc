#include "op/first_row.h"

#include <algorithm>

#include "op/lateness.h"
#include "op/row/key_types.h"
#include "op/row/row_lists.h"

namespace caudal {
namespace {

constexpr int64_t kFirstRowStep = 10'000'000;  // ns

}  // namespace

FirstRow::FirstRow(TopNNode node, const Schema& input, const Schema& output, bool batch, int64_t ttl)
    : node_(std::move(node)),
      time_column_(node_.order[0].column),
      clock_column_(batch ? -1 : input.Find(kClockColumn).value_or(-1)),
      layout_(input, output),
      codec_("time, " + layout_.words()),
      partitions_("partitions", KeyTypesText(input, node_.partition), &codec_, ttl),
      changes_(output) {}

int64_t FirstRow::TimeOf(std::string_view held) {
  int64_t time;
  std::memcpy(&time, held.data(), sizeof(time));
  return time;
}

// What is due must be there then.
void FirstRow::AddDue(int64_t time, KeyEntry* entry) {
  partitions_.Hold(entry);
  due_[time].push_back(entry);
}

Status FirstRow::Open(const OperatorContext& context) {
  env_ = context.env;
  charge_.set_budget(context.budget);
  absorbed_ = context.fates->Get(Fate::kAbsorbed, "TopN");
  return Status();
}

Status FirstRow::OnRestore(const Watermark& watermark) {
  watermark_ = watermark;
  target_ = watermark;
  KeyedRows::Cursor cursor;
  partitions_.Walk(&cursor, [this](KeyEntry* entry) {
    const std::string_view held = BytesRow::Get(entry->row());
    if (!HasLeft(held)) AddDue(TimeOf(held), entry);
    return true;
  });
  partitions_.Expire(watermark);
  charge_.Set(partitions_.bytes());
  return Status();
}

Result<Progress> FirstRow::OnChunk(int port, const Chunk& chunk, Output& out) {
  const TimeColumn time(*chunk.column(time_column_));
  const ClockColumn clock(clock_column_ < 0 ? nullptr : chunk.column(clock_column_).get());
  std::vector<uint16_t> late, timeless;
  in_time_.clear();
  for (int32_t i = 0; i < chunk.size(); ++i) {
    const uint16_t row = static_cast<uint16_t>(chunk.rows()[i]);
    if (time.IsNull(row)) {
      timeless.push_back(row);
    } else if (IsLate(LateRule::kFirstRow, clock[row], time[row])) {
      late.push_back(row);
    } else {
      in_time_.push_back(row);
    }
  }
  RejectNullTime(chunk, std::move(timeless), out);
  RejectLate(chunk, std::move(late), out);
  keys_.Encode(chunk, node_.partition, {in_time_.data(), static_cast<int32_t>(in_time_.size())});
  partitions_.FindOrInsert(keys_, &entries_);
  for (size_t i = 0; i < in_time_.size(); ++i) {
    KeyEntry* entry = entries_[i];
    const int64_t at = time[in_time_[i]];
    const std::string_view before = BytesRow::Get(entry->row());
    if (!before.empty() && (HasLeft(before) || at >= TimeOf(before))) continue;
    held_.assign(reinterpret_cast<const char*>(&at), sizeof(at));
    layout_.AppendRow(chunk, in_time_[i], &held_);
    BytesRow::Set(entry->row(), held_);
    partitions_.Touch(entry);
    AddDue(at, entry);
  }
  *absorbed_ += static_cast<int64_t>(in_time_.size());
  charge_.Set(partitions_.bytes());
  return Progress::kDone;
}

Result<Progress> FirstRow::OnWatermark(const Watermark& watermark, Output& out) {
  target_ = watermark;
  return Resume(out);
}

Result<Progress> FirstRow::Resume(Output& out) {
  const int64_t start = env_->SteadyNanos();
  while (!due_.empty() && due_.begin()->first <= target_.event) {
    const int64_t time = due_.begin()->first;
    std::vector<KeyEntry*>& entries = due_.begin()->second;
    // Last first, so that what is done can be dropped from the end.
    std::sort(entries.begin(), entries.end(), [this](const KeyEntry* a, const KeyEntry* b) {
      return a->hash != b->hash ? a->hash > b->hash : partitions_.key(*a) > partitions_.key(*b);
    });
    while (!entries.empty()) {
      if (changes_.size() == ChangeBuilder::kMost) {
        changes_.Emit(watermark_.event, out);
        if (out.full() || env_->SteadyNanos() - start > kFirstRowStep) return Progress::kMore;
      }
      KeyEntry* entry = entries.back();
      entries.pop_back();
      const std::string_view held = BytesRow::Get(entry->row());
      if (HasLeft(held) || TimeOf(held) != time) continue;
      layout_.Decode(held.substr(sizeof(time)), changes_.columns());
      changes_.Close(RowKind::kInsert, 0);
      BytesRow::Set(entry->row(), std::string_view("\0", 1));
      partitions_.Touch(entry);
    }
    due_.erase(due_.begin());
  }
  changes_.Emit(watermark_.event, out);
  watermark_ = target_;
  partitions_.Expire(watermark_);
  charge_.Set(partitions_.bytes());
  return Progress::kDone;
}

}  // namespace caudal
