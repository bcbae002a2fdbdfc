#include "connect/blackhole/blackhole_connector.h"

#include <gtest/gtest.h>

#include "api/testing/sink_contract.h"
#include "data/value.h"

namespace caudal {
namespace {

class NoRejects : public SinkRejects {
 public:
  void Reject(const Chunk&, RowSet, std::string) override { FAIL(); }
};

TEST(BlackholeConnectorTest, CountsAddedAndRemovedRowsOfEachEpoch) {
  auto sink = std::move(BlackholeConnector().MakeSink(Table(), {})).value();
  auto writer = std::move(sink->MakeWriter(0)).value();
  const auto kinds =
      RowKindsPtr(new std::vector<RowKind>{RowKind::kInsert, RowKind::kUpdateBefore, RowKind::kUpdateAfter});
  NoRejects rejects;
  const ColumnPtr column = ConstantColumn(Type(TypeId::kInt), Value(int64_t{1}), 3);
  ASSERT_TRUE(writer->Write(Chunk({column}, 3, nullptr, kinds), rejects).ok());
  ASSERT_TRUE(writer->Write(Chunk({column}, 3), rejects).ok());
  const Committable counted = *(*writer->Seal({1, 1}))->Prepare();
  EXPECT_EQ(counted.rows_added, 5);
  EXPECT_EQ(counted.rows_removed, 1);
  EXPECT_EQ((*(*writer->Seal({1, 2}))->Prepare()).rows_added, 0);
}

TEST(BlackholeConnectorTest, KeepsTheContractOfSinks) {
  CheckSinkContract([] {
    SinkUnderTest test;
    test.forks = test.shows = false;
    test.rows = [](int64_t number) {
      return Chunk({ConstantColumn(Type(TypeId::kInt), Value(number), 2)}, 2);
    };
    test.open = [](int64_t) { return BlackholeConnector().MakeSink(Table(), {}); };
    test.contents = [] { return std::string(); };
    return test;
  });
}

}  // namespace
}  // namespace caudal
