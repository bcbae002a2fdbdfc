#include "connect/kafka/client/kafka_topic_limits.h"

#include <librdkafka/rdkafka.h>

#include <charconv>
#include <map>
#include <string_view>

namespace caudal {
namespace {

using Settings = std::map<std::string, std::string, std::less<>>;

Settings SettingsIn(rd_kafka_event_t* event) {
  Settings settings;
  const rd_kafka_DescribeConfigs_result_t* result =
      event == nullptr ? nullptr : rd_kafka_event_DescribeConfigs_result(event);
  if (result == nullptr || rd_kafka_event_error(event) != RD_KAFKA_RESP_ERR_NO_ERROR) return settings;
  size_t count = 0;
  const rd_kafka_ConfigResource_t** resources = rd_kafka_DescribeConfigs_result_resources(result, &count);
  if (count != 1 || rd_kafka_ConfigResource_error(resources[0]) != RD_KAFKA_RESP_ERR_NO_ERROR)
    return settings;
  const rd_kafka_ConfigEntry_t** entries = rd_kafka_ConfigResource_configs(resources[0], &count);
  for (size_t i = 0; i < count; ++i) {
    const char* value = rd_kafka_ConfigEntry_value(entries[i]);
    if (value != nullptr) settings[rd_kafka_ConfigEntry_name(entries[i])] = value;
  }
  return settings;
}

// Any broker knows the settings of topics, and one that is away may be the controller. -1: none answers.
int32_t SomeBroker(rd_kafka_t* client, int timeout_ms) {
  const rd_kafka_metadata_t* metadata = nullptr;
  if (rd_kafka_metadata(client, 0, nullptr, &metadata, timeout_ms) != RD_KAFKA_RESP_ERR_NO_ERROR) return -1;
  const int32_t broker = metadata->broker_cnt > 0 ? metadata->brokers[0].id : -1;
  rd_kafka_metadata_destroy(metadata);
  return broker;
}

Settings Describe(rd_kafka_t* client, const std::string& topic, int timeout_ms) {
  const int32_t broker = SomeBroker(client, timeout_ms);
  if (broker < 0) return {};
  char text[256] = "";
  rd_kafka_ConfigResource_t* resource = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic.c_str());
  if (resource == nullptr) return {};
  rd_kafka_AdminOptions_t* options = rd_kafka_AdminOptions_new(client, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS);
  rd_kafka_AdminOptions_set_request_timeout(options, timeout_ms, text, sizeof text);
  rd_kafka_AdminOptions_set_broker(options, broker, text, sizeof text);
  rd_kafka_queue_t* queue = rd_kafka_queue_new(client);
  rd_kafka_DescribeConfigs(client, &resource, 1, options, queue);
  rd_kafka_event_t* event = rd_kafka_queue_poll(queue, timeout_ms + 100);
  Settings settings = SettingsIn(event);
  if (event != nullptr) rd_kafka_event_destroy(event);
  rd_kafka_queue_destroy(queue);
  rd_kafka_AdminOptions_destroy(options);
  rd_kafka_ConfigResource_destroy(resource);
  return settings;
}

int64_t LimitIn(const Settings& settings, std::string_view name) {
  const auto found = settings.find(name);
  if (found == settings.end()) return KafkaTopicLimits::kNone;
  int64_t number = 0;
  const std::string& text = found->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0 ? number
                                                                                 : KafkaTopicLimits::kNone;
}

}  // namespace

KafkaTopicLimits DescribeTopicLimits(rd_kafka_s* client, const std::string& topic, int timeout_ms) {
  const Settings settings = Describe(client, topic, timeout_ms);
  KafkaTopicLimits limits;
  limits.max_batch_bytes = LimitIn(settings, "max.message.bytes");
  const auto type = settings.find("message.timestamp.type");
  if (type != settings.end() && type->second == "LogAppendTime") return limits;
  // Below Kafka 3.6 there is one limit for both sides; up to 3.9 it counts where the newer ones are not set.
  const int64_t either = LimitIn(settings, "message.timestamp.difference.max.ms");
  limits.max_past_millis = LimitIn(settings, "message.timestamp.before.max.ms");
  limits.max_future_millis = LimitIn(settings, "message.timestamp.after.max.ms");
  if (limits.max_past_millis == KafkaTopicLimits::kNone) limits.max_past_millis = either;
  if (limits.max_future_millis == KafkaTopicLimits::kNone) limits.max_future_millis = either;
  return limits;
}

}  // namespace caudal
