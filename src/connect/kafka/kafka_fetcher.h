// KafkaFetcher: the records of one partition as the client library has them ready, copied into one buffer a
// batch, and what became of every offset between two of them.
//
// One thread (the task's); Take never waits for the broker, except to name the offsets of a loss. The client
// outlives it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "connect/kafka/kafka_client.h"
#include "format/decoder.h"

struct rd_kafka_message_s;

namespace caudal {

struct KafkaHeader {
  std::string_view name;
  std::string_view value;
  bool null = false;
};

// One entry a record; spans point into `batch.pins`.
struct KafkaRecords {
  RawBatch batch;
  std::vector<uint8_t> no_key, no_value;  // 1: null, not empty
  std::vector<uint8_t> timestamp_type;    // 0 none, 1 of creation, 2 of the log
  std::vector<int32_t> leader_epoch;      // -1: not known
  std::vector<uint32_t> header_end;       // in `headers`; empty: they were not asked for
  std::vector<KafkaHeader> headers;
  int64_t bytes = 0;

  void Clear();
};

class KafkaFetcher {
 public:
  // `stop`: the first offset that is not read; -1 = none.
  static Result<std::unique_ptr<KafkaFetcher>> Open(KafkaClient* client, KafkaPartitionId partition,
                                                    int64_t start, int64_t stop, int32_t leader_epoch,
                                                    bool with_headers);
  ~KafkaFetcher();

  // What is ready, up to `most` records; none is no error. After a Status the next one is the same.
  Status Take(size_t most, KafkaRecords* records);

  int64_t next() const { return next_; }  // offset after all that Take gave or passed over
  int64_t gaps() const { return gaps_; }  // offsets without a record: compacted, markers, aborted
  int32_t leader_epoch() const { return leader_epoch_; }
  bool finished() const { return stop_ >= 0 && next_ >= stop_; }
  // Records behind next() as far as is known; -1: not known yet.
  int64_t records_behind() const;
  const KafkaPartitionId& partition() const { return partition_; }

 private:
  KafkaFetcher(KafkaClient* client, KafkaPartitionId partition, int64_t start, int64_t stop)
      : client_(client), partition_(std::move(partition)), stop_(stop), next_(start) {}
  // False: reading ends here.
  bool Accept(const rd_kafka_message_s& message, size_t* bytes);
  void MoveTo(int64_t offset);
  Status Problem(const rd_kafka_message_s& message) const;
  Status Loss(std::string_view reason) const;
  void Copy(size_t count, size_t bytes, KafkaRecords* records) const;
  static void NoteHeaders(const rd_kafka_message_s& message, KafkaRecords* records);
  static void CopyHeaders(KafkaRecords* records);

  KafkaClient* client_;
  KafkaPartitionId partition_;
  rd_kafka_queue_s* queue_ = nullptr;
  int64_t stop_, next_;
  int64_t gaps_ = 0;
  int64_t end_seen_ = -1;  // the offset at which the log was last found to end
  int32_t leader_epoch_ = -1;
  bool with_headers_ = false;
  Status failure_;
  std::vector<rd_kafka_message_s*> messages_;
};

}  // namespace caudal
