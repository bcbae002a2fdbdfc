#include "connect/kafka/kafka_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connect/kafka/kafka_connector.h"
#include "connect/kafka/sink/kafka_sink_options.h"

namespace caudal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using Mode = KafkaOffsetsSpec::Mode;

Table MakeTable(Options more) {
  Table table;
  table.name = "t";
  TableColumn column;
  column.name = "id";
  column.type = Type(TypeId::kInt);
  table.columns = {column};
  table.options = std::move(more);
  table.options.insert({{"connector", "kafka"},
                        {"topic", "a"},
                        {"format", "json"},
                        {"scan.startup.mode", "earliest-offset"},
                        {"properties.bootstrap.servers", "h:1"}});
  return table;
}

std::string Message(const Table& table) {
  const Status listed = ValidateOptions(KafkaConnector(), table);
  if (!listed.ok()) return listed.ToString();
  const auto options = KafkaTableOptions::From(table);
  return options.ok() ? "no error" : options.status().ToString();
}

TEST(KafkaTableOptions, ReadsListsAndOffsets) {
  const auto options = KafkaTableOptions::From(
      MakeTable({{"topic", " a"},
                 {"scan.startup.mode", "specific-offsets"},
                 {"scan.startup.specific-offsets", "partition:0,offset:42;partition:1,offset:300"},
                 {"scan.bounded.mode", "timestamp"},
                 {"scan.bounded.timestamp-millis", "1000"},
                 {"properties.group.id", "g"},
                 {"properties.fetch.min.bytes", "7"}}));
  ASSERT_TRUE(options.ok()) << options.status().ToString();
  EXPECT_THAT(options->topics, ElementsAre("a"));
  EXPECT_THAT(options->start.offsets, ElementsAre(Pair(0, 42), Pair(1, 300)));
  EXPECT_EQ(options->stop.mode, Mode::kTimestamp);
  EXPECT_EQ(options->stop.timestamp_millis, 1000);
  EXPECT_EQ(options->group, "g");
  EXPECT_EQ(options->properties.at("fetch.min.bytes"), "7");
  EXPECT_FALSE(options->properties.contains("group.id"));
}

TEST(KafkaTableOptions, WhatIsAlwaysSoMayBeSaid) {
  const auto options = KafkaTableOptions::From(MakeTable({{"properties.enable.auto.commit", "false"},
                                                          {"properties.enable.partition.eof", "true"},
                                                          {"scan.startup.mode", "latest-offset"},
                                                          {"caudal.accept-initial-skip", "TRUE"}}));
  ASSERT_TRUE(options.ok()) << options.status().ToString();
  EXPECT_FALSE(options->properties.contains("enable.auto.commit"));
  EXPECT_TRUE(options->accept_initial_skip);
}

TEST(KafkaTableOptions, ALedgerIsATopicOfItsOwn) {
  const auto options = KafkaSinkOptions::From(MakeTable({{"caudal.ledger-topic", "a"}}), false);
  EXPECT_THAT(options.status().ToString(), HasSubstr("'caudal.ledger-topic' is the table's own topic, 'a'"));
}

TEST(KafkaTableOptions, RefusesByName) {
  EXPECT_THAT(Message(MakeTable({{"caudal.topics-left-out", "b"}})),
              HasSubstr("'caudal.topics-left-out' has no effect without 'topic-pattern'"));
  const std::pair<Options, std::string> kCases[] = {
      {{{"json.nix", "x"}}, "unknown option 'json.nix' of format 'json'"},
      {{{"properties.auto.offset.reset", "Earliest"}}, "'properties.auto.offset.reset' is 'Earliest'"},
      {{{"scan.startup.mode", "group-offsets"},
        {"properties.group.id", "g"},
        {"properties.auto.offset.reset", "latest"}},
       "passes over all records that are there"},
      {{{"key.format", "json"}, {"key.json.ignore-parse-errors", "maybe"}}, "'maybe' is not true or false"},
      {{{"format", "protobuf"}}, "format 'protobuf' is not known here"},
      {{{"topic", ""}}, "neither 'topic' nor 'topic-pattern'"},
      {{{"topic-pattern", "b"}}, "both 'topic' and 'topic-pattern'"},
      {{{"topic", ""}, {"topic-pattern", "a(?=b)"}}, "'topic-pattern' is no regular expression"},
      {{{"topic", "a;a"}}, "names a topic twice"},
      {{{"format", ""}}, "no 'format'"},
      {{{"value.format", "json"}}, "both 'format' and 'value.format'"},
      {{{"scan.startup.mode", "soon"}}, "'scan.startup.mode' is 'soon'"},
      {{{"scan.startup.mode", "unbounded"}}, "'scan.startup.mode' is 'unbounded'"},
      {{{"scan.bounded.mode", "earliest-offset"}}, "'scan.bounded.mode' is 'earliest-offset'"},
      {{{"scan.startup.mode", "timestamp"}}, "'scan.startup.timestamp-millis' must be"},
      {{{"scan.startup.timestamp-millis", "5"}}, "has no effect"},
      {{{"scan.startup.mode", "specific-offsets"}, {"scan.startup.specific-offsets", "0:42"}},
       "no offset of a partition"},
      {{{"scan.startup.mode", "specific-offsets"},
        {"topic", "a;b"},
        {"scan.startup.specific-offsets", "partition:0,offset:1"}},
       "specific offsets need one 'topic'"},
      {{{"scan.startup.mode", "latest-offset"}}, "passes over all records"},
      {{{"scan.startup.mode", "group-offsets"}}, "group offsets need 'properties.group.id'"},
      {{{"key.format", "json"}}, "'key.format' needs 'key.fields'"},
      {{{"key.fields", "id"}}, "'key.fields' needs 'key.format'"},
      {{{"key.format", "json"}, {"key.fields", "no"}}, "which is no column"},
      {{{"value.fields-include", "SOME"}}, "'value.fields-include' is 'SOME'"},
      {{{"properties.sasl.jaas.config", "x"}}, "is for Java"},
      {{{"properties.enable.auto.commit", "true"}}, "'properties.enable.auto.commit' is 'true'"},
      {{{"properties.commit.offsets.on.checkpoint", "false"}}, "leave 'properties.group.id' out"},
      {{{"properties.allow.auto.create.topics", "true"}}, "'caudal.create-topic'"},
      {{{"properties.bootstrap.servers", ""}}, "no 'properties.bootstrap.servers'"},
      {{{"caudal.on-data-loss", "go-on"}}, "'caudal.on-data-loss' is 'go-on'"},
      {{{"scan.startup.mod", "timestamp"}}, "did you mean 'scan.startup.mode'"},
  };
  for (const auto& [more, message] : kCases) EXPECT_THAT(Message(MakeTable(more)), HasSubstr(message));
}

}  // namespace
}  // namespace caudal
