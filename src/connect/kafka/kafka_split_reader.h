// KafkaSplitReader: one partition as chunks: takes what the client has fetched and has it decoded.
//
// Used by the task's thread. All that it was opened with outlives it, but for the decoder and the fetcher,
// which are its own.
#pragma once

#include <memory>
#include <string>

#include "api/outage.h"
#include "api/source.h"
#include "base/env.h"
#include "base/memory_budget.h"
#include "connect/kafka/kafka_fetcher.h"
#include "connect/kafka/kafka_position.h"
#include "connect/kafka/kafka_record_decoder.h"
#include "connect/kafka/kafka_splits.h"

namespace caudal {

class KafkaSplitReader : public SplitReader, public Outage {
 public:
  struct Parts {
    KafkaSplits* splits = nullptr;
    Env* env = nullptr;
    std::unique_ptr<KafkaRecordDecoder> decoder;
    std::unique_ptr<KafkaFetcher> fetcher;
    KafkaPosition position;
    std::unique_ptr<MemoryBudget> prefetch;  // what the client may hold of the partition, charged
    std::vector<std::string> warnings;       // for people
  };
  explicit KafkaSplitReader(Parts parts);

  Result<Poll> Next() override;
  Position position() const override;
  int64_t records_passed() const override;
  Backlog backlog() const override;
  int64_t nothing_waits_nanos() const override { return parts_.fetcher->nothing_waits_nanos(); }
  Status outage() const override;
  int64_t gaps() const override { return parts_.fetcher->gaps(); }
  std::vector<LostRange> losses() const override;

 private:
  void WarnOfLosses();

  Parts parts_;
  KafkaRecords records_;
  int64_t opened_at_;
  size_t told_losses_ = 0;
  int64_t last_timestamp_ = -1;  // of the last record read
};

}  // namespace caudal
