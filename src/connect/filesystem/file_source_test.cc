// What is read, in which order, and where it goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "connect/filesystem/testing/file_source_fixture.h"
#include "format/parquet_writer.h"

namespace caudal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(FilesystemSourceTest, ReadsFilesInTheOrderOfTheirNamesAndLeavesUnfinishedOnesAlone) {
  Put("b.json", "{\"a\":3}\n{\"a\":\n4}\n");
  Put("a.json", "{\"a\":1}\nrubbish\n{\"a\":2}");
  Put(".hidden", "{\"a\":9}\n");
  Put("_tmp/x.json", "{\"a\":9}\n");
  Put("c/d.json", "{\"a\":5}\n");
  auto source = MakeSource();
  EXPECT_TRUE(source->bounded());
  auto splits = source->MakeEnumerator()->Discover();
  ASSERT_EQ(splits->size(), 1u);
  auto reader = source->Open((*splits)[0], "");
  const Read read = ReadOn(reader->get());
  EXPECT_TRUE(read.status.ok());
  EXPECT_THAT(First(read), ElementsAre(1, 2, 3, 4, 5));
  ASSERT_EQ(read.rejected.size(), 1u);
  EXPECT_EQ(read.rejected[0].raw, "rubbish");
  EXPECT_EQ(read.rejected[0].offset, 8);
  EXPECT_EQ(read.rejected[0].error_class, "malformed");
}

TEST_F(FilesystemSourceTest, GoesOnAfterAnyChunk) {
  std::string text;
  std::vector<int64_t> all;
  for (int i = 0; i < 20'000; ++i) {
    text += "{\"a\":" + std::to_string(i) + ", \"padding\": \"" +
            std::string(static_cast<size_t>(i % 200), 'x') + "\"}\n";
    all.push_back(i);
  }
  Put("1.json", text);
  Put("2.json", "{\"a\":20000}\n");
  all.push_back(20000);
  auto source = MakeSource();
  for (int polls = 0; polls < 8; ++polls) {
    auto reader = source->Open({"0", 0}, "");
    Read read = ReadOn(reader->get(), polls);
    std::vector<int64_t> values = First(read);
    const Position position = (*reader)->position();
    auto again = source->Open({"0", 0}, position);
    ASSERT_TRUE(again.ok()) << again.status().ToString();
    const std::vector<int64_t> rest = First(ReadOn(again->get()));
    values.insert(values.end(), rest.begin(), rest.end());
    EXPECT_TRUE(values == all) << polls;
  }
}

TEST_F(FilesystemSourceTest, GivesMetadataPartitionsAndHiddenColumns) {
  Put("day=2026-03-01/kind=a%2Fb/f.json", "{\"a\":1}\n{\"a\":2}\n");
  table_.columns.push_back(Physical("day", Type(TypeId::kDate)));
  table_.columns.push_back(Physical("kind", Type::String()));
  table_.partition_keys = {1, 2};
  TableColumn name = Physical("name", Type::String());
  name.kind = TableColumn::Kind::kMetadata;
  name.metadata_key = "file.name";
  TableColumn offset = Physical("caudal.offset", Type(TypeId::kBigInt));
  offset.kind = TableColumn::Kind::kMetadata;
  table_.columns.push_back(name);
  table_.columns.push_back(offset);
  hidden_ = {{std::string(kSplitColumn), Type(TypeId::kInt)},
             {std::string(kOffsetColumn), Type(TypeId::kBigInt)},
             {std::string(kRawColumn), Type::Bytes()}};
  auto source = MakeSource();
  const Read read = ReadOn(source->Open({"0", 0}, "")->get());
  ASSERT_EQ(read.rows.size(), 2u);
  EXPECT_THAT(read.rows[1], ElementsAre(Value(int64_t{2}), Value(int64_t{20513}), Value(std::string("a/b")),
                                        Value(std::string("f.json")), Value(int64_t{8}), Value(int64_t{0}),
                                        Value(int64_t{8}), Value(std::string("{\"a\":2}"))));
}

