#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "connect/filesystem/file_position.h"
#include "connect/filesystem/filesystem_connector.h"
#include "connect/filesystem/partition_path.h"
#include "data/value.h"
#include "format/parquet_writer.h"

namespace caudal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TableColumn Physical(std::string name, Type type) {
  TableColumn column;
  column.name = std::move(name);
  column.type = std::move(type);
  return column;
}

class FilesystemSourceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/caudal-source-XXXXXX";
    folder_ = mkdtemp(name);
    table_.name = "t";
    table_.columns = {Physical("a", Type(TypeId::kInt))};
    table_.options = {{"connector", "filesystem"}, {"path", folder_ + "/in"}, {"format", "json"}};
    std::filesystem::create_directories(folder_ + "/in");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // A finished file, as by rename.
  void Put(const std::string& name, const std::string& text) {
    const std::string path = folder_ + "/in/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    ASSERT_TRUE(*FileSystem::Local()->CreateIfAbsent(path, text));
  }
  std::unique_ptr<Source> MakeSource() {
    ReadRequest request;
    for (size_t i = 0; i < table_.columns.size(); ++i) {
      request.schema.fields.push_back({table_.columns[i].name, table_.columns[i].type});
      request.columns.push_back(static_cast<int>(i));
    }
    for (const Field& field : hidden_) request.schema.fields.push_back(field);
    auto source = connector_.MakeSource(table_, request, {});
    EXPECT_TRUE(source.ok()) << source.status().ToString();
    return source.ok() ? std::move(source).value() : nullptr;
  }
  // What a reader gives next that is not NothingYet: its thread runs when the machine lets it, so what never
  // comes is for the test's own time limit to say.
  static Result<Poll> NextNews(SplitReader* reader) {
    for (;;) {
      auto poll = reader->Next();
      if (!poll.ok() || !std::holds_alternative<NothingYet>(*poll)) return poll;
      std::this_thread::yield();
    }
  }
  struct Read {
    std::vector<std::vector<Value>> rows;
    std::vector<RejectedRecord> rejected;
    Status status;
  };
  // All that one reader gives until it ends or fails; `polls`: at most so many.
  static Read ReadOn(SplitReader* reader, int polls = 1'000'000) {
    Read read;
    for (int i = 0; i < polls; ++i) {
      auto poll = NextNews(reader);
      if (!poll.ok()) {
        read.status = poll.status();
        break;
      }
      if (std::holds_alternative<Finished>(*poll)) break;
      SourceRows& rows = std::get<SourceRows>(*poll);
      for (int32_t r = 0; r < rows.chunk.size(); ++r) {
        std::vector<Value>& values = read.rows.emplace_back();
        for (const ColumnPtr& column : rows.chunk.columns()) {
          values.push_back(ValueAt(*column, rows.chunk.rows()[r]));
        }
      }
      for (RejectedRecord& rejected : rows.rejected) read.rejected.push_back(std::move(rejected));
    }
    return read;
  }
  static std::vector<int64_t> First(const Read& read) {
    std::vector<int64_t> values;
    for (const auto& row : read.rows) values.push_back(std::get<int64_t>(row[0].data));
    return values;
  }

  std::string folder_;
  Table table_;
  std::vector<Field> hidden_;
  FilesystemConnector connector_;
};

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

TEST_F(FilesystemSourceTest, RawIsBigEndianAndUtf8OrSaysSo) {
  table_.options["format"] = "raw";
  table_.options["raw.charset"] = "utf-8";
  table_.options["raw.endianness"] = "big-endian";
  EXPECT_NE(MakeSource(), nullptr);
  table_.options["raw.charset"] = "ISO-8859-1";
  EXPECT_EQ(connector_.MakeSource(table_, {}, {}).status().message(),
            "option 'raw.charset' of table 't': 'ISO-8859-1' is not built yet");
}

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

