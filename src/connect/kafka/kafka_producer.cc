#include "connect/kafka/kafka_producer.h"

#include <fmt/format.h>
#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "connect/kafka/sink/kafka_envelope.h"

namespace caudal {

namespace {

constexpr int kCallMillis = 20'000;
constexpr int kLimitsMillis = 5'000;
constexpr int kCommitMillis = 60'000;
constexpr int kStallMillis = 5'000;  // without an acknowledgement
constexpr int kPollMillis = 100;
constexpr int kLooksForNewTopic = 50;
constexpr int kLooksForKnownTopic = 100;  // as many times kPollMillis

// Asked first, so that a table's own properties win.
constexpr std::pair<const char*, const char*> kProducerDefaults[] = {
    {"client.id", "caudal"},
    // What KafkaEvents listens for is among the library's debugging messages, a line a batch.
    {"debug", "msg"},
    {"log_level", "7"},
    {"compression.type", "zstd"},
    {"linger.ms", "20"},
    {"batch.size", "1000000"},
    {"batch.num.messages", "100000"},
    {"queue.buffering.max.messages", "200000"},
    {"queue.buffering.max.kbytes", "131072"},
    {"message.max.bytes", "10000000"},  // the table's own limit is lower, and its rows are told
    {"partitioner", "murmur2_random"},  // as the Java client
    {"socket.nagle.disable", "true"},
    // As long as brokers allow unless told otherwise: a large epoch on a slow line must fit into it. Whoever
    // starts again ends the transaction that its run before left open.
    {"transaction.timeout.ms", "900000"},
    {"reconnect.backoff.max.ms", "2000"},
};
constexpr std::pair<const char*, const char*> kProducerAlways[] = {
    {"enable.idempotence", "true"}, {"acks", "all"}, {"allow.auto.create.topics", "false"}};

// What asking again does not change.
bool IsFinal(int error) {
  constexpr rd_kafka_resp_err_t kFinal[] = {
      RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE,
      RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE,
      RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED,
      RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED,
      RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
      RD_KAFKA_RESP_ERR_INVALID_TRANSACTION_TIMEOUT,
      RD_KAFKA_RESP_ERR_INVALID_RECORD,
      RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP,
      RD_KAFKA_RESP_ERR_POLICY_VIOLATION,
      RD_KAFKA_RESP_ERR_UNSUPPORTED_COMPRESSION_TYPE,
      RD_KAFKA_RESP_ERR_UNSUPPORTED_FOR_MESSAGE_FORMAT,
  };
  return std::find(std::begin(kFinal), std::end(kFinal), error) != std::end(kFinal);
}

// Which setting of the topic a record has broken: the epoch is kept, and sent once the topic takes it.
std::string HintFor(int error) {
  switch (error) {
    case RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP:
      return "a record's time is further from the broker's than 'message.timestamp.after.max.ms' (or "
             "'.before.max.ms') of the topic says: raise it and start again; rows are rejected for it where "
             "the user may describe the topic's settings (DescribeConfigs)";
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE:
      return "records are larger than 'max.message.bytes' of the topic says: raise it and start again; rows "
             "are rejected for it where the user may describe the topic's settings (DescribeConfigs)";
    default:
      return "";
  }
}

rd_kafka_headers_t* HeadersOf(std::string_view bytes) {
  if (bytes.empty()) return nullptr;
  rd_kafka_headers_t* headers = rd_kafka_headers_new(8);
  std::string_view name, value;
  for (size_t at = 0; at < bytes.size() && ReadHeader(bytes, &at, &name, &value);) {
    rd_kafka_header_add(headers, name.data(), static_cast<ssize_t>(name.size()), value.data(),
                        static_cast<ssize_t>(value.size()));
  }
  return headers;
}

}  // namespace

void KafkaProducer::OnDelivery(rd_kafka_s*, const rd_kafka_message_s* message, void*) {
  auto* self = static_cast<KafkaProducer*>(message->_private);
  if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
    ++self->acknowledged_;
  } else if (self->first_error_ == 0 || self->first_error_ == RD_KAFKA_RESP_ERR__PURGE_QUEUE) {
    self->first_error_ = message->err;
  }
}

