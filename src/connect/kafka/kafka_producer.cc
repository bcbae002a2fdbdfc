#include "connect/kafka/kafka_producer.h"

#include <fmt/format.h>
#include <librdkafka/rdkafka.h>

namespace caudal {
namespace {

constexpr std::pair<const char*, const char*> kSendDefaults[] = {
    {"client.id", "caudal"},
    {"compression.type", "zstd"},
    {"linger.ms", "20"},
    {"queue.buffering.max.messages", "500000"},
    {"queue.buffering.max.kbytes", "131072"},
    {"socket.nagle.disable", "true"},
    {"reconnect.backoff.max.ms", "2000"},
};
constexpr std::pair<const char*, const char*> kSendAlways[] = {
    {"enable.idempotence", "true"},
    {"acks", "all"},
    {"allow.auto.create.topics", "false"},
    {"delivery.report.only.error", "true"},
};
constexpr uint64_t kPollEvery = 4096;  // records, so that failures are heard of in time
constexpr int kQueueFullMillis = 20;

}  // namespace

Result<std::unique_ptr<KafkaProducer>> KafkaProducer::Make(
    const std::map<std::string, std::string>& properties, const std::string& topic) {
  std::unique_ptr<KafkaProducer> producer(new KafkaProducer());
  ASSIGN_OR_RETURN(rd_kafka_conf_t* const conf,
                   MakeKafkaConf(properties, kSendDefaults, kSendAlways, &producer->events_));
  rd_kafka_conf_set_dr_msg_cb(conf, &KafkaEvents::Delivered);
  char text[512] = "";
  producer->client_ = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof text);
  if (producer->client_ == nullptr) {
    rd_kafka_conf_destroy(conf);
    return Status::User(fmt::format("the Kafka client refuses the properties: {}", text));
  }
  if (rd_kafka_error_t* error = rd_kafka_sasl_background_callbacks_enable(producer->client_)) {
    rd_kafka_error_destroy(error);
  }
  producer->topic_ = rd_kafka_topic_new(producer->client_, topic.c_str(), nullptr);
  if (producer->topic_ == nullptr) {
    return Status::User(
        fmt::format("'{}' is no name of a topic: {}", topic, rd_kafka_err2str(rd_kafka_last_error())));
  }
  return producer;
}

KafkaProducer::~KafkaProducer() {
  if (client_ == nullptr) return;
  // What is not delivered by now is not waited for.
  rd_kafka_purge(client_, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
  if (topic_ != nullptr) rd_kafka_topic_destroy(topic_);
  rd_kafka_destroy(client_);
}

Status KafkaProducer::Send(const Record& record) {
  rd_kafka_headers_t* headers = nullptr;
  if (!record.headers.empty()) {
    headers = rd_kafka_headers_new(record.headers.size());
    for (const auto& [name, value] : record.headers) {
      rd_kafka_header_add(headers, name.data(), static_cast<ssize_t>(name.size()), value.data(),
                          static_cast<ssize_t>(value.size()));
    }
  }
  while (true) {
    if (++sent_ % kPollEvery == 0) rd_kafka_poll(client_, 0);
    Status failure = events_.delivery_failure();
    rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR;
    if (failure.ok()) {
      error = rd_kafka_producev(client_, RD_KAFKA_V_RKT(topic_), RD_KAFKA_V_PARTITION(record.partition),
                                RD_KAFKA_V_VALUE(const_cast<char*>(record.value.data()), record.value.size()),
                                RD_KAFKA_V_KEY(record.key.data(), record.key.size()),
                                RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_HEADERS(headers),
                                RD_KAFKA_V_END);
      if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return Status();  // the headers are the library's now
    }
    if (failure.ok() && error == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
      rd_kafka_poll(client_, kQueueFullMillis);
      continue;
    }
    if (headers != nullptr) rd_kafka_headers_destroy(headers);
    if (!failure.ok()) return failure;
    return Status::External(fmt::format("a record cannot be sent to {}[{}]: {}", rd_kafka_topic_name(topic_),
                                        record.partition, rd_kafka_err2str(error)));
  }
}

Status KafkaProducer::Flush(int timeout_ms) {
  const rd_kafka_resp_err_t error = rd_kafka_flush(client_, timeout_ms);
  RETURN_IF_ERROR(events_.delivery_failure());
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return Status();
  Status status = Status::External(
      fmt::format("topic '{}': {} records are not acknowledged after {} ms: {}", rd_kafka_topic_name(topic_),
                  rd_kafka_outq_len(client_), timeout_ms, rd_kafka_err2str(error)),
      Retry::kBackoff);
  const std::string complaint = events_.last_complaint();
  return complaint.empty() ? status : std::move(status).At("the client said last: " + complaint);
}

}  // namespace caudal
