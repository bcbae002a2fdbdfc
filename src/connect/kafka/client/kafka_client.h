// KafkaClient: one connection of the client library to a cluster, shared by all readers of a source.
//
// It never joins a group: partitions are assigned one by one, from the checkpoint's positions. Thread-safe.
// Calls that ask the cluster block until they are answered or the deadline is over (I/O threads only);
// AssignPartition, Release and CommitOffsets do not wait for a broker. Outlives its partitions' readers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "connect/kafka/client/kafka_config.h"
#include "connect/kafka/client/kafka_partition_id.h"
#include "connect/kafka/client/kafka_topic_limits.h"

// The client library's own, so that its header stays in the files that call it.
struct rd_kafka_queue_s;
struct rd_kafka_topic_partition_list_s;

namespace caudal {

// Of a topic as the cluster knows it now.
struct KafkaTopic {
  std::string name;
  std::string id;  // made with the topic, another after it is made again; empty: the broker does not tell
  int partitions = 0;
};

struct KafkaRange {
  int64_t low = 0;
  int64_t high = 0;  // behind the last record that a reader gets to see
};

class KafkaClient {
 public:
  // User error for properties that the library does not know. `group`: whose offsets are committed.
  // `heard_millis`: how often heard_nanos is to be brought up to date; 0 = never.
  static Result<std::unique_ptr<KafkaClient>> Make(const std::map<std::string, std::string>& properties,
                                                   const std::string& group, int64_t heard_millis = 0);
  ~KafkaClient();
  KafkaClient(const KafkaClient&) = delete;
  KafkaClient& operator=(const KafkaClient&) = delete;

  // External errors (Retry::kBackoff): no broker answered in time.
  Result<std::string> ClusterId(int timeout_ms);
  // The named topic; zero partitions: there is none.
  Result<KafkaTopic> Topic(const std::string& name, int timeout_ms);
  Result<std::vector<std::string>> TopicNames(int timeout_ms);
  // With the brokers' replication; false: it is there already.
  Result<bool> CreateTopic(const std::string& name, int partitions, int timeout_ms);
  KafkaTopicLimits Limits(const std::string& topic, int timeout_ms);
  Result<KafkaRange> Range(const KafkaPartitionId& partition, int timeout_ms);
  // Of the first record at or after `millis`; -1: there is none yet.
  Result<int64_t> OffsetAt(const KafkaPartitionId& partition, int64_t millis, int timeout_ms);
  // Of the group; -1: none is committed.
  Result<int64_t> CommittedOffset(const KafkaPartitionId& partition, int timeout_ms);

  // Begins to fetch; the caller owns the queue that records come through. `leader_epoch`: of the record
  // before; -1 = not known; lets the broker tell that the log was cut and written anew.
  Result<rd_kafka_queue_s*> AssignPartition(const KafkaPartitionId& partition, int64_t offset,
                                            int32_t leader_epoch);
  void Release(const KafkaPartitionId& partition, rd_kafka_queue_s* queue);
  // How many bytes of one partition's records may wait to be taken.
  int64_t prefetch_bytes() const;
  // Takes in what the library has to tell of itself; to be called now and then. Does not wait.
  void Serve();
  // Steady time at which the partition's leader was last known to answer fetches; 0: it is not known.
  int64_t heard_nanos(const KafkaPartitionId& partition) const { return events_.heard_nanos(partition); }
  // As far as fetches have told; nothing is asked.
  KafkaRange KnownRange(const KafkaPartitionId& partition) const;
  // For tools that show a group's lag; failures have no effect.
  void CommitOffsets(const std::map<KafkaPartitionId, int64_t>& next_offsets);

  // What the library said last about a broker or the client; empty: nothing.
  std::string last_complaint() const;

 private:
  KafkaClient() = default;
  Status Failure(std::string_view what, int error) const;
  Status CompareEpoch(rd_kafka_topic_partition_list_s* list, rd_kafka_queue_s* queue);
  std::string TopicId(const std::string& name, int broker, int timeout_ms);

  KafkaEvents events_;  // outlives the client
  rd_kafka_s* client_ = nullptr;
};

}  // namespace caudal
