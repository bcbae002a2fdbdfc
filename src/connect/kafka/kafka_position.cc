#include "connect/kafka/kafka_position.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace caudal {
namespace {

constexpr int kVersion = 1;

// [from, to, reason, found]; false: it is none.
bool ParseLoss(const nlohmann::json& json, std::vector<LostRange>* losses) {
  if (!json.is_array() || json.size() != 4 || !json[0].is_number_integer() || !json[1].is_number_integer() ||
      !json[2].is_string() || !json[3].is_number_integer()) {
    return false;
  }
  losses->push_back(
      {json[0].get<int64_t>(), json[1].get<int64_t>(), json[2].get<std::string>(), json[3].get<int64_t>()});
  return true;
}

}  // namespace

std::string KafkaPosition::ToJson() const {
  nlohmann::json json = {{"version", kVersion},         {"cluster", cluster},     {"topic", topic},
                         {"topic_id", topic_id},        {"partition", partition}, {"offset", offset},
                         {"leader_epoch", leader_epoch}};
  for (size_t i = losses.size() > kMostLosses ? losses.size() - kMostLosses : 0; i < losses.size(); ++i) {
    json["losses"].push_back({losses[i].from, losses[i].to, losses[i].reason, losses[i].found_millis});
  }
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<KafkaPosition> KafkaPosition::Parse(std::string_view text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  const auto string = [&](const char* key) { return json.contains(key) && json[key].is_string(); };
  const auto number = [&](const char* key) { return json.contains(key) && json[key].is_number_integer(); };
  if (!json.is_object() || !number("version") || !string("cluster") || !string("topic") ||
      !string("topic_id") || !number("partition") || !number("offset") || !number("leader_epoch")) {
    return Status::User(fmt::format("'{}' is not the position of a Kafka partition", text));
  }
  if (json["version"] > kVersion) {
    return Status::User(fmt::format("the position of topic '{}' is of version {}, newer than {}",
                                    json["topic"].get<std::string>(), json["version"].dump(), kVersion))
        .Hint("use the caudal that wrote it");
  }
  KafkaPosition position;
  position.cluster = json["cluster"].get<std::string>();
  position.topic = json["topic"].get<std::string>();
  position.topic_id = json["topic_id"].get<std::string>();
  position.partition = json["partition"].get<int32_t>();
  position.offset = json["offset"].get<int64_t>();
  position.leader_epoch = json["leader_epoch"].get<int32_t>();
  if (!json.contains("losses")) return position;
  bool sound = json["losses"].is_array();
  for (size_t i = 0; sound && i < json["losses"].size(); ++i) {
    sound = ParseLoss(json["losses"][i], &position.losses);
  }
  if (sound) return position;
  return Status::User(fmt::format("the losses in '{}' are not those of a Kafka partition", text));
}

}  // namespace caudal
