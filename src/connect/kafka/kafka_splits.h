// KafkaSplits: the partitions of a source that are known, where each begins and ends, and which topics and
// cluster they were found in: what the enumerator finds and readers are opened by.
//
// Thread-safe: the coordinator's I/O thread adds, task threads look up.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "api/source.h"
#include "connect/kafka/client/kafka_client.h"

namespace caudal {

struct KafkaSplit {
  KafkaPartitionId partition;
  int ordinal = 0;
  int64_t start = 0;  // where it begins without a position
  int64_t stop = -1;  // of a bounded read: the first offset that is not read

  std::string id() const { return SplitId(partition); }
  static std::string SplitId(const KafkaPartitionId& partition);
};

class KafkaSplits {
 public:
  void SetCluster(const std::string& id);
  void SetTopicId(const std::string& topic, const std::string& id);
  void Add(std::vector<KafkaSplit> splits);

  std::string cluster() const;                           // empty: not known yet
  std::string topic_id(const std::string& topic) const;  // empty: not known
  bool knows(const std::string& topic) const;            // a partition of it
  std::optional<KafkaSplit> Find(const std::string& id) const;
  std::vector<KafkaSplit> OfTopic(const std::string& topic) const;
  void Replace(KafkaSplit split);  // the one of the same id
  size_t size() const;
  std::vector<KafkaPartitionId> partitions() const;
  std::vector<std::string> topics() const;  // each once

  // Where the partition's log ended when the cluster was last asked; -1: it was not.
  void SetEnd(const KafkaPartitionId& partition, int64_t end);
  int64_t end(const KafkaPartitionId& partition) const;

  // The cluster was asked about the partition, and nobody answered, or somebody did.
  void NoteNoAnswer(const KafkaPartitionId& partition, const Status& why);
  void NoteAnswer(const KafkaPartitionId& partition);
  // Why nobody answers, once that has been so for several questions in a row; OK: somebody does.
  Status outage(const KafkaPartitionId& partition) const;
  bool answers(const KafkaPartitionId& partition) const;  // the last question, if there was one

  // For the checkpoint.
  std::string ToJson() const;
  Status FromJson(std::string_view json);

 private:
  mutable std::mutex mutex_;
  std::string cluster_;
  std::map<std::string, std::string> topic_ids_;
  std::map<std::string, KafkaSplit> splits_;  // by id
  std::map<KafkaPartitionId, int64_t> ends_;
  struct Silence {
    int questions = 0;
    Status why;  // as it was told first: one outage is one message
  };
  std::map<KafkaPartitionId, Silence> silent_;
};

}  // namespace caudal