Status KafkaProducer::Failure(std::string_view what, int error, std::string_view text) const {
  const auto code = static_cast<rd_kafka_resp_err_t>(error);
  std::string message = fmt::format("{}: {}", what, text.empty() ? rd_kafka_err2str(code) : text);
  if (!IsFinal(error)) return events_.NoAnswer(std::move(message));
  const std::string complaint = events_.last_complaint();
  Status status = Status::User(std::move(message));
  if (std::string hint = HintFor(error); !hint.empty()) status = std::move(status).Hint(std::move(hint));
  return complaint.empty() ? status : std::move(status).At("the client said last: " + complaint);
}

Result<std::unique_ptr<KafkaProducer>> KafkaProducer::Make(
    const std::map<std::string, std::string>& properties, const std::string& transactional_id) {
  std::unique_ptr<KafkaProducer> producer(new KafkaProducer());
  ASSIGN_OR_RETURN(rd_kafka_conf_t* const conf,
                   MakeKafkaConf(properties, kProducerDefaults, kProducerAlways, &producer->events_));
  char text[512] = "";
  if (!transactional_id.empty())
    rd_kafka_conf_set(conf, "transactional.id", transactional_id.c_str(), text, sizeof text);
  rd_kafka_conf_set_dr_msg_cb(conf, &KafkaProducer::OnDelivery);
  producer->client_ = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof text);
  if (producer->client_ == nullptr) {
    rd_kafka_conf_destroy(conf);
    return Status::User(fmt::format("the Kafka client refuses the table's properties: {}", text));
  }
  // Tokens are renewed on a thread of the library's own.
  if (rd_kafka_error_t* error = rd_kafka_sasl_background_callbacks_enable(producer->client_)) {
    rd_kafka_error_destroy(error);
  }
  if (transactional_id.empty()) return producer;
  if (rd_kafka_error_t* error = rd_kafka_init_transactions(producer->client_, kCallMillis)) {
    const int code = rd_kafka_error_code(error);
    Status status = producer->Failure(
        fmt::format("no transaction can begin with transactional id '{}'", transactional_id), code,
        rd_kafka_error_string(error));
    rd_kafka_error_destroy(error);
    if (code != RD_KAFKA_RESP_ERR_INVALID_TRANSACTION_TIMEOUT) return status;
    return std::move(status).Hint(
        "set 'properties.transaction.timeout.ms' to no more than the brokers' 'transaction.max.timeout.ms'");
  }
  return producer;
}

std::string KafkaProducer::Compression(const std::map<std::string, std::string>& properties) {
  for (const char* name : {"compression.type", "compression.codec"}) {  // one is the other's alias
    const auto found = properties.find(name);
    if (found != properties.end()) return found->second;
  }
  return "zstd";
}

