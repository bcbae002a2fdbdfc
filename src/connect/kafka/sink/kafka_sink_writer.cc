#include "connect/kafka/sink/kafka_sink_writer.h"

#include <fmt/format.h>

#include "data/column_view.h"

namespace caudal {

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
  auto kept = std::make_unique<Selection>();
  for (int32_t i = 0; i < rows.count; ++i) {
    const int64_t size = sizes[static_cast<size_t>(i)];
    // To the client 0 is the present.
    const bool too_old = !times.IsNull(i) && times[i] <= 0;
    if (size <= max_record_bytes_ && !too_old) {
      kept->rows.push_back(static_cast<uint16_t>(i));
      continue;
    }
    const auto row = static_cast<uint16_t>(rows[i]);
    rejects.Reject(
        chunk, RowSet{&row, 1},
        too_old ? std::string("its 'timestamp' is not after the beginning of 1970, and Kafka keeps no other")
                : fmt::format("its record has {} bytes, more than 'caudal.max-record-bytes' ({})", size,
                              max_record_bytes_));
  }
  if (static_cast<int32_t>(kept->rows.size()) == rows.count) return;
  *sealed = sealed->WithSelection(SelectionPtr(std::move(kept)));
}

}  // namespace caudal
