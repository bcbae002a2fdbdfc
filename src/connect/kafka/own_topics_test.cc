#include "connect/kafka/own_topics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace caudal {
namespace {

using ::testing::HasSubstr;

Table KafkaTable(std::string name, Options more) {
  Table table;
  table.name = std::move(name);
  TableColumn column;
  column.name = "n";
  column.type = Type::String();
  table.columns = {column};
  table.options = std::move(more);
  table.options.insert({{"connector", "kafka"},
                        {"format", "raw"},
                        {"scan.startup.mode", "earliest-offset"},
                        {"properties.bootstrap.servers", "h:1"}});
  return table;
}

// Reads `source`, writes topic 'out' with the ledger 'sums', and keeps dead letters in 'pp.dlq' of h:1.
Status LeaveOut(Options source, std::string* left_out) {
  Plan plan;
  PlanNode scan, sink;
  scan.payload = ScanNode{.table = KafkaTable("source", std::move(source))};
  sink.payload = SinkNode{.table = KafkaTable("out", {{"topic", "out"}, {"caudal.ledger-topic", "sums"}})};
  plan.nodes = {scan, sink};
  plan.dead_letter = DeadLetter{KafkaTable("letters", {{"topic", "pp.dlq"}})};
  Status status = LeaveOutOwnTopics(&plan);
  *left_out = plan.nodes[0].as<ScanNode>()->table.option("caudal.topics-left-out");
  return status;
}

TEST(OwnTopics, APatternLeavesThemOut) {
  std::string left_out;
  EXPECT_TRUE(LeaveOut({{"topic-pattern", "pp.*"}}, &left_out).ok());
  EXPECT_EQ(left_out, "sums;__caudal_ledger;pp.dlq;pp.dlq.handled");
  EXPECT_TRUE(LeaveOut({{"topic-pattern", "pp.*"}, {"caudal.topics-left-out", "pp.old"}}, &left_out).ok());
  EXPECT_EQ(left_out, "pp.old;sums;__caudal_ledger;pp.dlq;pp.dlq.handled");
}

TEST(OwnTopics, WhoNamesThemIsRefused) {
  std::string left_out;
  EXPECT_THAT(LeaveOut({{"topic", "a;pp.dlq"}}, &left_out).ToString(),
              HasSubstr("table 'source' reads topic 'pp.dlq', in which the query's dead letters are kept"));
  EXPECT_THAT(
      LeaveOut({{"topic", "sums"}}, &left_out).ToString(),
      HasSubstr("table 'source' reads topic 'sums', the ledger of table 'out', which the query writes"));
}

TEST(OwnTopics, OthersAreReadAsTheyAre) {
  std::string left_out;
  EXPECT_TRUE(LeaveOut({{"topic", "a"}}, &left_out).ok());
  EXPECT_EQ(left_out, "");
  EXPECT_TRUE(LeaveOut({{"topic", "pp.dlq.handled"}}, &left_out).ok()) << "it does not grow by being read";
  EXPECT_EQ(left_out, "");
  const Options elsewhere = {{"topic", "pp.dlq"}, {"properties.bootstrap.servers", "other:1"}};
  EXPECT_TRUE(LeaveOut(elsewhere, &left_out).ok()) << "a topic of that name in another cluster";
}

}  // namespace
}  // namespace caudal
