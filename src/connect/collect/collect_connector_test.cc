#include "connect/collect/collect_connector.h"

#include <gtest/gtest.h>

#include "api/testing/sink_contract.h"

namespace caudal {
namespace {

class NoRejects : public SinkRejects {
 public:
  void Reject(const Chunk&, RowSet, std::string) override { FAIL(); }
};

TEST(CollectConnectorTest, KeepsTheContractOfSinks) {
  CollectRegistry registry;
  const CollectConnector connector(&registry);
  int targets = 0;
  CheckSinkContract([&] {
    Table table;
    table.name = "t" + std::to_string(targets++);
    SinkUnderTest test;
    test.forks = false;
    test.rows = [](int64_t number) {
      return Chunk({ConstantColumn(Type(TypeId::kInt), Value(number), 2)}, 2);
    };
    test.open = [&connector, table](int64_t) { return connector.MakeSink(table, {}); };
    test.contents = [&registry, name = table.name] {
      std::string text;
      for (const Change& change : registry.Get(name)->Committed()) {
        text += std::to_string(std::get<int64_t>(change.values[0].data)) + " ";
      }
      return text;
    };
    return test;
  });
}

TEST(CollectConnectorTest, ShowsAnEpochOnceHoweverOftenItIsCommitted) {
  CollectRegistry registry;
  const CollectConnector connector(&registry);
  Table table;
  table.name = "t";
  auto sink = connector.MakeSink(table, {});
  ASSERT_TRUE(sink.ok());
  auto writer = (*sink)->MakeWriter(0);
  auto committer = (*sink)->MakeCommitter();
  NoRejects rejects;
  const Chunk chunk({ConstantColumn(Type(TypeId::kInt), Value(int64_t{7}), 3)}, 3);
  ASSERT_TRUE((*writer)->Write(chunk, rejects).ok());
  auto sealed = (*writer)->Seal({1, 1});
  auto committable = (*sealed)->Prepare();
  ASSERT_TRUE(committable.ok());
  EXPECT_EQ(committable->rows_added, 3);
  EXPECT_EQ(registry.Get("t")->committed_count(), 0u);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ((*committer)->Commit({1, 1}, std::span(&*committable, 1)).outcome, CommitOutcome::kCommitted);
    EXPECT_EQ(registry.Get("t")->committed_count(), 3u);
  }
  EXPECT_EQ((*(*committer)->LastCommitted()).number, 1);
  auto other = (*writer)->Seal({1, 2});
  auto dropped = (*other)->Prepare();
  ASSERT_TRUE((*committer)->RemoveLeftovers().ok());
  EXPECT_EQ((*committer)->Commit({1, 2}, std::span(&*dropped, 1)).outcome, CommitOutcome::kLost);
}

}  // namespace
}  // namespace caudal
