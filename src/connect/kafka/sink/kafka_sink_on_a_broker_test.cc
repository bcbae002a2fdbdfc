// What depends on aborted transactions being seen by nobody: make peer-kafka.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "api/testing/sink_contract.h"
#include "base/fault_point.h"
#include "connect/kafka/kafka_producer.h"
#include "connect/kafka/testing/kafka_sink_fixture.h"

namespace caudal {
namespace {

// A real broker at CAUDAL_TEST_KAFKA, where aborted transactions are seen by nobody.
class KafkaSinkOnABroker : public KafkaSinkTest {
 protected:
  void SetUp() override {
    const char* servers = std::getenv("CAUDAL_TEST_KAFKA");
    if (servers == nullptr) GTEST_SKIP() << "wants a broker at CAUDAL_TEST_KAFKA: make peer-kafka";
    KafkaSinkTest::SetUp();
    servers_ = servers;
  }
  void TearDown() override {
    if (broker_ != nullptr) KafkaSinkTest::TearDown();
  }
};

// The ledger is one for all sinks: what a killed run left open of one must not hold up another.
TEST_F(KafkaSinkOnABroker, ATransactionThatAKilledRunLeftOpenHoldsUpNoOtherSink) {
  Table table = Append();
  table.options["caudal.create-topic"] = "true";
  context_.identity = "open-" + std::to_string(getpid());
  const auto first = MakeSink(table);
  const Committable row = Prepare(*first, {1, 1}, Rows({{RowKind::kInsert, "a", 1}}));
  // The broker may have been started just now: the commit is repeated, as by the runtime.
  CommitResult result = Commit(*first, {1, 1}, row);
  for (int again = 0; result.outcome == CommitOutcome::kUnknown && again < 10; ++again) {
    result = Commit(*first, {1, 1}, row);
  }
  ASSERT_EQ(result.outcome, CommitOutcome::kCommitted) << result.status.ToString();
  context_.sink = "features/sink/2";
  const auto second = MakeSink(table);
  const Committable rows = Prepare(*second, {1, 1}, Rows({{RowKind::kInsert, "b", 1}}));
  Faults::Arm(FaultPoint::database_commit, FaultAction::kError);
  EXPECT_EQ(Commit(*second, {1, 1}, rows).outcome, CommitOutcome::kUnknown);
  Faults::Disarm();
  const auto begun = std::chrono::steady_clock::now();
  const Result<Epoch> last = (*first->MakeCommitter())->LastCommitted();
  ASSERT_TRUE(last.ok()) << last.status().ToString();
  EXPECT_EQ(*last, (Epoch{1, 1}));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(10));
  EXPECT_EQ(*(*second->MakeCommitter())->LastCommitted(), Epoch());
  ExpectCommitted(*second, {1, 1}, rows);
}

TEST_F(KafkaSinkOnABroker, KeepsTheContractOfSinks) {
  const std::filesystem::path root =
      std::filesystem::temp_directory_path() / ("caudal-kafka-" + std::to_string(getpid()));
  int targets = 0;
  KafkaConnector append;
  UpsertKafkaConnector upsert;
  for (const bool by_key : {true, false}) {
    const int cut_short = CheckSinkContract([&] {
      const std::string topic = "contract-" + std::to_string(getpid()) + "-" + std::to_string(targets++);
      Table table;
      table.name = "features";
      table.columns = {Named("account", Type::String().WithNullable(false)),
                       Named("n", Type(TypeId::kBigInt))};
      table.options = {{"topic", topic}, {"properties.bootstrap.servers", servers_}};
      if (by_key) {
        table.primary_key = {0};
        table.options.insert(
            {{"connector", "upsert-kafka"}, {"key.format", "raw"}, {"value.format", "json"}});
      } else {
        // A key, as the topic is compacted.
        table.options.insert(
            {{"connector", "kafka"}, {"format", "json"}, {"key.format", "raw"}, {"key.fields", "account"}});
      }
      auto admin = KafkaProducer::Make({{"bootstrap.servers", servers_}}, "");
      EXPECT_TRUE(admin.ok() && (*admin)->MakeCompactedTopic(topic).ok());
      SinkUnderTest test;
      test.rows = [by_key](int64_t number) {
        const std::string account = "a" + std::to_string(number);
        if (!by_key) return Rows({{RowKind::kInsert, account, number}, {RowKind::kInsert, "all", number}});
        return Rows({{RowKind::kInsert, account, number},
                     {RowKind::kUpdateAfter, "all", number},
                     {RowKind::kDelete, "a" + std::to_string(number - 2), number - 2}});
      };
      test.open = [&, table, root, topic](int64_t generation) -> Result<std::unique_ptr<Sink>> {
        ConnectorContext context;
        context.files = FileSystem::Local();
        context.query = "bank/features";
        context.identity = topic;
        context.sink = "features/sink/1";
        context.segment_dir = root / topic;
        context.generation = generation;
        return by_key ? upsert.MakeSink(table, context) : append.MakeSink(table, context);
      };
      test.contents = [servers = servers_, topic] {
        std::string text;
        for (const std::string& record : Contents(servers, topic)) text += record + "\n";
        return text;
      };
      return test;
    });
    EXPECT_GT(cut_short, 0) << "a process dies before its transaction is committed";
  }
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace caudal