// Rows were lost in silence here, and whether the loss was counted hung on restarts.
TEST_F(FilesystemSourceTest, AFileThatChangesAfterItIsReadIsReportedLiveAndAfterARestartAlike) {
  const auto changes = [&](const std::string& name) {
    const std::string path = folder_ + "/in/" + name;
    if (name == "appended") std::ofstream(path, std::ios::app) << "{\"a\":9}\n";
    if (name == "completed") std::ofstream(path, std::ios::app) << "9}\n";
    if (name == "replaced" || name == "zlast") {
      std::ofstream(folder_ + "/new") << "{\"a\":7}\n{\"a\":8}\n{\"a\":9}\n";
      std::filesystem::rename(folder_ + "/new", path);
    }
  };
  table_.options["source.monitor-interval"] = "2 ms";
  for (const bool restart : {false, true}) {
    std::filesystem::remove_all(folder_ + "/in");
    std::filesystem::create_directories(folder_ + "/in");
    Put("appended", "{\"a\":1}\n");
    Put("completed", "{\"a\":2}\n{\"a\":");
    Put("replaced", "{\"a\":3}\n");
    Put("untouched", "{\"a\":4}\n");
    Put("zlast", "{\"a\":5}\n");
    auto source = MakeSource();
    auto reader = std::move(source->Open({"0", 0}, "")).value();
    EXPECT_THAT(First(ReadOn(reader.get(), 5)), ElementsAre(1, 2, 3, 4, 5));
    std::vector<std::string> reports;
    for (const std::string name : {"appended", "completed", "replaced", "zlast"}) {
      const Position position = reader->position();
      if (restart) reader.reset();
      changes(name);
      if (restart) reader = std::move(source->Open({"0", 0}, position)).value();
      const Read read = ReadOn(reader.get(), 1);
      EXPECT_TRUE(read.rows.empty());
      for (const RejectedRecord& record : read.rejected)
        reports.push_back(record.error_class + " " + record.raw);
    }
    EXPECT_THAT(reports, ElementsAre("file-changed appended", "file-changed completed",
                                     "file-changed replaced", "file-changed zlast"))
        << restart;
    // Each change once, and nothing is read again.
    Put("zz", "{\"a\":6}\n");
    const Read after = ReadOn(reader.get(), 1);
    EXPECT_THAT(First(after), ElementsAre(6));
    EXPECT_TRUE(after.rejected.empty());
  }
}

