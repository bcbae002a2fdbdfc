#include "connect/kafka/sink/kafka_sink_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "data/column_view.h"

namespace caudal {
namespace {

// Of a batch with one record: its head (61), lengths and differences of the record (36 at most).
constexpr int64_t kBatchOverhead = 100;
// Rows are sent when their epoch commits, and brokers have clocks of their own.
constexpr int64_t kClockSlackMillis = 60'000;

// So much less of a limit that what is taken here is taken there.
int64_t Safely(int64_t millis) {
  return millis == KafkaTopicLimits::kNone ? millis : millis - std::min(kClockSlackMillis, millis / 10);
}

// Why the topic does not take a record of that time; empty: it does.
std::string WrongTime(int64_t millis, int64_t now, const KafkaTopicLimits& limits) {
  // To the client 0 is the present.
  if (millis <= 0) return "its 'timestamp' is not after the beginning of 1970, and Kafka keeps no other";
  if (millis - now > Safely(limits.max_future_millis)) {
    return fmt::format(
        "its 'timestamp' is {} s ahead, further than the topic takes ('message.timestamp.after.max.ms' is "
        "{})",
        (millis - now) / 1000, limits.max_future_millis);
  }
  if (now - millis > Safely(limits.max_past_millis)) {
    return fmt::format(
        "its 'timestamp' is {} s back, further than the topic takes ('message.timestamp.before.max.ms' is "
        "{})",
        (now - millis) / 1000, limits.max_past_millis);
  }
  return "";
}

std::string TooLarge(int64_t size, int64_t of_table, const KafkaTopicLimits& limits) {
  if (size > of_table) {
    return fmt::format("its record has {} bytes, more than 'caudal.max-record-bytes' ({})", size, of_table);
  }
  if (size <= KafkaRecordLimit(limits)) return "";
  return fmt::format("its record has {} bytes, more than the topic takes ('max.message.bytes' is {})", size,
                     limits.max_batch_bytes);
}

}  // namespace

int64_t KafkaRecordLimit(const KafkaTopicLimits& limits) {
  if (limits.max_batch_bytes == KafkaTopicLimits::kNone) return limits.max_batch_bytes;
  return std::max<int64_t>(limits.max_batch_bytes - kBatchOverhead, 1);
}

Status KafkaSinkWriter::Write(const Chunk& chunk, SinkRejects& rejects) {
  ASSIGN_OR_RETURN(Chunk sealed, envelope_.Seal(chunk));
  RejectUnsendable(chunk, &sealed, rejects);
  return sealed.empty() ? Status() : segment_->Write(sealed, rejects);
}

void KafkaSinkWriter::RejectUnsendable(const Chunk& chunk, Chunk* sealed, SinkRejects& rejects) const {
  const RowSet rows = chunk.rows();
  std::vector<int64_t> sizes(static_cast<size_t>(rows.count));
  for (const auto column : {KafkaEnvelope::kKey, KafkaEnvelope::kValue, KafkaEnvelope::kHeaders}) {
    const ColumnView<StringView> part(*sealed->column(column));
    for (int32_t i = 0; i < rows.count; ++i) {
      if (!part.IsNull(i)) sizes[static_cast<size_t>(i)] += static_cast<int64_t>(part[i].view().size());
    }
  }
  const ColumnView<int64_t> times(*sealed->column(KafkaEnvelope::kTimestamp));
  const KafkaTopicLimits limits = facts_->limits();
  const int64_t now = env_->NowMillis();
  auto kept = std::make_unique<Selection>();
  for (int32_t i = 0; i < rows.count; ++i) {
    std::string why = times.IsNull(i) ? std::string() : WrongTime(times[i], now, limits);
    if (why.empty()) why = TooLarge(sizes[static_cast<size_t>(i)], max_record_bytes_, limits);
    if (why.empty()) {
      kept->rows.push_back(static_cast<uint16_t>(i));
      continue;
    }
    const auto row = static_cast<uint16_t>(rows[i]);
    rejects.Reject(chunk, RowSet{&row, 1}, std::move(why));
  }
  if (static_cast<int32_t>(kept->rows.size()) == rows.count) return;
  *sealed = sealed->WithSelection(SelectionPtr(std::move(kept)));
}

}  // namespace caudal
