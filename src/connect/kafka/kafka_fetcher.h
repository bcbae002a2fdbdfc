// KafkaFetcher: the records of one partition as the client library has them ready, copied into a few buffers
// a batch, and what became of every offset between two of them.
//
// One thread (the task's); Take never waits for the broker, except to name the offsets of a loss. The client
// outlives it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "api/source.h"
#include "base/env.h"
#include "connect/kafka/client/kafka_client.h"
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
  struct Begin {
    KafkaPartitionId partition;
    std::string topic_id;  // empty: not known
    int64_t start = 0;
    int64_t stop = -1;          // the first offset that is not read; -1 = none
    int32_t leader_epoch = -1;  // of the record before
    bool with_headers = false;
    bool record_loss = false;  // pass over what is lost and say so in losses()
  };
  static Result<std::unique_ptr<KafkaFetcher>> Open(KafkaClient* client, Env* env, Begin begin);
  ~KafkaFetcher();

  // What is ready, up to `most` records; none is no error. After a Status the next one is the same.
  Status Take(size_t most, KafkaRecords* records);

  int64_t next() const { return next_; }  // offset after all that Take gave or passed over
  int64_t gaps() const { return gaps_; }  // offsets without a record: compacted, markers, aborted
  int32_t leader_epoch() const { return leader_epoch_; }
  int64_t skipped() const { return skipped_; }  // offsets passed over because they were lost; less if back
  const std::vector<LostRange>& losses() const { return losses_; }  // found by this
  bool finished() const { return begin_.stop >= 0 && next_ >= begin_.stop; }
  // The broker has been heard: what it has is known.
  bool heard() const { return heard_ || queue_ == nullptr; }
  // Records behind next() as far as is known, with `end`, where the log ended when that was asked; -1: not
  // known.
  int64_t records_behind(int64_t end) const;
  // Steady time at which the broker last answered that nothing waits, not even what is not committed; 0:
  // something may.
  int64_t nothing_waits_nanos() const;
  // Why a read that ends somewhere has not got there, once nothing has come for long; OK: it need not, or
  // something has.
  const Status& held_up() const { return held_up_; }
  const KafkaPartitionId& partition() const { return begin_.partition; }

 private:
  KafkaFetcher(KafkaClient* client, Env* env, Begin begin)
      : client_(client),
        env_(env),
        begin_(std::move(begin)),
        next_(begin_.start),
        leader_epoch_(begin_.leader_epoch) {}
  void NoteNothing();
  // Of the first `ready` of messages_, which it gives back. False: reading ends among them.
  bool TakeSome(size_t ready, KafkaRecords* records);
  // False: reading ends here.
  bool Accept(const rd_kafka_message_s& message, size_t* bytes);
  void MoveTo(int64_t offset);
  // What is wrong with reading on; ok: it went on behind what is lost.
  Status Problem(const rd_kafka_message_s& message);
  Status Loss(std::string_view reason);
  // Records at next() that the library cannot read: again, and if that does not help an error or a loss.
  Status Damage(const std::string& where, std::string_view text);
  Status MadeAgain() const;  // ok: it is the topic that it was, as far as the broker tells
  Status GoOn(const LostRange& lost, int64_t offset);
  void Copy(size_t count, size_t bytes, KafkaRecords* records) const;
  static void NoteHeaders(const rd_kafka_message_s& message, KafkaRecords* records);
  static void CopyHeaders(std::span<KafkaHeader> headers, KafkaRecords* records);

  KafkaClient* client_;
  Env* env_;
  const Begin begin_;
  rd_kafka_queue_s* queue_ = nullptr;
  int64_t next_;
  int64_t gaps_ = 0, skipped_ = 0;
  std::vector<LostRange> losses_;
  bool heard_ = false;
  int64_t nothing_since_nanos_ = -1;  // steady time of the first of the Takes in a row that gave nothing
  Status held_up_;
  int64_t end_seen_ = -1;     // the offset at which the log was last found to end
  int64_t high_at_end_ = -1;  // and what KnownRange told then: with what no reader gets to see yet
  int32_t leader_epoch_;
  int64_t damaged_at_ = -1;  // the offset at which records were last found damaged
  int damage_seen_ = 0;      // how often
  bool passes_damage_ = false;
  Status failure_;
  std::vector<rd_kafka_message_s*> messages_;
};

}  // namespace caudal
