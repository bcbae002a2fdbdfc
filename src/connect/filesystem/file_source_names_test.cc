// Which names are read, by whom and when; names that come too late or belong nowhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "connect/filesystem/file_position.h"
#include "connect/filesystem/partition_path.h"
#include "connect/filesystem/testing/file_source_fixture.h"

namespace caudal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(FilesystemSourceTest, ReadsOnlyFilesWhoseWholePathMatches) {
  Put("a.json", "{\"a\":1}\n");
  Put("a.json.bak", "{\"a\":2}\n");
  Put("sub/b.json", "{\"a\":3}\n");
  table_.options["source.path.regex-pattern"] = folder_ + "/in/.*[.]json";
  auto source = MakeSource();
  auto reader = std::move(source->Open({"0", 0}, "")).value();
  EXPECT_THAT(First(ReadOn(reader.get())), ElementsAre(1, 3));
  table_.options["source.path.regex-pattern"] = "(";
  const Status broken = connector_.MakeSource(table_, {}, {}).status();
  EXPECT_EQ(broken.domain(), Domain::kUser);
  EXPECT_THAT(broken.ToString(), HasSubstr("'source.path.regex-pattern' of table 't'"));
}

TEST_F(FilesystemSourceTest, SplitsShareTheNamesAndEachKeepsTheOrder) {
  table_.options["caudal.source.splits"] = "3";
  std::vector<int64_t> all;
  for (int i = 100; i < 140; ++i) Put("f" + std::to_string(i), "{\"a\":" + std::to_string(i) + "}\n");
  auto source = MakeSource();
  auto splits = source->MakeEnumerator()->Discover();
  ASSERT_EQ(splits->size(), 3u);
  for (const Split& split : *splits) {
    const std::vector<int64_t> values = First(ReadOn(source->Open(split, "")->get()));
    EXPECT_GT(values.size(), 3u);
    EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
    all.insert(all.end(), values.begin(), values.end());
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all.size(), 40u);
  EXPECT_EQ(all.front(), 100);
}

TEST_F(FilesystemSourceTest, AWatchedFolderGivesNewFilesAndReportsThoseThatComeTooLate) {
  table_.options["source.monitor-interval"] = "2 ms";
  auto source = MakeSource();
  EXPECT_FALSE(source->bounded());
  auto reader = std::move(source->Open({"0", 0}, "")).value();
  Put("b", "{\"a\":1}\n");
  EXPECT_THAT(First(ReadOn(reader.get(), 1)), ElementsAre(1));
  Put("d", "{\"a\":2}\n");
  EXPECT_THAT(First(ReadOn(reader.get(), 1)), ElementsAre(2));
  Put("c", "{\"a\":3}\n");
  const Read late = ReadOn(reader.get(), 1);
  EXPECT_TRUE(late.rows.empty());
  ASSERT_EQ(late.rejected.size(), 1u);
  EXPECT_EQ(late.rejected[0].error_class, "out-of-order-file");
  EXPECT_EQ(late.rejected[0].raw, "c");
  EXPECT_THAT(late.rejected[0].message, HasSubstr("/in/c' appeared or changed after 'd'"));
  EXPECT_EQ(late.rejected[0].records, 1);

  // What comes too late while nobody looks is found by the next run, and nothing twice.
  const Position position = reader->position();
  reader.reset();
  Put("a", "{\"a\":4}\n");
  Put("e", "{\"a\":5}\n");
  reader = std::move(source->Open({"0", 0}, position)).value();
  const Read missed = ReadOn(reader.get(), 1);
  ASSERT_EQ(missed.rejected.size(), 1u);
  EXPECT_EQ(missed.rejected[0].raw, "a");
  EXPECT_THAT(First(ReadOn(reader.get(), 1)), ElementsAre(5));
}

