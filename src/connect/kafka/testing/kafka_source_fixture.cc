#include "connect/kafka/testing/kafka_source_fixture.h"

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <cstring>

namespace caudal {

void KafkaSourceTest::SetUp() {
  char text[512];
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  rd_kafka_conf_set_log_cb(conf, [](const rd_kafka_t*, int, const char*, const char*) {});
  rd_kafka_conf_set(conf, "test.mock.num.brokers", "1", text, sizeof text);
  producer_ = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof text);
  ASSERT_NE(producer_, nullptr) << text;
  cluster_ = rd_kafka_handle_mock_cluster(producer_);
  rd_kafka_mock_topic_create(cluster_, "t", 1, 1);
  table_.name = "t";
  table_.columns = {Named("a", Type(TypeId::kInt))};
  table_.options = {{"connector", "kafka"},
                    {"topic", "t"},
                    {"format", "json"},
                    {"scan.startup.mode", "earliest-offset"},
                    {"properties.reconnect.backoff.max.ms", "100"},
                    {"properties.bootstrap.servers", rd_kafka_mock_cluster_bootstraps(cluster_)}};
}

void KafkaSourceTest::TearDown() {
  reader_.reset();
  enumerator_.reset();
  source_.reset();
  rd_kafka_destroy(producer_);
}

void KafkaSourceTest::Put(const char* value, const char* key, rd_kafka_headers_s* headers) {
  const size_t size = value == nullptr ? 0 : strlen(value), key_size = key == nullptr ? 0 : strlen(key);
  const rd_kafka_resp_err_t error =
      headers == nullptr
          ? rd_kafka_producev(producer_, RD_KAFKA_V_TOPIC("t"), RD_KAFKA_V_PARTITION(0),
                              RD_KAFKA_V_VALUE(const_cast<char*>(value), size), RD_KAFKA_V_KEY(key, key_size),
                              RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END)
          : rd_kafka_producev(producer_, RD_KAFKA_V_TOPIC("t"), RD_KAFKA_V_PARTITION(0),
                              RD_KAFKA_V_VALUE(const_cast<char*>(value), size), RD_KAFKA_V_KEY(key, key_size),
                              RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_HEADERS(headers),
                              RD_KAFKA_V_END);
  ASSERT_EQ(error, RD_KAFKA_RESP_ERR_NO_ERROR);
  ASSERT_EQ(rd_kafka_flush(producer_, 20'000), RD_KAFKA_RESP_ERR_NO_ERROR);
}

void KafkaSourceTest::GiveTime() { rd_kafka_poll(producer_, 1); }

}  // namespace caudal
