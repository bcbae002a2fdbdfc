// The simulation's own targets, the fakes of SQLite and of a file system, pass the test that the real ones
// pass.
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
  // A target in a world of its own.
  SimulatedWorld& NewWorld() {
    worlds_.push_back(std::make_unique<SimulatedWorld>(42, /*reliable=*/true));
    Faults::Disarm();
    return *worlds_.back();
  }
  static SinkUnderTest Test(SimulatedWorld* world, const Connector* connector) {
    SinkUnderTest test;
    test.forks = false;
    test.rows = FourNumbers;
    test.open = [world, connector](int64_t generation) {
      ConnectorContext context;
      context.env = &world->env();
      context.files = &world->files();
      context.generation = generation;
      context.segment_dir = "segments";
      EXPECT_TRUE(world->files().MakeDirectories("segments").ok());
      EXPECT_TRUE(world->files().MakeDirectories(kSimulatedFolder).ok());
      Table table;
      table.name = "rows";
      return connector->MakeSink(table, context);
    };
    return test;
  }

  const Connector* Own(Connector* connector) {
    connectors_.emplace_back(connector);
    return connector;
  }

  std::vector<std::unique_ptr<SimulatedWorld>> worlds_;
  std::vector<std::unique_ptr<Connector>> connectors_;
};

TEST_F(SimulatedTargets, TheLedgerKeepsTheContract) {
  EXPECT_GT(CheckSinkContract([this] {
              SimulatedWorld* world = &NewWorld();
              SinkUnderTest test = Test(world, Own(new SimulatedLedgerConnector(world)));
              test.contents = [world] { return Text(world->table("rows").rows); };
              return test;
            }),
            0);
}

TEST_F(SimulatedTargets, TheFilesKeepTheContract) {
  EXPECT_GT(CheckSinkContract([this] {
              SimulatedWorld* world = &NewWorld();
              SinkUnderTest test = Test(world, Own(new SimulatedFilesConnector(world)));
              test.contents = [world] { return Text(world->FileRows()); };
              return test;
            }),
            0);
}

}  // namespace
}  // namespace caudal
