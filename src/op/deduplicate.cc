#include "op/deduplicate.h"

#include "base/planted_fault.h"
#include "op/lateness.h"
#include "op/row/key_types.h"
#include "op/row/row_lists.h"

namespace caudal {

Deduplicate::Deduplicate(DeduplicateNode node, const Schema& input, bool batch)
    : node_(std::move(node)),
      // A batch has no clock, so that a key is known to its end.
      has_clock_(!batch && node_.clock_column >= 0),
      keys_seen_("keys", KeyTypesText(input, node_.keys),
                 has_clock_ ? node_.retain : KeyGenerations::kForever) {}

Status Deduplicate::Open(const OperatorContext& context) {
  charge_.set_budget(context.budget);
  duplicates_ = context.fates->Get(Fate::kDuplicate);
  return Status();
}

Status Deduplicate::OnRestore(const Watermark& watermark) {
  // Each call drops one generation.
  for (size_t count = keys_seen_.generation_count(); count > 0; --count) keys_seen_.Expire(watermark);
  charge_.Set(keys_seen_.bytes());
  return Status();
}

Result<Progress> Deduplicate::OnChunk(int port, const Chunk& chunk, Output& out) {
  const RowSet rows = chunk.rows();
  const TimeColumn time(*chunk.column(node_.time_column));
  const ClockColumn clock(has_clock_ ? chunk.column(node_.clock_column).get() : nullptr);
  std::vector<uint16_t> late, timeless;
  in_time_.clear();
  times_.clear();
  clocks_.clear();
  for (int32_t i = 0; i < rows.count; ++i) {
    const uint16_t row = static_cast<uint16_t>(rows[i]);
    if (time.IsNull(row)) {
      timeless.push_back(row);
    } else if (IsLate(LateRule::kRow, clock[row], time[row])) {
      late.push_back(row);
    } else {
      in_time_.push_back(row);
      times_.push_back(time[row]);
      clocks_.push_back(clock[row]);
    }
  }
  RejectNullTime(chunk, std::move(timeless), out);
  RejectLate(chunk, std::move(late), out);

  keys_.Encode(chunk, node_.keys, {in_time_.data(), static_cast<int32_t>(in_time_.size())});
  keys_seen_.Remember(keys_, times_, clocks_, &is_new_);
  std::vector<uint16_t> first;
  first.reserve(in_time_.size());
  for (size_t i = 0; i < in_time_.size(); ++i) {
    if (is_new_[i] != 0) first.push_back(in_time_[i]);
  }
  if (!PLANTED_FAULT(counter_not_incremented)) {
    *duplicates_ += static_cast<int64_t>(in_time_.size() - first.size());
  }
  charge_.Set(keys_seen_.bytes());
  if (!first.empty()) out.Emit(chunk.WithSelection(MakeSelection(std::move(first))));
  return Progress::kDone;
}

Result<Progress> Deduplicate::OnWatermark(const Watermark& watermark, Output& out) {
  keys_seen_.Expire(watermark);
  charge_.Set(keys_seen_.bytes());
  return Progress::kDone;
}

}  // namespace caudal
