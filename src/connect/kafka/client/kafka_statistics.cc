#include "connect/kafka/client/kafka_statistics.h"

#include <nlohmann/json.hpp>

namespace caudal {
namespace {

using Json = nlohmann::json;

// Empty unless it is there and an object.
const Json& ObjectIn(const Json& json, const char* name) {
  static const Json kNone = Json::object();
  const auto found = json.is_object() ? json.find(name) : json.end();
  return json.is_object() && found != json.end() && found->is_object() ? *found : kNone;
}

int64_t IntegerIn(const Json& json, const char* name) {
  const auto found = json.is_object() ? json.find(name) : json.end();
  return json.is_object() && found != json.end() && found->is_number_integer() ? found->get<int64_t>() : -1;
}

bool Says(const Json& json, const char* name, std::string_view value) {
  const auto found = json.is_object() ? json.find(name) : json.end();
  return json.is_object() && found != json.end() && *found == value;
}

}  // namespace

std::map<KafkaPartitionId, int64_t> SinceHeardMicros(std::string_view json) {
  std::map<KafkaPartitionId, int64_t> heard;
  const Json statistics = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  std::map<int64_t, int64_t> idle_micros;  // of brokers that are connected, by node
  for (const auto& [name, broker] : ObjectIn(statistics, "brokers").items()) {
    const int64_t idle = IntegerIn(broker, "rxidle");
    if (idle >= 0 && Says(broker, "state", "UP")) idle_micros[IntegerIn(broker, "nodeid")] = idle;
  }
  for (const auto& [topic, told] : ObjectIn(statistics, "topics").items()) {
    for (const auto& [number, partition] : ObjectIn(told, "partitions").items()) {
      const int64_t node = IntegerIn(partition, "leader");
      const auto leader = idle_micros.find(node);
      if (node < 0 || leader == idle_micros.end() || !Says(partition, "fetch_state", "active")) continue;
      heard[{topic, static_cast<int32_t>(IntegerIn(partition, "partition"))}] = leader->second;
    }
  }
  return heard;
}

}  // namespace caudal
