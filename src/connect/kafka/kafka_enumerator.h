// KafkaEnumerator: finds the partitions of the table's topics, and for each the offset where it begins, as a
// number, so that a checkpoint never says "latest"; and tells when a topic is no longer the one it was.
//
// Called by the coordinator's I/O thread; asks the cluster and waits for it. Client, splits and options
// outlive it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/source.h"
#include "connect/kafka/client/kafka_client.h"
#include "connect/kafka/kafka_options.h"
#include "connect/kafka/kafka_splits.h"

namespace caudal {

class KafkaEnumerator : public SplitEnumerator {
 public:
  KafkaEnumerator(KafkaClient* client, const KafkaTableOptions* options, KafkaSplits* splits)
      : client_(client), options_(options), splits_(splits) {}

  // While the broker is away: an External error at the first call, nothing new at later ones.
  Result<std::vector<Split>> Discover() override;
  bool complete() const override { return discovered_ && bounded(); }
  std::string Snapshot() const override { return splits_->ToJson(); }
  Status Restore(std::string_view snapshot) override;

 private:
  struct Found {
    std::vector<KafkaTopic> topics;
    std::vector<KafkaSplit> fresh;
  };

  bool bounded() const { return options_->stop.mode != KafkaOffsetsSpec::Mode::kUnbounded; }
  int timeout_millis() const;
  Result<Found> Find();
  bool IsLeftOut(const std::string& topic) const;
  Result<std::vector<std::string>> TopicNames();
  // The topic; at a start looks more than once before it says that there is none.
  Result<KafkaTopic> Look(const std::string& name);
  Status CheckAllNamed(const std::vector<std::string>& names);
  Status CheckPartitionsNamed(const KafkaTopic& topic) const;
  Status CheckSame(const KafkaTopic& topic);
  // Where logs end now, for who reads to tell how far it is behind while it does not fetch.
  void AskEnds();
  // What was made again is read from its beginning; the readers say what is lost.
  Status BeginAnew(const KafkaTopic& topic);
  Result<int64_t> StartOf(const KafkaPartitionId& partition);
  Result<int64_t> ExistingOffset(const KafkaPartitionId& partition, int64_t offset);
  Result<int64_t> StopOf(const KafkaPartitionId& partition, int64_t start);
  Result<int64_t> CommittedOr(const KafkaPartitionId& partition, KafkaOffsetsSpec::Mode otherwise);

  KafkaClient* client_;
  const KafkaTableOptions* options_;
  KafkaSplits* splits_;
  std::string cluster_;                 // found by this run
  std::map<std::string, int> missing_;  // topics that the last discoveries did not find: how many
  bool restored_ = false;               // from a checkpoint
  bool made_again_ = false;             // a topic that is being read
  bool silent_ = false;                 // no broker answered when the cluster was last asked
  bool elsewhere_ = false;   // the checkpoint is of another cluster, and that is recorded as a loss
  bool discovered_ = false;  // once, by this run
};

}  // namespace caudal
