#include "connect/kafka/client/kafka_statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace caudal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(KafkaStatistics, TellsOfPartitionsWhoseLeaderIsInReach) {
  EXPECT_THAT(SinceHeardMicros(R"({"brokers": {
    "a:9092/1": {"nodeid": 1, "state": "UP", "rxidle": 40000},
    "a:9092/2": {"nodeid": 2, "state": "DOWN", "rxidle": 900},
    "a:9092/bootstrap": {"nodeid": -1, "state": "UP", "rxidle": 5}},
  "topics": {"t": {"partitions": {
    "0": {"partition": 0, "leader": 1, "fetch_state": "active"},
    "1": {"partition": 1, "leader": 2, "fetch_state": "active"},
    "2": {"partition": 2, "leader": 1, "fetch_state": "validate-epoch-wait"},
    "3": {"partition": 3, "leader": -1, "fetch_state": "active"},
    "-1": {"partition": -1, "leader": -1, "fetch_state": "none"}}}}})"),
              ElementsAre(Pair(KafkaPartitionId{"t", 0}, 40000)));
}

TEST(KafkaStatistics, WhatIsNotUnderstoodIsLeftOut) {
  for (const char* json : {"", "[]", "{", R"({"brokers": 1})", R"({"topics": {"t": []}})",
                           R"({"topics": {"t": {"partitions": {"0": 7}}}})"}) {
    EXPECT_THAT(SinceHeardMicros(json), IsEmpty()) << json;
  }
}

}  // namespace
}  // namespace caudal
