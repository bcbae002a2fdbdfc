#include "connect/kafka/kafka_config.h"

#include <fmt/format.h>
#include <librdkafka/rdkafka.h>

namespace caudal {
namespace {

constexpr int kSysLogError = 3;

}  // namespace

void KafkaEvents::Log(const rd_kafka_s* client, int level, const char*, const char* text) {
  auto* self = static_cast<KafkaEvents*>(rd_kafka_opaque(client));
  if (self == nullptr || level > kSysLogError) return;
  std::lock_guard lock(self->mutex_);
  self->complaint_ = text;
}

std::string KafkaEvents::last_complaint() const {
  std::lock_guard lock(mutex_);
  return complaint_;
}

Result<rd_kafka_conf_s*> MakeKafkaConf(const std::map<std::string, std::string>& properties,
                                       KafkaSettings defaults, KafkaSettings always, KafkaEvents* events) {
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  char text[512] = "";
  for (const auto& [name, value] : defaults) rd_kafka_conf_set(conf, name, value, text, sizeof text);
  for (const auto& [name, value] : properties) {
    const rd_kafka_conf_res_t set = rd_kafka_conf_set(conf, name.c_str(), value.c_str(), text, sizeof text);
    if (set == RD_KAFKA_CONF_OK) continue;
    rd_kafka_conf_destroy(conf);
    const bool unknown = set == RD_KAFKA_CONF_UNKNOWN;
    return Status::User(unknown ? fmt::format("the Kafka client has no property '{}'", name)
                                : fmt::format("the Kafka client refuses 'properties.{}': {}", name, text))
        .Hint("its properties are librdkafka's; most have the same names as those of the Java client");
  }
  for (const auto& [name, value] : always) rd_kafka_conf_set(conf, name, value, text, sizeof text);
  rd_kafka_conf_set_opaque(conf, events);
  rd_kafka_conf_set_log_cb(conf, &KafkaEvents::Log);
  rd_kafka_conf_enable_sasl_queue(conf, 1);
  return conf;
}

}  // namespace caudal