TEST_F(FilesystemSourceTest, WhatWasAddedToAHalfReadFileIsAChangeAfterARestart) {
  std::string text;
  for (int i = 0; i < 10'000; ++i) text += "{\"a\":1}\n";
  Put("f", text);
  table_.options["source.monitor-interval"] = "2 ms";
  auto source = MakeSource();
  auto reader = std::move(source->Open({"0", 0}, "")).value();
  size_t rows = ReadOn(reader.get(), 1).rows.size();
  const Position position = reader->position();
  reader.reset();
  std::ofstream(folder_ + "/in/f", std::ios::app) << "{\"a\":9}\n";
  reader = std::move(source->Open({"0", 0}, position)).value();
  rows += ReadOn(reader.get(), 2).rows.size();
  EXPECT_EQ(rows, 10'000u);
  const Read report = ReadOn(reader.get(), 1);
  ASSERT_EQ(report.rejected.size(), 1u);
  EXPECT_EQ(report.rejected[0].error_class, "file-changed");
  EXPECT_EQ(report.rejected[0].message,
            "file '" + folder_ +
                "/in/f' changed after it was read: it had 80000 bytes, now it has "
                "80008; what is new in it is not read");
}

TEST_F(FilesystemSourceTest, WhatIsNoFileIsReportedOnceAndLeftOut) {
  const std::string in = folder_ + "/in/";
  ASSERT_EQ(mkfifo((in + "pipe.json").c_str(), 0644), 0);
  std::filesystem::create_symlink("nothing", in + "dangling.json");
  std::filesystem::create_symlink("circle.json", in + "circle.json");
  std::filesystem::create_directories(in + "folder.json");
  std::filesystem::create_directory_symlink(in, in + "folder.json/back");
  std::filesystem::create_directory_symlink(in, in + "folder.json/again");
  Put("folder.json/a", "{\"a\":1}\n");
  std::filesystem::create_symlink("folder.json/a", in + "z.json");
  table_.options["source.monitor-interval"] = "2 ms";
  auto source = MakeSource();
  auto reader = std::move(source->Open({"0", 0}, "")).value();
  const auto poll = NextNews(reader.get());
  EXPECT_THAT(
      std::get<SourceRows>(*poll).warnings,
      ElementsAre("'" + in + "circle.json' is a link that leads in a circle: it is left out",
                  "'" + in + "dangling.json' is a link to nothing: it is left out",
                  "'" + in + "folder.json/again' is a link to a folder that it stands in: it is left out",
                  "'" + in + "folder.json/back' is a link to a folder that it stands in: it is left out",
                  "'" + in + "pipe.json' is a pipe: it is left out"));
  EXPECT_THAT(First(ReadOn(reader.get(), 2)), ElementsAre(1, 1));
  Put("zz.json", "{\"a\":2}\n");
  const auto next = NextNews(reader.get());
  EXPECT_EQ(std::get<SourceRows>(*next).chunk.size(), 1);
  EXPECT_TRUE(std::get<SourceRows>(*next).warnings.empty());
}

TEST_F(FilesystemSourceTest, AWatchedFolderThatIsNotThereYetIsWaitedFor) {
  table_.options["path"] = folder_ + "/later";
  table_.options["source.monitor-interval"] = "2 ms";
  auto source = MakeSource();
  auto reader = std::move(source->Open({"0", 0}, "")).value();
  const auto poll = NextNews(reader.get());
  EXPECT_THAT(std::get<SourceRows>(*poll).warnings,
              ElementsAre("there is no folder '" + folder_ + "/later' yet: waiting for it"));
  std::filesystem::create_directories(folder_ + "/new");
  std::ofstream(folder_ + "/new/a") << "{\"a\":1}\n";
  std::filesystem::rename(folder_ + "/new", folder_ + "/later");
  EXPECT_THAT(First(ReadOn(reader.get(), 1)), ElementsAre(1));
}

TEST_F(FilesystemSourceTest, AFileThatCannotBeReadIsRejectedByNameAndTheOthersAreRead) {
  Put("a.json.gz", "\x1F\x8B\x08 and so on");
  Put("b.json", "{\"a\":1}\n");
  auto source = MakeSource();
  auto reader = std::move(source->Open({"0", 0}, "")).value();
  const Read read = ReadOn(reader.get());
  EXPECT_TRUE(read.status.ok()) << read.status.ToString();
  EXPECT_THAT(First(read), ElementsAre(1));
  ASSERT_EQ(read.rejected.size(), 1u);
  const RejectedRecord& rejected = read.rejected[0];
  EXPECT_EQ(rejected.error_class, "unreadable-file");
  EXPECT_EQ(rejected.message,
            "file '" + folder_ +
                "/in/a.json.gz' cannot be read: it is compressed with gzip, which cannot be "
                "read yet");
  EXPECT_EQ(rejected.hint, "decompress it, or keep it out of the folder");
  EXPECT_EQ(reader->records_passed(), 2);
  const Read again = ReadOn(source->Open({"0", 0}, reader->position())->get());
  EXPECT_TRUE(again.rejected.empty() && again.rows.empty());
}

TEST_F(FilesystemSourceTest, OldPositionsAreUnderstoodAndNewerOnesRefused) {
  Put("a", "{\"a\":1}\n{\"a\":2}\n");
  const std::string old = "{\"root\":\"" + folder_ +
                          "/in\",\"splits\":1,\"file\":\"a\",\"offset\":8,\"done\":false,"
                          "\"identity\":\"0\",\"listed\":1,\"recent\":[]";
  auto source = MakeSource();
  EXPECT_THAT(First(ReadOn(source->Open({"0", 0}, old + "}")->get())), ElementsAre(2));
  const auto newer = source->Open({"0", 0}, old + ",\"version\":4}");
  EXPECT_THAT(newer.status().message(), HasSubstr("is of version 4, newer than 3"));
}

// Its rows behind the cut were lost in silence, be it cut under the reader or between two runs.
TEST_F(FilesystemSourceTest, AFileThatIsCutWhileItIsReadIsReportedAndTheNextOneRead) {
  constexpr size_t kLine = 80;
  const std::string line = "{\"a\":1" + std::string(kLine - 8, ' ') + "}\n";
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += line;  // more than the thread reads ahead
  for (const char* monitor : {"", "2 ms"}) {
    std::filesystem::remove(folder_ + "/in/f");
    Put("f", text);
    if (monitor[0] != '\0') table_.options["source.monitor-interval"] = monitor;
    auto source = MakeSource();
    auto reader = std::move(source->Open({"0", 0}, "")).value();
    size_t rows = ReadOn(reader.get(), 1).rows.size();
    std::filesystem::resize_file(folder_ + "/in/f", 6'000'004);
    Read read;
    while (read.rejected.empty() && read.status.ok()) {
      read = ReadOn(reader.get(), 1);
      rows += read.rows.size();
    }
    ASSERT_EQ(read.rejected.size(), 1u) << read.status.ToString();
    EXPECT_EQ(read.rejected[0].error_class, "file-changed");
    EXPECT_EQ(read.rejected[0].offset, static_cast<int64_t>(rows * kLine));
    EXPECT_THAT(read.rejected[0].message,
                HasSubstr("/in/f' changed: it was cut to 6000004 bytes when " + std::to_string(rows * kLine) +
                          " of 8000000 bytes were read"));
    const Position position = reader->position();
    reader.reset();
    Put("g", "{\"a\":2}\n");
    const Read after = ReadOn(source->Open({"0", 0}, position)->get(), 1);
    EXPECT_THAT(First(after), ElementsAre(2));
    std::filesystem::remove(folder_ + "/in/g");
  }
}

TEST_F(FilesystemSourceTest, AFileGoneShorterOrReplacedIsToldApart) {
  std::string text;
  for (int i = 0; i < 10'000; ++i) text += "{\"a\":1}\n";
  Put("f", text);
  Put("g", "{\"a\":2}\n");
  const std::string path = folder_ + "/in/f";
  auto source = MakeSource();
  auto reader = std::move(source->Open({"0", 0}, "")).value();
  ASSERT_EQ(ReadOn(reader.get(), 1).rows.size(), 4096u);
  const Position position = reader->position();
  const auto reopened = [&] { return ReadOn(source->Open({"0", 0}, position)->get()); };
  EXPECT_EQ(reopened().rows.size(), 10'001u - 4096);
  const auto message = [&]() -> std::string {
    const Read read = reopened();
    EXPECT_THAT(First(read), ElementsAre(2));  // the next file is read
    if (read.rejected.size() != 1) return read.status.ToString();
    EXPECT_EQ(read.rejected[0].error_class, "file-changed");
    EXPECT_EQ(read.rejected[0].offset, 32768);
    return read.rejected[0].message;
  };
  const std::string changed = "file '" + path + "' changed: it ";
  const std::string when = " when 32768 bytes of it were read; no more of it is read";
  const auto modified = std::filesystem::last_write_time(path);
  std::filesystem::resize_file(path, 40'000);
  EXPECT_EQ(message(), changed + "went from 80000 to 40000 bytes" + when);
  std::filesystem::resize_file(path, 100);
  EXPECT_EQ(message(), changed + "was cut to 100 bytes" + when);
  std::filesystem::rename(path, folder_ + "/elsewhere");
  EXPECT_EQ(message(), changed + "went away" + when);
  Put("f", text);
  EXPECT_EQ(message(), changed + "was replaced by another file" + when);
  // Put back from a copy that kept the time.
  std::filesystem::last_write_time(path, modified);
  EXPECT_EQ(reopened().rows.size(), 10'001u - 4096);
  // Not a file but the folder is gone.
  std::filesystem::remove_all(folder_ + "/in");
  std::filesystem::create_directories(folder_ + "/in");
  const Status gone = reopened().status;
  EXPECT_EQ(gone.domain(), Domain::kData);
  EXPECT_EQ(gone.message(), "it went away when 32768 bytes of it were read");
  EXPECT_THAT(gone.ToString(), HasSubstr("at file 'f'"));
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

TEST_F(FilesystemSourceTest, ARelativePathIsAnotherFolderElsewhere) {
  const std::filesystem::path here = std::filesystem::current_path();
  std::filesystem::create_directories(folder_ + "/b/in");
  Put("f", "{\"a\":1}\n");
  table_.options["path"] = "in";
  std::filesystem::current_path(folder_);
  auto source = MakeSource();
  auto reader = std::move(source->Open({"0", 0}, "")).value();
  EXPECT_THAT(First(ReadOn(reader.get())), ElementsAre(1));
  const Position position = reader->position();
  EXPECT_TRUE(source->Open({"0", 0}, position).ok());
  std::filesystem::current_path(folder_ + "/b");
  EXPECT_THAT(MakeSource()->Open({"0", 0}, position).status().message(),
              HasSubstr("position is in folder '" + folder_ + "/in' with 1 splits, the table reads '" +
                        folder_ + "/b/in'"));
  std::filesystem::current_path(here);
}

TEST_F(FilesystemSourceTest, WhatIsWrongIsSaidBeforeAnythingRuns) {
  ReadRequest request;
  request.schema.fields = {{"a", Type(TypeId::kInt)}};
  request.columns = {0};
  const auto message = [&] { return connector_.MakeSource(table_, request, {}).status().message(); };
  table_.options["path"] = folder_ + "/none";
  EXPECT_EQ(message(), "table 't': there is no file or folder '" + folder_ + "/none'");
  table_.options["path"] = "s3://bucket/x";
  EXPECT_EQ(message(), "table 't': path 's3://bucket/x' is on no local disk");
  table_.options["path"] = folder_;
  table_.options["format"] = "csv";
  EXPECT_EQ(message(), "table 't': format 'csv' is not known here");
  table_.options["format"] = "json";
  table_.options["json.nonsense"] = "1";
  EXPECT_EQ(message(), "unknown option 'json.nonsense' of format 'json'");
  table_.options.erase("json.nonsense");
  auto source = connector_.MakeSource(table_, request, {});
  EXPECT_EQ((*source)->Open({"0", 0}, "{\"rows\":3}").status().domain(), Domain::kUser);
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
