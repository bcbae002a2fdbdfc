// The simulation's own targets pass the test that every sink passes.
#include "api/testing/sink_contract.h"

#include <algorithm>

#include "data/column_builder.h"
#include "run/simulation/simulated_sink.h"
#include "run/simulation/simulated_world.h"

namespace caudal {
namespace {

Chunk FourNumbers(int64_t number) {
  std::vector<ColumnPtr> columns;
  for (int column = 0; column < 4; ++column) {
    ColumnBuilder builder(Type(TypeId::kBigInt));
    for (int64_t row = 0; row < 3; ++row) builder.Append(number * 100 + row * 10 + column);
    columns.push_back(builder.Finish());
  }
  return Chunk(std::move(columns), 3);
}

std::string Text(std::vector<SimulatedRow> rows) {
  std::sort(rows.begin(), rows.end());
  return RowBytes(rows);
}

class SimulatedTargets : public ::testing::Test {
 protected:
  SinkUnderTest Test(const Connector* connector) {
    Faults::Disarm();
    SinkUnderTest test;
    test.forks = false;
    test.rows = FourNumbers;
    test.open = [this, connector](int64_t generation) {
      ConnectorContext context;
      context.env = &world_.env();
      context.files = &world_.files();
      context.generation = generation;
      context.segment_dir = "segments";
      EXPECT_TRUE(world_.files().MakeDirectories("segments").ok());
      EXPECT_TRUE(world_.files().MakeDirectories(kSimulatedFolder).ok());
      Table table;
      table.name = "rows";
      return connector->MakeSink(table, context);
    };
    return test;
  }

  SimulatedWorld world_{42, /*reliable=*/true};
};

TEST_F(SimulatedTargets, TheLedgerKeepsTheContract) {
  SimulatedLedgerConnector connector(&world_);
  SinkUnderTest test = Test(&connector);
  test.contents = [this] { return Text(world_.table("rows").rows); };
  CheckSinkContract(test);
}

TEST_F(SimulatedTargets, TheFilesKeepTheContract) {
  SimulatedFilesConnector connector(&world_);
  SinkUnderTest test = Test(&connector);
  test.contents = [this] { return Text(world_.FileRows()); };
  CheckSinkContract(test);
}

}  // namespace
}  // namespace caudal
