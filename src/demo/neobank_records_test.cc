#include "demo/neobank_records.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "demo/neobank_files.h"
#include "demo/neobank_report.h"

namespace caudal {
namespace {

NeobankOptions Options(uint32_t partitions) {
  NeobankOptions options;
  options.events = 30'000;
  options.accounts = 200;
  options.partitions = partitions;
  return options;
}

// As the Java client's own tests have them.
TEST(NeobankRecordsTest, KeysGoWhereKafkasJavaClientPutsThem) {
  constexpr uint32_t kAll = 0x7fffffff;  // keeps the hash whole
  for (const auto& [key, hash] : std::initializer_list<std::pair<const char*, int64_t>>{
           {"21", -973932308},
           {"foobar", -790332482},
           {"a-little-bit-long-string", -985981536},
           {"a-little-bit-longer-string", -1486304829},
           {"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971},
           {"abc", 479470107}}) {
    EXPECT_EQ(NeobankRecords::PartitionOf(key, kAll), static_cast<uint32_t>(hash & 0x7fffffff) % kAll) << key;
  }
}

TEST(NeobankRecordsTest, TheyAreTheLinesOfTheFilesInTheSameOrder) {
  NeobankFiles files(Options(1), nullptr);
  NeobankFile file;
  std::string lines;
  while (files.Next(&file)) lines += file.bytes;
  NeobankRecords records(Options(4), nullptr);
  NeobankRecord record;
  std::string values;
  while (records.Next(&record)) values.append(record.value).append("\n");
  EXPECT_EQ(values, lines);
}

TEST(NeobankRecordsTest, AnAccountStaysInItsPartitionAndOffsetsHaveNoGap) {
  NeobankRecords records(Options(3), nullptr);
  NeobankRecord record;
  std::map<std::string, uint32_t> partitions;
  int named = 0;
  uint64_t next[3] = {};
  for (uint64_t index = 0; records.Next(&record); ++index) {
    EXPECT_EQ(record.index, index);
    EXPECT_EQ(record.offset, next[record.partition]++);
    EXPECT_EQ(partitions.try_emplace(std::string(record.key), record.partition).first->second,
              record.partition);
    named += record.value.find(record.key) != std::string_view::npos ? 1 : 0;
  }
  EXPECT_GT(named, 29'900);  // all but some of the broken ones
  for (uint32_t partition = 0; partition < 3; ++partition) {
    EXPECT_GT(next[partition], 1000u);
    EXPECT_EQ(records.sent(partition), next[partition]);
  }
}

std::string ExpectationOf(uint32_t partitions) {
  NeobankExpectation expectation(Options(partitions));
  NeobankRecords records(Options(partitions), &expectation);
  NeobankRecord record;
  while (records.Next(&record)) {
  }
  return NeobankExpectationJson(&expectation);
}

TEST(NeobankRecordsTest, InOnePartitionTheyAreExpectedToBecomeWhatTheFilesDo) {
  NeobankExpectation expectation(Options(1));
  NeobankFiles files(Options(1), &expectation);
  NeobankFile file;
  while (files.Next(&file)) {
  }
  EXPECT_EQ(ExpectationOf(1), NeobankExpectationJson(&expectation));
  EXPECT_NE(ExpectationOf(4), ExpectationOf(1));  // the clocks are the partitions' own
}

}  // namespace
}  // namespace caudal