// A file that is passed over is counted by its records, and the way out is to rename it.
TEST_F(FilesystemSourceTest, AFileThatComesTooLateStandsForAllItsRecords) {
  Put("d", "{\"a\":1}\n");
  auto source = MakeSource();
  auto reader = std::move(source->Open({"0", 0}, "")).value();
  EXPECT_THAT(First(ReadOn(reader.get())), ElementsAre(1));
  const Position position = reader->position();
  std::string text;
  for (int i = 0; i < 300'000; ++i) text += "{\"a\":2}\n";  // more than a block
  Put("b", text + "{\"a\":");
  Put("c", "");
  std::ofstream(folder_ + "/in/d", std::ios::app) << "{\"a\":8}\n{\"a\":9}\n";
  reader = std::move(source->Open({"0", 0}, position)).value();
  const Read read = ReadOn(reader.get());
  EXPECT_TRUE(read.rows.empty());
  ASSERT_EQ(read.rejected.size(), 2u);
  EXPECT_EQ(read.rejected[0].records, 300'001);
  EXPECT_THAT(read.rejected[0].message, HasSubstr("was read: its 300001 records are passed over"));
  EXPECT_THAT(read.rejected[0].hint, HasSubstr("rename it so that it sorts after 'd'"));
  EXPECT_EQ(read.rejected[1].error_class, "file-changed");
  EXPECT_EQ(read.rejected[1].records, 2);
}

TEST_F(FilesystemSourceTest, AFileInNoPartitionIsRejectedOnceAndStandsForAllItsRecords) {
  table_.columns = {Physical("a", Type(TypeId::kInt)), Physical("d", Type(TypeId::kInt))};
  table_.partition_keys = {1};
  Put("d=1/f", "{\"a\":1}\n");
  Put("d=x/f", "{\"a\":2}\n{\"a\":3}\n");
  Put("stray", "{\"a\":4}\n");
  Put("stray2/f", "{\"a\":5}\n");
  auto source = MakeSource();
  auto reader = std::move(source->Open({"0", 0}, "")).value();
  const Read read = ReadOn(reader.get());
  EXPECT_TRUE(read.status.ok()) << read.status.ToString();
  EXPECT_THAT(First(read), ElementsAre(1));
  ASSERT_EQ(read.rejected.size(), 3u);
  for (const RejectedRecord& record : read.rejected) EXPECT_EQ(record.error_class, "stray-file");
  EXPECT_THAT(read.rejected[0].message, HasSubstr("the folder's value 'x' is not a INT"));
  EXPECT_THAT(read.rejected[0].message, HasSubstr("its 2 records are passed over"));
  EXPECT_EQ(read.rejected[0].records, 2);
  EXPECT_THAT(read.rejected[2].message, HasSubstr("/in/stray2/f' is in no folder 'd=…'"));
  EXPECT_THAT(read.rejected[2].message, HasSubstr("its 1 record is passed over"));
  EXPECT_EQ(reader->records_passed(), 5);
}

// A stray file was found by the record at its very beginning, where there may be a line break instead.
TEST_F(FilesystemSourceTest, AFileInNoPartitionIsSeenHoweverItBegins) {
  table_.columns = {Physical("a", Type(TypeId::kInt)), Physical("d", Type(TypeId::kInt))};
  table_.partition_keys = {1};
  Put("d=1/f", "{\"a\":1}\n");
  Put("d=x/f", "\n{\"a\":2}\n{\"a\":3}\n");
  Put("d=y/f", std::string(3 << 20, '\n') + "{\"a\":4}\n");
  Put("d=z/f", "\n\n");
  auto source = MakeSource();
  auto reader = std::move(source->Open({"0", 0}, "")).value();
  const Read read = ReadOn(reader.get());
  EXPECT_THAT(First(read), ElementsAre(1));
  ASSERT_EQ(read.rejected.size(), 2u) << "nothing is missing of a file without records";
  EXPECT_EQ(read.rejected[0].records, 2);
  EXPECT_EQ(read.rejected[1].records, 1);
  EXPECT_EQ(reader->records_passed(), 4);
  // Not again.
  auto resumed = std::move(source->Open({"0", 0}, reader->position())).value();
  EXPECT_TRUE(ReadOn(resumed.get()).rejected.empty());
  EXPECT_EQ(resumed->records_passed(), 0);
}

// A position whose text lost a byte did not know its own file again.
TEST_F(FilesystemSourceTest, APositionKeepsNamesThatAreNoText) {
  Put("f\xff%.json", "{\"a\":1}\n");
  table_.options["source.monitor-interval"] = "2 ms";
  auto source = MakeSource();
  auto reader = std::move(source->Open({"0", 0}, "")).value();
  EXPECT_THAT(First(ReadOn(reader.get(), 1)), ElementsAre(1));
  const Position position = reader->position();
  EXPECT_EQ(FilePosition::Parse(position)->file, "f\xff%.json");
  reader = std::move(source->Open({"0", 0}, position)).value();
  Put("g", "{\"a\":2}\n");
  EXPECT_THAT(First(ReadOn(reader.get(), 1)), ElementsAre(2));
  // Positions of before have names as they were.
  EXPECT_EQ(FilePosition::Parse(R"({"version":2,"root":"r","splits":1,"file":"a%41","offset":0,)"
                                R"("identity":"0","listed":0})")
                ->file,
            "a%41");
}

// KF-34: odd characters in partition values.
TEST(PartitionPathTest, EscapesAsHiveDoesAndReadsBack) {
  const std::vector<std::pair<std::string, std::string>> values = {{"a", "x/y=z %"}, {"b", "ü\n"}};
  const std::string path = MakePartitionPath(values);
  EXPECT_EQ(path, "a=x%2Fy%3Dz %25/b=ü%0A/");
  EXPECT_EQ(ParsePartitionPath(path + "file"), values);
  EXPECT_EQ(*PartitionValue("__N__", Type(TypeId::kInt), "__N__"), Value());
  EXPECT_FALSE(PartitionValue("x", Type(TypeId::kInt), "__N__").ok());
}

}  // namespace
}  // namespace caudal