KafkaProducer::~KafkaProducer() {
  if (client_ == nullptr) return;
  // What was not committed must not be sent by the way out.
  rd_kafka_purge(client_, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
  rd_kafka_destroy(client_);
}

Status KafkaProducer::Begin() {
  produced_ = acknowledged_ = 0;
  first_error_ = 0;
  rd_kafka_error_t* error = rd_kafka_begin_transaction(client_);
  if (error == nullptr) return Status();
  Status status =
      Failure("no transaction can begin", rd_kafka_error_code(error), rd_kafka_error_string(error));
  rd_kafka_error_destroy(error);
  return status;
}

Status KafkaProducer::Produce(const OutgoingRecord& record) {
  const std::string topic(record.topic);
  rd_kafka_headers_t* headers = HeadersOf(record.headers);
  for (;;) {
    rd_kafka_vu_t parts[9];
    size_t count = 0;
    const auto next = [&](rd_kafka_vtype_t type) -> rd_kafka_vu_t& {
      parts[count].vtype = type;
      return parts[count++];
    };
    next(RD_KAFKA_VTYPE_TOPIC).u.cstr = topic.c_str();
    next(RD_KAFKA_VTYPE_PARTITION).u.i32 = record.partition < 0 ? RD_KAFKA_PARTITION_UA : record.partition;
    rd_kafka_vu_t& value = next(RD_KAFKA_VTYPE_VALUE);
    value.u.mem.ptr = const_cast<char*>(record.value.data());
    value.u.mem.size = record.value.size();
    rd_kafka_vu_t& key = next(RD_KAFKA_VTYPE_KEY);
    key.u.mem.ptr = const_cast<char*>(record.key.data());
    key.u.mem.size = record.key.size();
    next(RD_KAFKA_VTYPE_MSGFLAGS).u.i = RD_KAFKA_MSG_F_COPY;
    next(RD_KAFKA_VTYPE_OPAQUE).u.ptr = this;
    if (record.timestamp_millis >= 0) next(RD_KAFKA_VTYPE_TIMESTAMP).u.i64 = record.timestamp_millis;
    if (headers != nullptr) next(RD_KAFKA_VTYPE_HEADERS).u.headers = headers;
    rd_kafka_error_t* error = rd_kafka_produceva(client_, parts, count);
    if (error == nullptr) break;  // the headers are the library's now
    const rd_kafka_resp_err_t code = rd_kafka_error_code(error);
    Status status = Failure("a record cannot be sent", code, rd_kafka_error_string(error));
    rd_kafka_error_destroy(error);
    if (code != RD_KAFKA_RESP_ERR__QUEUE_FULL || first_error_ != 0) {
      if (headers != nullptr) rd_kafka_headers_destroy(headers);
      return status;
    }
    rd_kafka_poll(client_, kPollMillis);
  }
  if ((++produced_ & 1023) == 0) rd_kafka_poll(client_, 0);
  return first_error_ == 0 ? Status() : Failure("a record was not taken", first_error_, {});
}

Status KafkaProducer::Flush(const std::string& topic) {
  using Clock = std::chrono::steady_clock;
  rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR__TIMED_OUT;
  int64_t before = acknowledged_;
  // However much there is: only a broker that acknowledges nothing any more is given up.
  for (auto since = Clock::now(); error == RD_KAFKA_RESP_ERR__TIMED_OUT && first_error_ == 0;) {
    error = rd_kafka_flush(client_, kStallMillis);
    if (std::exchange(before, acknowledged_) < acknowledged_) since = Clock::now();
    const auto stalled = Clock::now() - since;
    if (stalled > std::chrono::milliseconds(kCommitMillis)) break;
    if (error != RD_KAFKA_RESP_ERR__TIMED_OUT || stalled < std::chrono::milliseconds(kStallMillis)) continue;
    // To the library a topic that was deleted is one that may come again.
    const Status there = AwaitPartitions(topic).status();
    if (!there.ok() && there.domain() == Domain::kUser) return there;
  }
  if (first_error_ != 0) return Failure("a record was not taken", first_error_, {});
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return Failure("records are not acknowledged", error, {});
  if (acknowledged_ == produced_) return Status();
  return Status::Internal(fmt::format("{} records were sent and {} acknowledged", produced_, acknowledged_));
}

Status KafkaProducer::Commit() {
  rd_kafka_error_t* error = rd_kafka_commit_transaction(client_, kCommitMillis);
  if (error == nullptr) return Status();
  Status status = Failure("the transaction's end is not acknowledged", rd_kafka_error_code(error),
                          rd_kafka_error_string(error));
  rd_kafka_error_destroy(error);
  return status;
}

Result<std::string> KafkaProducer::ClusterId() {
  char* id = rd_kafka_clusterid(client_, kCallMillis);
  if (id == nullptr) return Failure("no Kafka broker answers", RD_KAFKA_RESP_ERR__TRANSPORT, {});
  std::string copy = id;
  rd_kafka_mem_free(client_, id);
  return copy;
}

Result<int32_t> KafkaProducer::Partitions(const std::string& topic) {
  rd_kafka_topic_t* handle = rd_kafka_topic_new(client_, topic.c_str(), nullptr);
  if (handle == nullptr) {
    return Status::User(
        fmt::format("'{}' is no name of a topic: {}", topic, rd_kafka_err2str(rd_kafka_last_error())));
  }
  const rd_kafka_metadata_t* metadata = nullptr;
  rd_kafka_resp_err_t error = rd_kafka_metadata(client_, 0, handle, &metadata, kCallMillis);
  rd_kafka_topic_destroy(handle);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return Failure("no Kafka broker answers", error, {});
  const int32_t partitions = metadata->topic_cnt == 1 ? metadata->topics[0].partition_cnt : 0;
  error = metadata->topic_cnt == 1 ? metadata->topics[0].err : RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
  rd_kafka_metadata_destroy(metadata);
  if (partitions > 0) return partitions;
  if (error == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART || error == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC) {
    return Status::User(fmt::format("there is no topic '{}'", topic))
        .Hint(
            "make it, with the partitions and the retention that its readers need, or let caudal do it: "
            "'caudal.create-topic' = 'true'");
  }
  return Failure(fmt::format("topic '{}'", topic), error, {});
}

Result<int32_t> KafkaProducer::AwaitPartitions(const std::string& topic) {
  for (int look = 1;; ++look) {
    Result<int32_t> partitions = Partitions(topic);
    const bool missing = !partitions.ok() && partitions.status().domain() == Domain::kUser;
    if (!missing || look == kLooksForKnownTopic) return partitions;
    std::this_thread::sleep_for(std::chrono::milliseconds(kPollMillis));
  }
}

KafkaTopicLimits KafkaProducer::Limits(const std::string& topic) {
  return DescribeTopicLimits(client_, topic, kLimitsMillis);
}

Status KafkaProducer::MakeCompactedTopic(const std::string& topic) {
  const Result<int32_t> partitions = Partitions(topic);
  if (partitions.ok()) {
    if (*partitions == 1) return Status();
    return Status::User(
        fmt::format("topic '{}' has {} partitions, and a ledger has one", topic, *partitions));
  }
  if (partitions.status().domain() != Domain::kUser) return partitions.status();
  // Small segments, soon compacted: a start reads the whole topic.
  constexpr std::pair<const char*, const char*> kCompacted[] = {
      {"cleanup.policy", "compact"}, {"segment.bytes", "4194304"}, {"min.cleanable.dirty.ratio", "0.1"}};
  Status status = MakeTopic(topic, 1, kCompacted);
  return status.ok() ? status
                     : std::move(status).Hint("make it by hand: one partition, cleanup.policy=compact");
}

Result<int32_t> KafkaProducer::PartitionsOrMake(const std::string& topic) {
  Result<int32_t> partitions = Partitions(topic);
  if (partitions.ok() || partitions.status().domain() != Domain::kUser) return partitions;
  Status made = MakeTopic(topic, -1, {});
  if (!made.ok()) return std::move(made).Hint("make it by hand, and leave 'caudal.create-topic' out");
  // Brokers tell each other of a new topic after they have said that it is made.
  for (int look = 0; look < kLooksForNewTopic; ++look) {
    partitions = Partitions(topic);
    if (partitions.ok()) return partitions;
    std::this_thread::sleep_for(std::chrono::milliseconds(kPollMillis));
  }
  return Status::External(fmt::format("topic '{}' was made and is not there yet", topic), Retry::kBackoff);
}

Status KafkaProducer::MakeTopic(const std::string& topic, int partitions, KafkaSettings settings) {
  char text[256] = "";
  rd_kafka_NewTopic_t* made = rd_kafka_NewTopic_new(topic.c_str(), partitions, -1, text, sizeof text);
  if (made == nullptr) return Status::User(fmt::format("topic '{}' cannot be made: {}", topic, text));
  for (const auto& [name, value] : settings) rd_kafka_NewTopic_set_config(made, name, value);
  rd_kafka_AdminOptions_t* options = rd_kafka_AdminOptions_new(client_, RD_KAFKA_ADMIN_OP_CREATETOPICS);
  rd_kafka_AdminOptions_set_request_timeout(options, kCallMillis, text, sizeof text);
  rd_kafka_AdminOptions_set_operation_timeout(options, kCallMillis, text, sizeof text);
  rd_kafka_queue_t* queue = rd_kafka_queue_new(client_);
  rd_kafka_CreateTopics(client_, &made, 1, options, queue);
  rd_kafka_event_t* event = rd_kafka_queue_poll(queue, kCallMillis + 1000);
  rd_kafka_resp_err_t error = event == nullptr ? RD_KAFKA_RESP_ERR__TIMED_OUT : rd_kafka_event_error(event);
  if (event != nullptr && error == RD_KAFKA_RESP_ERR_NO_ERROR) {
    size_t count = 0;
    const rd_kafka_topic_result_t** results =
        rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count);
    if (count == 1) error = rd_kafka_topic_result_error(results[0]);
  }
  if (event != nullptr) rd_kafka_event_destroy(event);
  rd_kafka_queue_destroy(queue);
  rd_kafka_AdminOptions_destroy(options);
  rd_kafka_NewTopic_destroy(made);
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR || error == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS) return Status();
  return Failure(fmt::format("topic '{}' cannot be made", topic), error, {});
}

}  // namespace caudal
