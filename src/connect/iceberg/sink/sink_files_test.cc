// Which files of sinks a commit may still need.
#include "connect/iceberg/sink/sink_files.h"

#include <gtest/gtest.h>

#include "iceberg/commit/pipeline_token.h"

namespace caudal {
namespace {

TEST(SinkFiles, AFileOfANewerEpochThanTheHistoryTellsMayBeCommitted) {
  iceberg::TableMetadata table;
  const std::string known = SinkNumber("0a1b", "job/q", "t/sink/1"),
                    other = SinkNumber("0a1b", "job/q", "t/sink/2");
  table.snapshots = {{.snapshot_id = 7,
                      .sequence_number = 1,
                      .summary = iceberg::TokenSummary({"job/q@0a1b/t/sink/1", 2, 10, ""})}};
  table.current_snapshot_id = 7;
  table.refs["main"] = {.snapshot_id = 7, .type = "branch"};
  for (const auto& [name, may] : {std::pair(known + "-2-10-0-3.parquet", false),
                                  {known + "-1-99-0-3.parquet", false},
                                  {known + "-2-11-0-3.parquet", true},
                                  {known + "-3-1-0-uuid-m0.avro", true},
                                  {"snap-123-2-" + known + "-2-11-0-uuid.avro", true},
                                  {"snap-123-2-" + known + "-2-9-0-uuid.avro", false},
                                  {other + "-1-1-0-0.parquet", true},
                                  // In a store a file has its name before its epoch is known.
                                  {known + "-2_0-00ff00ff00ff00ff.parquet", true},
                                  {known + "-3_12-00ff00ff00ff00ff.parquet", true},
                                  {known + "-1_0-00ff00ff00ff00ff.parquet", false},
                                  {other + "-1_0-00ff00ff00ff00ff.parquet", true},
                                  {known + "-2_", false},
                                  {known + "-2_x-1.parquet", false},
                                  {std::string("00000-0-1b2c.parquet"), false},
                                  {std::string("part-00000.parquet"), false},
                                  {known, false},
                                  {known + "-", false},
                                  {known + "-2", false},
                                  {known + "-2-11", false}}) {
    EXPECT_EQ(MayBeCommitted(table, name), may) << name;
  }
}

}  // namespace
}  // namespace caudal
