// KafkaRecordDecoder: records of one partition, as the client hands them, as rows: decodes values and keys,
// adds metadata and hidden columns, and rejects what cannot be read.
//
// Belongs to one reader and its thread. Every record ends as a row or as a rejected record, never as both.
#pragma once

#include <memory>
#include <vector>

#include "api/source.h"
#include "connect/kafka/kafka_columns.h"
#include "connect/kafka/kafka_fetcher.h"
#include "format/decoder.h"

namespace caudal {

class KafkaRecordDecoder {
 public:
  struct Parts {
    Split split;
    KafkaPartitionId partition;
    const KafkaColumns* columns = nullptr;  // outlives it
    std::unique_ptr<Decoder> value;         // null: no column is read from it
    std::unique_ptr<Decoder> key;
    bool null_values = false;  // a record without a value is a row, as format 'raw' has it
  };
  explicit KafkaRecordDecoder(Parts parts) : parts_(std::move(parts)) {}

  // REQUIRES: there is a record. Rows point into the records' pins.
  Result<SourceRows> Decode(const KafkaRecords& records);

 private:
  Status DecodeKeys(const KafkaRecords& records, DecodedRows* keys);
  // Rows of records that cannot be used, ascending, each with why.
  void Reject(const KafkaRecords& records, const std::vector<DecodeError>& value,
              const std::vector<DecodeError>& key, SourceRows* rows) const;
  void AddEnvelope(const KafkaRecords& records, int32_t record, RejectedRecord* rejected) const;

  Parts parts_;
  RawBatch keys_;
};

}  // namespace caudal
