#include "connect/kafka/kafka_splits.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

namespace caudal {
namespace {

constexpr int kSplitsVersion = 1;
// A slow broker is no outage: questions come each 10 s and wait for seconds.
constexpr int kQuestionsOfOutage = 2;

}  // namespace

std::string KafkaSplit::SplitId(const KafkaPartitionId& partition) {
  return fmt::format("{}[{}]", partition.topic, partition.partition);
}

void KafkaSplits::SetCluster(const std::string& id) {
  std::lock_guard lock(mutex_);
  cluster_ = id;
}

void KafkaSplits::SetTopicId(const std::string& topic, const std::string& id) {
  std::lock_guard lock(mutex_);
  topic_ids_[topic] = id;
}

void KafkaSplits::Add(std::vector<KafkaSplit> splits) {
  std::lock_guard lock(mutex_);
  for (KafkaSplit& split : splits) {
    std::string id = split.id();
    splits_.emplace(std::move(id), std::move(split));
  }
}

std::string KafkaSplits::cluster() const {
  std::lock_guard lock(mutex_);
  return cluster_;
}

std::string KafkaSplits::topic_id(const std::string& topic) const {
  std::lock_guard lock(mutex_);
  const auto found = topic_ids_.find(topic);
  return found == topic_ids_.end() ? "" : found->second;
}

bool KafkaSplits::knows(const std::string& topic) const {
  std::lock_guard lock(mutex_);
  return std::any_of(splits_.begin(), splits_.end(),
                     [&](const auto& each) { return each.second.partition.topic == topic; });
}

std::optional<KafkaSplit> KafkaSplits::Find(const std::string& id) const {
  std::lock_guard lock(mutex_);
  const auto found = splits_.find(id);
  if (found == splits_.end()) return std::nullopt;
  return found->second;
}

std::vector<KafkaSplit> KafkaSplits::OfTopic(const std::string& topic) const {
  std::lock_guard lock(mutex_);
  std::vector<KafkaSplit> found;
  for (const auto& [id, split] : splits_) {
    if (split.partition.topic == topic) found.push_back(split);
  }
  return found;
}

void KafkaSplits::Replace(KafkaSplit split) {
  std::lock_guard lock(mutex_);
  std::string id = split.id();
  splits_.insert_or_assign(std::move(id), std::move(split));
}

std::vector<KafkaPartitionId> KafkaSplits::partitions() const {
  std::lock_guard lock(mutex_);
  std::vector<KafkaPartitionId> partitions;
  for (const auto& [id, split] : splits_) partitions.push_back(split.partition);
  return partitions;
}

std::vector<std::string> KafkaSplits::topics() const {
  std::set<std::string> names;
  for (KafkaPartitionId& partition : partitions()) names.insert(std::move(partition.topic));
  return {names.begin(), names.end()};
}

void KafkaSplits::SetEnd(const KafkaPartitionId& partition, int64_t end) {
  std::lock_guard lock(mutex_);
  ends_[partition] = end;
}

int64_t KafkaSplits::end(const KafkaPartitionId& partition) const {
  std::lock_guard lock(mutex_);
  const auto found = ends_.find(partition);
  return found == ends_.end() ? -1 : found->second;
}

void KafkaSplits::NoteNoAnswer(const KafkaPartitionId& partition, const Status& why) {
  std::lock_guard lock(mutex_);
  Silence& silence = silent_[partition];
  if (++silence.questions <= kQuestionsOfOutage) silence.why = why;
}

void KafkaSplits::NoteAnswer(const KafkaPartitionId& partition) {
  std::lock_guard lock(mutex_);
  silent_.erase(partition);
}

Status KafkaSplits::outage(const KafkaPartitionId& partition) const {
  std::lock_guard lock(mutex_);
  const auto found = silent_.find(partition);
  if (found == silent_.end() || found->second.questions < kQuestionsOfOutage) return Status();
  return found->second.why;
}

bool KafkaSplits::answers(const KafkaPartitionId& partition) const {
  std::lock_guard lock(mutex_);
  return !silent_.contains(partition);
}

size_t KafkaSplits::size() const {
  std::lock_guard lock(mutex_);
  return splits_.size();
}

std::string KafkaSplits::ToJson() const {
  std::lock_guard lock(mutex_);
  nlohmann::json partitions = nlohmann::json::array();
  for (const auto& [id, split] : splits_) {
    partitions.push_back(
        {split.partition.topic, split.partition.partition, split.ordinal, split.start, split.stop});
  }
  const nlohmann::json json = {{"version", kSplitsVersion},
                               {"cluster", cluster_},
                               {"topics", topic_ids_},
                               {"partitions", std::move(partitions)}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Status KafkaSplits::FromJson(std::string_view text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  const auto has = [&](const char* key, auto type) { return json.contains(key) && json[key].type() == type; };
  using Kind = nlohmann::json::value_t;
  Status wrong =
      Status::User(fmt::format("'{}' are not the partitions of a Kafka source", text.substr(0, 200)));
  if (!json.is_object() || !json.contains("version") || !json["version"].is_number_integer() ||
      !has("cluster", Kind::string) || !has("topics", Kind::object) || !has("partitions", Kind::array)) {
    return wrong;
  }
  if (json["version"] > kSplitsVersion) {
    return Status::User(fmt::format("the partitions are of version {}, newer than {}", json["version"].dump(),
                                    kSplitsVersion))
        .Hint("use the caudal that wrote the checkpoint");
  }
  std::lock_guard lock(mutex_);
  cluster_ = json["cluster"].get<std::string>();
  for (const auto& [topic, id] : json["topics"].items()) {
    if (!id.is_string()) return wrong;
    topic_ids_[topic] = id.get<std::string>();
  }
  for (const nlohmann::json& entry : json["partitions"]) {
    bool sound = entry.is_array() && entry.size() == 5 && entry[0].is_string();
    for (size_t i = 1; sound && i < 5; ++i) sound = entry[i].is_number_integer();
    if (!sound) return wrong;
    KafkaSplit split{{entry[0].get<std::string>(), entry[1].get<int32_t>()},
                     entry[2].get<int>(),
                     entry[3].get<int64_t>(),
                     entry[4].get<int64_t>()};
    std::string id = split.id();
    splits_.emplace(std::move(id), std::move(split));
  }
  return Status();
}

}  // namespace caudal
