// KafkaColumns: where each column of a read comes from: the record's value or key, what the broker tells
// about it, or the hidden columns; and putting them together.
//
// Made once for a source; const afterwards.
#pragma once

#include <string>
#include <vector>

#include "api/connector.h"
#include "connect/kafka/kafka_fetcher.h"
#include "connect/kafka/kafka_options.h"

namespace caudal {

class KafkaColumns {
 public:
  // User error for metadata that there is not, or of another type.
  static Result<KafkaColumns> Make(const Table& table, const ReadRequest& request,
                                   const KafkaTableOptions& options);
  // What METADATA FROM may name, with Flink's types.
  static std::vector<Field> Metadata();

  // What is read from values and from keys; names as they stand there.
  const Schema& in_value() const { return in_value_; }
  const Schema& in_key() const { return in_key_; }
  bool with_headers() const { return with_headers_; }
  bool with_timestamps() const { return with_timestamps_; }

  struct Rows {
    const KafkaRecords* records = nullptr;
    const KafkaPartitionId* partition = nullptr;
    int split = 0;
  };
  // `value` and `key`: columns of in_value() and in_key(), a row each record.
  std::vector<ColumnPtr> Assemble(const std::vector<ColumnPtr>& value, const std::vector<ColumnPtr>& key,
                                  const Rows& rows) const;
  std::vector<ColumnPtr> Empty() const;
  // Whether the reader is asked for keys and headers beside the columns.
  bool with_envelope() const { return with_envelope_; }
  static ColumnPtr Keys(const KafkaRecords& records);
  static ColumnPtr Headers(const KafkaRecords& records);

 private:
  enum class From {
    kValue,
    kKey,
    kSplit,
    kRaw,
    kOffset,
    kTopic,
    kPartition,
    kTimestamp,
    kTimestampType,
    kHeaders,
    kEpoch
  };
  struct Source {
    From from;
    size_t index = 0;  // in in_value() or in_key()
    Type type;
  };
  static Result<From> MetadataKind(const Table& table, const TableColumn& column);
  static ColumnPtr Build(const Source& source, const Rows& rows);

  Schema in_value_, in_key_;
  std::vector<Source> sources_;
  bool with_headers_ = false;
  bool with_timestamps_ = false;
  bool with_envelope_ = false;
};

}  // namespace caudal
