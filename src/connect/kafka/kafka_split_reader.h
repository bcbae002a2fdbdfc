// KafkaSplitReader: one partition as chunks: takes what the client has fetched, decodes values and keys, adds
// metadata and hidden columns.
//
// Used by the task's thread. All that it was opened with outlives it, but for the decoders and the fetcher,
// which are its own.
#pragma once

#include <memory>
#include <string>

#include "api/source.h"
#include "base/env.h"
#include "base/memory_budget.h"
#include "connect/kafka/kafka_columns.h"
#include "connect/kafka/kafka_fetcher.h"
#include "connect/kafka/kafka_position.h"
#include "connect/kafka/kafka_splits.h"

namespace caudal {

class KafkaSplitReader : public SplitReader {
 public:
  struct Parts {
    Split split;
    const KafkaColumns* columns = nullptr;
    const KafkaSplits* splits = nullptr;
    Env* env = nullptr;
    std::unique_ptr<Decoder> value;  // null: no column is read from it
    std::unique_ptr<Decoder> key;
    std::unique_ptr<KafkaFetcher> fetcher;
    KafkaPosition position;
    std::unique_ptr<MemoryBudget> prefetch;  // what the client may hold of the partition, charged
    bool null_values = false;                // a record without a value is a row, as format 'raw' has it
    std::vector<std::string> warnings;       // for people
  };
  explicit KafkaSplitReader(Parts parts);

  Result<Poll> Next() override;
  Position position() const override;
  int64_t records_passed() const override;
  Backlog backlog() const override;
  int64_t nothing_waits_nanos() const override { return parts_.fetcher->nothing_waits_nanos(); }
  int64_t gaps() const override { return parts_.fetcher->gaps(); }
  std::vector<LostRange> losses() const override;

 private:
  Result<SourceRows> Decode();
  void WarnOfLosses();
  Status DecodeKeys(DecodedRows* keys);
  // Rows of records that cannot be used, ascending, each with why.
  void Reject(const std::vector<DecodeError>& value, const std::vector<DecodeError>& key,
              SourceRows* rows) const;
  void AddEnvelope(int32_t record, RejectedRecord* rejected) const;

  Parts parts_;
  KafkaRecords records_;
  RawBatch keys_;
  int64_t opened_at_;
  size_t told_losses_ = 0;
  int64_t last_timestamp_ = -1;  // of the last record read
};

}  // namespace caudal
