// What of a topic's limits is told before a row is sent. That a broker refuses just that is seen on a real
// one (test/peer/kafka/sink).
#include "connect/kafka/sink/kafka_sink_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connect/kafka/sink/kafka_segment.h"
#include "connect/kafka/testing/kafka_sink_fixture.h"
#include "data/column_builder.h"

namespace caudal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t kNow = 1'700'000'000'000, kHour = 3'600'000;

// Rows whose text is so long and whose time is so far from now; why some were rejected.
std::vector<std::string> Rejected(const KafkaTopicLimits& limits, const std::vector<int64_t>& distances,
                                  size_t size = 1) {
  Table table;
  table.name = "out";
  table.columns = {Named("line", Type::String()), Named("ts", Type::TimestampLtz(3), "timestamp")};
  table.options = {{"connector", "kafka"},
                   {"topic", "out"},
                   {"format", "raw"},
                   {"properties.bootstrap.servers", "nowhere:1"}};
  const KafkaSinkOptions options = KafkaSinkOptions::From(table, false).value();
  ManualEnv env(kNow * 1000);
  KafkaSinkFacts facts;
  facts.SetLimits(limits);
  ConnectorContext context;
  context.files = FileSystem::Local();
  KafkaSinkWriter writer(KafkaEnvelope::Make(table, options).value(), options.max_record_bytes, &facts, &env,
                         std::make_unique<SegmentWriter>(KafkaSegmentForm(options, 0, {}), context, 0));
  ColumnBuilder lines(Type::String()), times(Type::TimestampLtz(3));
  for (const int64_t distance : distances) {
    lines.AppendString(std::string(size, 'x'));
    times.Append((kNow + distance) * 1000);
  }
  RowsRefused rejects;
  const Status status =
      writer.Write(Chunk({lines.Finish(), times.Finish()}, static_cast<int32_t>(distances.size())), rejects);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return rejects.rejected;
}

TEST(KafkaSinkWriter, RejectsTimesThatTheTopicDoesNotTake) {
  KafkaTopicLimits limits;
  EXPECT_THAT(Rejected(limits, {-1000 * kHour, 0, 1000 * kHour}), IsEmpty());
  limits.max_future_millis = kHour;
  EXPECT_THAT(Rejected(limits, {-1000 * kHour, kHour - 60'000, kHour - 59'999, kHour, 2 * kHour}),
              ElementsAre("2: its 'timestamp' is 3540 s ahead, further than the topic takes "
                          "('message.timestamp.after.max.ms' is 3600000)",
                          "3: its 'timestamp' is 3600 s ahead, further than the topic takes "
                          "('message.timestamp.after.max.ms' is 3600000)",
                          "4: its 'timestamp' is 7200 s ahead, further than the topic takes "
                          "('message.timestamp.after.max.ms' is 3600000)"));
  limits.max_past_millis = 1000;
  EXPECT_THAT(Rejected(limits, {-900, -2000}),
              ElementsAre("1: its 'timestamp' is 2 s back, further than the topic takes "
                          "('message.timestamp.before.max.ms' is 1000)"));
}

TEST(KafkaSinkWriter, RejectsRecordsThatTheTopicDoesNotTake) {
  KafkaTopicLimits limits;
  limits.max_batch_bytes = 1100;
  EXPECT_THAT(Rejected(limits, {0}, 1000), IsEmpty());
  EXPECT_THAT(
      Rejected(limits, {0}, 1001),
      ElementsAre("0: its record has 1001 bytes, more than the topic takes ('max.message.bytes' is 1100)"));
}

}  // namespace
}  // namespace caudal
