#include "connect/kafka/own_topics.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/secret.h"
#include "connect/kafka/kafka_options.h"
#include "connect/kafka/sink/kafka_sink_options.h"

namespace caudal {
namespace {

struct OwnTopic {
  std::string name;
  std::string servers;
  std::string what;   // "in which its dead letters are kept"
  bool grows = true;  // because it is read
};

bool IsKafka(const Table& table) {
  return table.option("connector") == "kafka" || table.option("connector") == "upsert-kafka";
}

// With what secrets stand for, as far as it is known now.
Table Expanded(Table table) {
  for (auto& [key, value] : table.options) {
    Result<std::string> text = Secrets::Expand(value);
    if (text.ok()) value = std::move(text).value();
  }
  return table;
}

// What is wrong with a table is told where it is written or read.
std::vector<OwnTopic> TopicsOf(const Table& table, bool dead_letters) {
  std::vector<OwnTopic> topics;
  if (!IsKafka(table)) return topics;
  const Table expanded = Expanded(table);
  const auto options = KafkaSinkOptions::From(expanded, expanded.option("connector") == "upsert-kafka");
  if (!options.ok()) return topics;
  const std::string servers(expanded.option("properties.bootstrap.servers"));
  topics.push_back({options->ledger_topic, servers,
                    fmt::format("the ledger of table '{}', which the query writes", table.name)});
  if (!dead_letters) return topics;
  topics.push_back({options->topic, servers, "in which the query's dead letters are kept"});
  topics.push_back({options->topic + ".handled", servers, "of the notes on its dead letters", false});
  return topics;
}

std::vector<OwnTopic> TopicsOf(const Plan& plan) {
  std::vector<OwnTopic> topics;
  const auto add = [&](std::vector<OwnTopic> more) {
    std::move(more.begin(), more.end(), std::back_inserter(topics));
  };
  for (const PlanNode& node : plan.nodes) {
    if (const auto* sink = node.as<SinkNode>()) add(TopicsOf(sink->table, false));
  }
  if (plan.dead_letter) add(TopicsOf(plan.dead_letter->table, true));
  return topics;
}

Status LeaveOut(const std::vector<OwnTopic>& own, Table* table) {
  const Table expanded = Expanded(*table);
  const auto options = KafkaTableOptions::From(expanded);
  if (!options.ok()) return Status();
  std::string& left_out = table->options["caudal.topics-left-out"];
  for (const OwnTopic& topic : own) {
    if (topic.servers != expanded.option("properties.bootstrap.servers")) continue;
    const bool named =
        std::find(options->topics.begin(), options->topics.end(), topic.name) != options->topics.end();
    if (named && topic.grows) {
      return Status::User(fmt::format("table '{}' reads topic '{}', {}: it would never come to its end",
                                      table->name, topic.name, topic.what))
          .Hint("let the query read and write different topics");
    }
    left_out += (left_out.empty() ? "" : ";") + topic.name;
  }
  if (left_out.empty() || options->topic_pattern.empty()) table->options.erase("caudal.topics-left-out");
  return Status();
}

}  // namespace

Status LeaveOutOwnTopics(Plan* plan) {
  const std::vector<OwnTopic> own = TopicsOf(*plan);
  if (own.empty()) return Status();
  for (PlanNode& node : plan->nodes) {
    auto* scan = std::get_if<ScanNode>(&node.payload);
    if (scan != nullptr && IsKafka(scan->table)) RETURN_IF_ERROR(LeaveOut(own, &scan->table));
  }
  return Status();
}

}  // namespace caudal
