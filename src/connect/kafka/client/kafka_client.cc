#include "connect/kafka/client/kafka_client.h"

#include <fmt/format.h>
#include <librdkafka/rdkafka.h>

#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

namespace caudal {
namespace {

constexpr const char* kPrefetchKilobytes = "queued.max.messages.kbytes";  // a partition

// A seek is the library's own affair and waits for no broker.
constexpr int kSeekMillis = 1000;
constexpr int kSeekPauseMillis = 10;
constexpr int kSeekAttempts = 100;

struct ListDeleter {
  void operator()(rd_kafka_topic_partition_list_t* list) const {
    rd_kafka_topic_partition_list_destroy(list);
  }
};
using PartitionList = std::unique_ptr<rd_kafka_topic_partition_list_t, ListDeleter>;

PartitionList ListOf(const KafkaPartitionId& partition, int64_t offset) {
  PartitionList list(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_list_add(list.get(), partition.topic.c_str(), partition.partition)->offset =
      offset;
  return list;
}

// Asked first, so that a table's own properties win.
constexpr std::pair<const char*, const char*> kDefaults[] = {
    {"client.id", "caudal"},
    {"isolation.level", "read_committed"},
    {"check.crcs", "true"},  // as the Java client
    {"fetch.wait.max.ms", "100"},
    {"fetch.error.backoff.ms", "50"},
    {"fetch.queue.backoff.ms", "20"},        // unknown below 2.2
    {"fetch.message.max.bytes", "1048576"},  // of each partition; some ten times as much when inflated
    {kPrefetchKilobytes, "4096"},
    {"socket.nagle.disable", "true"},
    {"topic.metadata.refresh.interval.ms", "10000"},
    {"reconnect.backoff.max.ms", "2000"},
};
// And last: positions are ours alone.
constexpr std::pair<const char*, const char*> kAlways[] = {
    {"enable.auto.commit", "false"},  {"enable.auto.offset.store", "false"}, {"auto.offset.reset", "error"},
    {"enable.partition.eof", "true"}, {"allow.auto.create.topics", "false"},
};

// What the user lacks, if that is what the broker says: waiting does not mend it.
std::string_view MissingRight(rd_kafka_resp_err_t error) {
  switch (error) {
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
      return "describe and read the topic";
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
      return "describe and read the group";
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
      return "describe the cluster";
    default:
      return "";
  }
}

}  // namespace

std::string KafkaClient::last_complaint() const { return events_.last_complaint(); }

Result<std::unique_ptr<KafkaClient>> KafkaClient::Make(const std::map<std::string, std::string>& properties,
                                                       const std::string& group, int64_t heard_millis) {
  std::unique_ptr<KafkaClient> client(new KafkaClient());
  ASSIGN_OR_RETURN(rd_kafka_conf_t* const conf,
                   MakeKafkaConf(properties, kDefaults, kAlways, &client->events_));
  char text[512] = "";
  // Needed by the library even where no group is joined.
  rd_kafka_conf_set(conf, "group.id", group.c_str(), text, sizeof text);
  if (heard_millis > 0) {
    rd_kafka_conf_set(conf, "statistics.interval.ms", std::to_string(heard_millis).c_str(), text,
                      sizeof text);
    rd_kafka_conf_set_stats_cb(conf, &KafkaEvents::OnStatistics);
  }
  client->client_ = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof text);
  if (client->client_ == nullptr) {
    rd_kafka_conf_destroy(conf);
    return Status::User(fmt::format("the Kafka client refuses the table's properties: {}", text));
  }
  // Tokens are renewed on a thread of the library's own.
  if (rd_kafka_error_t* error = rd_kafka_sasl_background_callbacks_enable(client->client_)) {
    rd_kafka_error_destroy(error);
  }
  return client;
}

KafkaClient::~KafkaClient() {
  // No group was joined, so there is nothing to leave: do not wait for brokers.
  if (client_ != nullptr) rd_kafka_destroy_flags(client_, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
}

Status KafkaClient::Failure(std::string_view what, int error) const {
  const auto code = static_cast<rd_kafka_resp_err_t>(error);
  const std::string message = fmt::format("{}: {}", what, rd_kafka_err2str(code));
  const std::string_view right = MissingRight(code);
  if (right.empty()) return events_.NoAnswer(message);
  return Status::User(message).Hint(fmt::format("the broker's access lists must let this user {}", right));
}

Result<std::string> KafkaClient::ClusterId(int timeout_ms) {
  char* id = rd_kafka_clusterid(client_, timeout_ms);
  if (id == nullptr) return Failure("no Kafka broker answers", RD_KAFKA_RESP_ERR__TRANSPORT);
  std::string copy = id;
  rd_kafka_mem_free(client_, id);
  return copy;
}

std::string KafkaClient::TopicId(const std::string& name, int broker, int timeout_ms) {
#if RD_KAFKA_VERSION >= 0x020300ff
  const char* names[] = {name.c_str()};
  rd_kafka_TopicCollection_t* topics = rd_kafka_TopicCollection_of_topic_names(names, 1);
  rd_kafka_AdminOptions_t* options = rd_kafka_AdminOptions_new(client_, RD_KAFKA_ADMIN_OP_DESCRIBETOPICS);
  char text[256];
  rd_kafka_AdminOptions_set_request_timeout(options, timeout_ms, text, sizeof text);
  rd_kafka_AdminOptions_set_broker(options, broker, text, sizeof text);  // any can tell
  rd_kafka_queue_t* queue = rd_kafka_queue_new(client_);
  rd_kafka_DescribeTopics(client_, topics, options, queue);
  std::string id;
  if (rd_kafka_event_t* event = rd_kafka_queue_poll(queue, timeout_ms + 100)) {
    const rd_kafka_DescribeTopics_result_t* result = rd_kafka_event_DescribeTopics_result(event);
    size_t count = 0;
    const rd_kafka_TopicDescription_t** found =
        result == nullptr ? nullptr : rd_kafka_DescribeTopics_result_topics(result, &count);
    if (count == 1 && rd_kafka_error_code(rd_kafka_TopicDescription_error(found[0])) == 0) {
      const rd_kafka_Uuid_t* uuid = rd_kafka_TopicDescription_topic_id(found[0]);
      if (uuid != nullptr) id = rd_kafka_Uuid_base64str(uuid);
    }
    rd_kafka_event_destroy(event);
  }
  rd_kafka_queue_destroy(queue);
  rd_kafka_AdminOptions_destroy(options);
  rd_kafka_TopicCollection_destroy(topics);
  return id.find_first_not_of('A') == std::string::npos ? "" : id;  // all zero: the broker has none
#else
  return "";
#endif
}

Result<KafkaTopic> KafkaClient::Topic(const std::string& name, int timeout_ms) {
  rd_kafka_topic_t* handle = rd_kafka_topic_new(client_, name.c_str(), nullptr);
  if (handle == nullptr) {
    return Status::User(
        fmt::format("'{}' is no name of a topic: {}", name, rd_kafka_err2str(rd_kafka_last_error())));
  }
  const rd_kafka_metadata_t* metadata = nullptr;
  const rd_kafka_resp_err_t error = rd_kafka_metadata(client_, 0, handle, &metadata, timeout_ms);
  rd_kafka_topic_destroy(handle);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return Failure("no Kafka broker answers", error);
  KafkaTopic topic{name, "", 0};
  rd_kafka_resp_err_t told = RD_KAFKA_RESP_ERR_NO_ERROR;
  if (metadata->topic_cnt == 1) {
    told = metadata->topics[0].err;
    topic.partitions = metadata->topics[0].partition_cnt;
  }
  const int broker = metadata->broker_cnt > 0 ? metadata->brokers[0].id : -1;
  rd_kafka_metadata_destroy(metadata);
  if (told != RD_KAFKA_RESP_ERR_NO_ERROR && told != RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART &&
      told != RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC) {
    return Failure(fmt::format("topic '{}'", name), told);
  }
  if (topic.partitions > 0 && broker >= 0) topic.id = TopicId(name, broker, timeout_ms);
  return topic;
}

Result<std::vector<std::string>> KafkaClient::TopicNames(int timeout_ms) {
  const rd_kafka_metadata_t* metadata = nullptr;
  const rd_kafka_resp_err_t error = rd_kafka_metadata(client_, 1, nullptr, &metadata, timeout_ms);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return Failure("no Kafka broker answers", error);
  std::vector<std::string> names;
  for (int i = 0; i < metadata->topic_cnt; ++i) names.emplace_back(metadata->topics[i].topic);
  rd_kafka_metadata_destroy(metadata);
  return names;
}

Result<bool> KafkaClient::CreateTopic(const std::string& name, int partitions, int timeout_ms) {
  char text[512] = "";
  rd_kafka_NewTopic_t* topic = rd_kafka_NewTopic_new(name.c_str(), partitions, -1, text, sizeof text);
  if (topic == nullptr) return Status::User(fmt::format("topic '{}' cannot be created: {}", name, text));
  rd_kafka_queue_t* queue = rd_kafka_queue_new(client_);
  rd_kafka_AdminOptions_t* options = rd_kafka_AdminOptions_new(client_, RD_KAFKA_ADMIN_OP_CREATETOPICS);
  rd_kafka_AdminOptions_set_request_timeout(options, timeout_ms, text, sizeof text);
  rd_kafka_CreateTopics(client_, &topic, 1, options, queue);
  Result<bool> created(Failure("no Kafka broker answers", RD_KAFKA_RESP_ERR__TIMED_OUT));
  if (rd_kafka_event_t* event = rd_kafka_queue_poll(queue, timeout_ms + 100)) {
    size_t count = 0;
    const rd_kafka_CreateTopics_result_t* result = rd_kafka_event_CreateTopics_result(event);
    const rd_kafka_topic_result_t** topics =
        result == nullptr ? nullptr : rd_kafka_CreateTopics_result_topics(result, &count);
    const rd_kafka_resp_err_t error =
        count == 1 ? rd_kafka_topic_result_error(topics[0]) : rd_kafka_event_error(event);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR || error == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS) {
      created = error == RD_KAFKA_RESP_ERR_NO_ERROR;
    } else if (count == 1 && rd_kafka_topic_result_error_string(topics[0]) != nullptr) {
      created = Status::External(
          fmt::format("topic '{}' is not created: {}", name, rd_kafka_topic_result_error_string(topics[0])));
    } else {
      created = Failure(fmt::format("topic '{}' is not created", name), error);
    }
    rd_kafka_event_destroy(event);
  }
  rd_kafka_queue_destroy(queue);
  rd_kafka_AdminOptions_destroy(options);
  rd_kafka_NewTopic_destroy(topic);
  return created;
}

KafkaTopicLimits KafkaClient::Limits(const std::string& topic, int timeout_ms) {
  return DescribeTopicLimits(client_, topic, timeout_ms);
}

Result<KafkaRange> KafkaClient::Range(const KafkaPartitionId& partition, int timeout_ms) {
  KafkaRange range;
  rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  // A topic that was just made has no leader yet, or one that has not heard of it.
  while (std::chrono::steady_clock::now() < deadline) {
    error = rd_kafka_query_watermark_offsets(client_, partition.topic.c_str(), partition.partition,
                                             &range.low, &range.high, timeout_ms);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return range;
    if (error != RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION &&
        error != RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE) {
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return Failure(fmt::format("offsets of {}[{}]", partition.topic, partition.partition), error);
}

Result<int64_t> KafkaClient::OffsetAt(const KafkaPartitionId& partition, int64_t millis, int timeout_ms) {
  const PartitionList list = ListOf(partition, millis);
  rd_kafka_resp_err_t error = rd_kafka_offsets_for_times(client_, list.get(), timeout_ms);
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) error = list->elems[0].err;
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return list->elems[0].offset < 0 ? -1 : list->elems[0].offset;
  return Failure(fmt::format("offsets of {}[{}]", partition.topic, partition.partition), error);
}

Result<int64_t> KafkaClient::CommittedOffset(const KafkaPartitionId& partition, int timeout_ms) {
  const PartitionList list = ListOf(partition, RD_KAFKA_OFFSET_INVALID);
  rd_kafka_resp_err_t error = rd_kafka_committed(client_, list.get(), timeout_ms);
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) error = list->elems[0].err;
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return list->elems[0].offset < 0 ? -1 : list->elems[0].offset;
  return Failure(fmt::format("the group's offset of {}[{}]", partition.topic, partition.partition), error);
}

Result<rd_kafka_queue_s*> KafkaClient::AssignPartition(const KafkaPartitionId& partition, int64_t offset,
                                                       int32_t leader_epoch) {
  rd_kafka_queue_t* queue =
      rd_kafka_queue_get_partition(client_, partition.topic.c_str(), partition.partition);
  if (queue == nullptr) {
    return Status::Internal(
        fmt::format("no queue for {}[{}] in the Kafka client", partition.topic, partition.partition));
  }
  rd_kafka_queue_forward(queue, nullptr);  // a queue of its own, not the client's common one
  const PartitionList list = ListOf(partition, offset);
#if RD_KAFKA_VERSION >= 0x020100ff
  rd_kafka_topic_partition_set_leader_epoch(&list->elems[0], leader_epoch);
#endif
  if (rd_kafka_error_t* error = rd_kafka_incremental_assign(client_, list.get())) {
    Status status = Status::Internal(fmt::format("the Kafka client does not read {}[{}]: {}", partition.topic,
                                                 partition.partition, rd_kafka_error_string(error)));
    rd_kafka_error_destroy(error);
    rd_kafka_queue_destroy(queue);
    return status;
  }
  const Status compared = leader_epoch >= 0 && offset > 0 ? CompareEpoch(list.get(), queue) : Status();
  if (compared.ok()) return queue;
  Release(partition, queue);
  return compared;
}

// The library asks the broker where an epoch ended after a seek and when the leader changes while it reads,
// but not when it begins to read.
Status KafkaClient::CompareEpoch(rd_kafka_topic_partition_list_s* list, rd_kafka_queue_s* queue) {
  rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR;
  for (int attempt = 0; attempt < kSeekAttempts; ++attempt) {
    rd_kafka_error_t* failed = rd_kafka_seek_partitions(client_, list, kSeekMillis);
    error = failed != nullptr ? rd_kafka_error_code(failed) : list->elems[0].err;
    if (failed != nullptr) rd_kafka_error_destroy(failed);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return Status();
    // It has not begun yet, or has ended: then the queue holds what the broker said of the offset.
    if (error == RD_KAFKA_RESP_ERR__STATE && rd_kafka_queue_length(queue) > 0) return Status();
    std::this_thread::sleep_for(std::chrono::milliseconds(kSeekPauseMillis));
  }
  return Failure(fmt::format("whether the log of {}[{}] was cut cannot be asked", list->elems[0].topic,
                             list->elems[0].partition),
                 error);
}

void KafkaClient::Release(const KafkaPartitionId& partition, rd_kafka_queue_s* queue) {
  const PartitionList list = ListOf(partition, RD_KAFKA_OFFSET_INVALID);
  if (rd_kafka_error_t* error = rd_kafka_incremental_unassign(client_, list.get())) {
    rd_kafka_error_destroy(error);
  }
  rd_kafka_queue_destroy(queue);
}

int64_t KafkaClient::prefetch_bytes() const {
  char text[32] = "";
  size_t size = sizeof text;
  rd_kafka_conf_get(rd_kafka_conf(client_), kPrefetchKilobytes, text, &size);
  return int64_t{1024} * std::atoi(text);
}

void KafkaClient::Serve() { rd_kafka_poll(client_, 0); }

KafkaRange KafkaClient::KnownRange(const KafkaPartitionId& partition) const {
  KafkaRange range{-1, -1};
  rd_kafka_get_watermark_offsets(client_, partition.topic.c_str(), partition.partition, &range.low,
                                 &range.high);
  return range;
}

void KafkaClient::CommitOffsets(const std::map<KafkaPartitionId, int64_t>& next_offsets) {
  if (next_offsets.empty()) return;
  const PartitionList list(rd_kafka_topic_partition_list_new(static_cast<int>(next_offsets.size())));
  for (const auto& [partition, offset] : next_offsets) {
    rd_kafka_topic_partition_list_add(list.get(), partition.topic.c_str(), partition.partition)->offset =
        offset;
  }
  rd_kafka_commit(client_, list.get(), /*async=*/1);
}

}  // namespace caudal