TEST_F(FilesystemSourceTest, ReadsParquetAndGoesOnInTheMiddle) {
  Schema schema;
  schema.fields = {{"a", Type(TypeId::kInt)}, {"b", Type::String()}};
  for (const char* name : {"x.parquet", "y.parquet"}) {
    auto file = std::move(FileSystem::Local()->Create(folder_ + "/in/" + name)).value();
    auto writer = std::move(ParquetWriter::Make(schema, {}, file.get())).value();
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(writer
                      ->Append({ConstantColumn(Type(TypeId::kInt), Value(int64_t{i}), 4000),
                                ConstantColumn(Type::String(), Value(std::string("b")), 4000)},
                               {nullptr, 4000})
                      .ok());
    }
    ASSERT_TRUE(writer->Finish().ok());
    ASSERT_TRUE(file->Close().ok());
  }
  table_.options["format"] = "parquet";
  auto source = MakeSource();
  auto whole = std::move(source->Open({"0", 0}, "")).value();
  EXPECT_EQ(ReadOn(whole.get()).rows.size(), 24'000u);
  EXPECT_EQ(whole->records_passed(), 24'000);
  auto reader = std::move(source->Open({"0", 0}, "")).value();
  // A table of other columns does not read them as NULL.
  Table other = table_;
  table_.columns = {Physical("c", Type(TypeId::kInt)), Physical("d", Type(TypeId::kInt))};
  const Read foreign = ReadOn(MakeSource()->Open({"0", 0}, "")->get());
  ASSERT_EQ(foreign.rejected.size(), 2u);
  EXPECT_EQ(foreign.rejected[1].message,
            "file '" + folder_ +
                "/in/y.parquet' cannot be read: it has none of the table's columns 'c', 'd', but 'a', "
                "'b'; 12000 records are passed over");
  table_ = other;
  const size_t first = ReadOn(reader.get(), 4).rows.size();
  EXPECT_EQ(first + ReadOn(source->Open({"0", 0}, reader->position())->get()).rows.size(), 24'000u);
  // One damaged file is told apart from the others.
  std::filesystem::resize_file(folder_ + "/in/x.parquet", 700);
  const Read damaged = ReadOn(source->Open({"0", 0}, "")->get());
  EXPECT_EQ(damaged.rows.size(), 12'000u);
  ASSERT_EQ(damaged.rejected.size(), 1u);
  EXPECT_EQ(damaged.rejected[0].error_class, "unreadable-file");
  EXPECT_THAT(damaged.rejected[0].message, HasSubstr("x.parquet' cannot be read as Parquet"));
}

TEST_F(FilesystemSourceTest, RowsKnowWhereTheyWereReadAndThePositionHowManyRecordsItPassed) {
  Put("a.json", "{\"a\":1}\n{\"a\":2}\n");
  Put("b.json", "{\"a\":3}\nrubbish\n{\"a\":4}\n");
  auto source = MakeSource();
  auto reader = std::move(source->Open({"0", 0}, "")).value();
  SourceRows a = std::get<SourceRows>(*NextNews(reader.get()));
  EXPECT_EQ(a.file, folder_ + "/in/a.json");
  EXPECT_EQ(a.offsets, (std::vector<int64_t>{0, 8}));
  EXPECT_EQ(reader->records_passed(), 2);
  const Position after_a = reader->position();
  SourceRows b = std::get<SourceRows>(*NextNews(reader.get()));
  EXPECT_EQ(b.offsets, (std::vector<int64_t>{0, 8, 16})) << "of a rejected row, too";
  EXPECT_EQ(b.chunk.size() + static_cast<int32_t>(b.rejected.size()), 3);
  EXPECT_EQ(reader->records_passed(), 5);
  // What was passed over by name is told as a rejected record, and counts.
  auto resumed = std::move(source->Open({"0", 0}, after_a)).value();
  EXPECT_EQ(ReadOn(resumed.get()).rows.size(), 2u);
  EXPECT_EQ(resumed->records_passed(), 3);
}

}  // namespace
}  // namespace caudal
