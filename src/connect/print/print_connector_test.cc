#include "connect/print/print_connector.h"

#include <gtest/gtest.h>

#include "api/testing/sink_contract.h"
#include "data/column_builder.h"
#include "data/value.h"

namespace caudal {
namespace {

class NoRejects : public SinkRejects {
 public:
  void Reject(const Chunk&, RowSet, std::string) override { FAIL(); }
};

TEST(PrintConnectorTest, LinesComeWithTheirEpochAsFlinkWritesThem) {
  char* text = nullptr;
  size_t size = 0;
  std::FILE* out = open_memstream(&text, &size);
  const PrintConnector connector(out);
  Table table;
  table.options = {{"print-identifier", "x"}};
  auto sink = std::move(connector.MakeSink(table, {})).value();
  ColumnBuilder a(Type(TypeId::kInt)), t(Type::Timestamp(3)), d(Type::Decimal(6, 2)),
      b(Type(TypeId::kBoolean));
  a.Append<int32_t>(1);
  a.AppendNull();
  t.Append<int64_t>(1'772'368'496'789'000);
  t.Append<int64_t>(0);
  d.Append<int64_t>(-1050);
  d.Append<int64_t>(7);
  b.Append<uint8_t>(1);
  b.Append<uint8_t>(0);
  const auto kinds = RowKindsPtr(new std::vector<RowKind>{RowKind::kInsert, RowKind::kDelete});
  const Chunk chunk({a.Finish(), t.Finish(), d.Finish(), b.Finish()}, 2, nullptr, kinds);
  NoRejects rejects;
  auto writer = std::move(sink->MakeWriter(1)).value();
  ASSERT_TRUE(writer->Write(chunk, rejects).ok());
  auto sealed = std::move(writer->Seal({1, 1})).value();
  const Committable lines = std::move(sealed->Prepare()).value();
  EXPECT_EQ(lines.rows_added, 1);
  EXPECT_EQ(lines.rows_removed, 1);
  EXPECT_EQ(size, 0u);
  auto committer = std::move(sink->MakeCommitter()).value();
  EXPECT_EQ(committer->Commit({1, 1}, std::span(&lines, 1)).outcome, CommitOutcome::kCommitted);
  EXPECT_EQ(std::string(text, size),
            "x:2> +I[1, 2026-03-01T12:34:56.789, -10.50, true]\n"
            "x:2> -D[null, 1970-01-01T00:00:00, 0.07, false]\n");
  std::fclose(out);
  std::free(text);
}

// "At least once": nothing is printed before its commit; a repeated one prints again.
TEST(PrintConnectorTest, KeepsWhatItPromisesOfTheContractOfSinks) {
  char* text = nullptr;
  size_t size = 0;
  std::FILE* out = open_memstream(&text, &size);
  const PrintConnector connector(out);
  CheckSinkContract([&] {
    SinkUnderTest test;
    test.forks = false;
    test.rows = [](int64_t number) {
      return Chunk({ConstantColumn(Type(TypeId::kInt), Value(number), 2)}, 2);
    };
    test.open = [&connector](int64_t) { return connector.MakeSink(Table(), {}); };
    test.contents = [&] {
      std::fflush(out);
      return std::string(text, size);
    };
    return test;
  });
  std::fclose(out);
  std::free(text);
}

}  // namespace
}  // namespace caudal
