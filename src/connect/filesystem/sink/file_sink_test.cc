#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include "api/testing/sink_contract.h"
#include "base/fault_point.h"
#include "connect/filesystem/filesystem_connector.h"
#include "data/column_builder.h"
#include "data/value.h"
#include "format/parquet_reader.h"
#include "fs/local_file_system.h"

namespace caudal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class NoRejects : public SinkRejects {
 public:
  void Reject(const Chunk&, RowSet, std::string) override { FAIL(); }
};

class FilesystemSinkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/caudal-sink-XXXXXX";
    folder_ = mkdtemp(name);
    table_.name = "t";
    const auto column = [](std::string name, Type type) {
      TableColumn made;
      made.name = std::move(name);
      made.type = std::move(type);
      return made;
    };
    table_.columns = {column("hour", Type(TypeId::kInt)), column("a", Type(TypeId::kBigInt)),
                      column("s", Type::String())};
    table_.options = {{"connector", "filesystem"}, {"path", folder_ + "/out"}, {"format", "json"}};
    table_.partition_keys = {0};
  }
  void TearDown() override {
    Faults::Disarm();
    std::filesystem::remove_all(folder_);
  }

  std::unique_ptr<Sink> MakeSink(int64_t generation = 1, std::string sink_id = "t/sink/1",
                                 std::string identity = "0123") {
    ConnectorContext context;
    context.query = "p/q";
    context.identity = std::move(identity);
    context.sink = std::move(sink_id);
    context.generation = generation;
    context.env = env_;
    context.files = files_;
    auto sink = connector_.MakeSink(table_, context);
    EXPECT_TRUE(sink.ok()) << sink.status().ToString();
    return sink.ok() ? std::move(sink).value() : nullptr;
  }
  // `rows` rows whose hour is number % hours.
  static Chunk Rows(int64_t first, int rows, int hours) {
    ColumnBuilder hour(Type(TypeId::kInt)), a(Type(TypeId::kBigInt)), s(Type::String());
    for (int64_t i = first; i < first + rows; ++i) {
      if (i % 10 == 9) {
        hour.AppendNull();
      } else {
        hour.Append<int32_t>(static_cast<int32_t>(i % hours));
      }
      a.Append<int64_t>(i);
      s.AppendString("text " + std::to_string(i % 3));
    }
    return Chunk({hour.Finish(), a.Finish(), s.Finish()}, rows);
  }
  // Relative names of all files, hidden ones too, but for the ledgers.
  std::vector<std::string> Files() {
    std::set<std::string> names;
    if (!std::filesystem::exists(folder_ + "/out")) return {};
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ + "/out")) {
      if (entry.is_regular_file() && entry.path().extension() != ".committed")
        names.insert(std::filesystem::relative(entry.path(), folder_ + "/out").string());
    }
    return {names.begin(), names.end()};
  }
  std::string Text(const std::string& name) {
    return *FileSystem::Local()->ReadAll(folder_ + "/out/" + name);
  }
  int64_t ParquetRows() {
    int64_t rows = 0;
    for (const std::string& name : Files()) {
      auto file = FileSystem::Local()->Open(folder_ + "/out/" + name);
      auto reader = ParquetReader::Open(file->get(), name);
      EXPECT_TRUE(reader.ok()) << reader.status().ToString();
      rows += (*reader)->rows();
    }
    return rows;
  }

  std::string folder_;
  Table table_;
  FilesystemConnector connector_;
  NoRejects rejects_;
  Env* env_ = nullptr;
  FileSystem* files_ = nullptr;
};

TEST_F(FilesystemSinkTest, FilesAppearWithTheirEpochOnceHoweverOftenItIsCommitted) {
  auto sink = MakeSink();
  auto writer = std::move(sink->MakeWriter(0)).value();
  ASSERT_TRUE(writer->Write(Rows(0, 10, 2), rejects_).ok());
  auto sealed = std::move(writer->Seal({1, 7})).value();
  auto committable = sealed->Prepare();
  ASSERT_TRUE(committable.ok()) << committable.status().ToString();
  EXPECT_EQ(committable->rows_added, 10);
  for (const std::string& name : Files()) EXPECT_THAT(name, HasSubstr("/.caudal-"));

  // Another process repeats it, with what the manifest kept and nothing else.
  for (int i = 0; i < 3; ++i) {
    auto fresh = MakeSink(1 + i);
    auto other = std::move(fresh->MakeCommitter()).value();
    EXPECT_EQ(other->Commit({1, 7}, std::span(&*committable, 1)).outcome, CommitOutcome::kCommitted);
    ASSERT_TRUE(other->RemoveLeftovers().ok());
    // The number is the same for ever: what a checkpoint began, a later caudal goes on with.
    EXPECT_THAT(Files(), ElementsAre("hour=0/part-97d1ecba0192c3bf-1-7-0-0.json",
                                     "hour=1/part-97d1ecba0192c3bf-1-7-0-1.json",
                                     "hour=__DEFAULT_PARTITION__/part-97d1ecba0192c3bf-1-7-0-2.json"));
  }
  EXPECT_EQ(Text("hour=__DEFAULT_PARTITION__/part-97d1ecba0192c3bf-1-7-0-2.json"),
            "{\"a\":9,\"s\":\"text 0\"}\n");
  EXPECT_EQ(Text("hour=1/part-97d1ecba0192c3bf-1-7-0-1.json").substr(0, 22), "{\"a\":1,\"s\":\"text 1\"}\n{");
}

TEST_F(FilesystemSinkTest, KeepsTheContractOfSinks) {
  for (const char* format : {"json", "parquet"}) {
    table_.options["format"] = format;
    int targets = 0;
    const int cut_short = CheckSinkContract([&] {
      const std::string root = folder_ + "/" + format + std::to_string(targets++);
      Table table = table_;
      table.options["path"] = root;
      SinkUnderTest test;
      test.rows = [](int64_t number) { return Rows(number * 10, 10, 2); };
      test.open = [this, table](int64_t generation) {
        ConnectorContext context;
        context.query = "p/q";
        context.generation = generation;
        return connector_.MakeSink(table, context);
      };
      test.contents = [root] {
        std::set<std::string> files;
        if (!std::filesystem::exists(root)) return std::string();
        for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
          if (!entry.is_regular_file() || entry.path().filename().string().starts_with(".")) continue;
          files.insert(std::filesystem::relative(entry.path(), root).string() + "\n" +
                       *FileSystem::Local()->ReadAll(entry.path()));
        }
        std::string text;
        for (const std::string& file : files) text += file;
        return text;
      };
      return test;
    });
    EXPECT_GT(cut_short, 0) << "a commit is cut short between its renames";
  }
}

TEST_F(FilesystemSinkTest, WhatACrashLeftIsRemovedAndALostEpochIsNamed) {
  auto old_sink = MakeSink(1);
  auto old_writer = std::move(old_sink->MakeWriter(0)).value();
  ASSERT_TRUE(old_writer->Write(Rows(0, 10, 2), rejects_).ok());
  auto zombie = std::move(old_writer->Seal({1, 1})).value();
  auto committable = zombie->Prepare();
  const std::vector<std::string> ours = Files();
  auto foreign_sink = MakeSink(1, "t/sink/2");
  auto foreign = std::move(foreign_sink->MakeWriter(0)).value();
  ASSERT_TRUE(foreign->Write(Rows(0, 1, 1), rejects_).ok());
  auto foreign_sealed = std::move(foreign->Seal({1, 1})).value();
  ASSERT_TRUE(foreign_sealed->Prepare().ok());

  auto sink = MakeSink(2);
  auto committer = std::move(sink->MakeCommitter()).value();
  ASSERT_TRUE(committer->RemoveLeftovers().ok());
  ASSERT_EQ(Files().size(), 1u) << "another sink's files stay";
  EXPECT_THAT(ours, ::testing::Not(::testing::Contains(Files()[0])));
  const CommitResult result = committer->Commit({1, 1}, std::span(&*committable, 1));
  EXPECT_EQ(result.outcome, CommitOutcome::kLost);
  EXPECT_THAT(result.status.message(), HasSubstr("is gone"));
}

TEST_F(FilesystemSinkTest, NoTwoSinksGiveOneName) {
  std::vector<Committable> committables;
  std::vector<std::unique_ptr<Sink>> sinks;
  sinks.push_back(MakeSink(1));
  sinks.push_back(MakeSink(1, "t/sink/2"));             // another INSERT of the statement set
  sinks.push_back(MakeSink(1, "t/sink/1", "another"));  // the same query under a new checkpoint path
  for (size_t i = 0; i < sinks.size(); ++i) {
    auto writer = std::move(sinks[i]->MakeWriter(0)).value();
    ASSERT_TRUE(writer->Write(Rows(static_cast<int64_t>(i), 1, 1), rejects_).ok());
    auto committable = std::move(writer->Seal({1, 1})).value()->Prepare();
    ASSERT_TRUE(committable.ok());
    committables.push_back(*committable);
  }
  EXPECT_EQ(Files().size(), 3u);
  for (size_t i = 0; i < sinks.size(); ++i) {
    auto committer = std::move(sinks[i]->MakeCommitter()).value();
    ASSERT_EQ(committer->Commit({1, 1}, std::span(&committables[i], 1)).outcome, CommitOutcome::kCommitted);
  }
  std::set<std::string> texts;
  for (const std::string& name : Files()) texts.insert(Text(name).substr(0, 6));
  EXPECT_THAT(texts, ElementsAre("{\"a\":0", "{\"a\":1", "{\"a\":2"));
}

TEST_F(FilesystemSinkTest, AFileOfAnotherIsNeverReplacedNorTakenForOurs) {
  auto sink = MakeSink();
  auto writer = std::move(sink->MakeWriter(0)).value();
  ASSERT_TRUE(writer->Write(Rows(0, 1, 1), rejects_).ok());
  auto committable = std::move(writer->Seal({1, 1})).value()->Prepare();
  ASSERT_TRUE(committable.ok());
  const std::string path = folder_ + "/out/hour=0/part-97d1ecba0192c3bf-1-1-0-0.json";
  { std::ofstream(path) << "foreign"; }
  auto committer = std::move(sink->MakeCommitter()).value();
  const CommitResult taken = committer->Commit({1, 1}, std::span(&*committable, 1));
  EXPECT_EQ(taken.outcome, CommitOutcome::kRefused);
  EXPECT_THAT(taken.status.message(), HasSubstr(path + "' is there already"));
  EXPECT_EQ(Text("hour=0/part-97d1ecba0192c3bf-1-1-0-0.json"), "foreign");

  std::filesystem::remove(path);
  EXPECT_EQ(committer->Commit({1, 1}, std::span(&*committable, 1)).outcome, CommitOutcome::kCommitted);
  EXPECT_EQ(committer->Commit({1, 1}, std::span(&*committable, 1)).outcome, CommitOutcome::kCommitted);
  // The recount finds what is not what was prepared.
  std::filesystem::remove(folder_ + "/out/.caudal-97d1ecba0192c3bf.committed");
  { std::ofstream(path) << "foreign"; }
  const CommitResult replaced = committer->Commit({1, 1}, std::span(&*committable, 1));
  EXPECT_EQ(replaced.outcome, CommitOutcome::kLost);
  EXPECT_THAT(replaced.status.message(), HasSubstr("has 7 bytes, and the 1 rows"));
}

TEST_F(FilesystemSinkTest, FinishedFilesMayBeMovedAwayOnceTheirCommitIsNoted) {
  auto sink = MakeSink();
  auto writer = std::move(sink->MakeWriter(0)).value();
  std::vector<Committable> epochs;
  for (int64_t number : {1, 2}) {
    ASSERT_TRUE(writer->Write(Rows(number * 10, 10, 2), rejects_).ok());
    auto committable = std::move(writer->Seal({1, number})).value()->Prepare();
    ASSERT_TRUE(committable.ok());
    epochs.push_back(*committable);
  }
  const auto commit = [&](int64_t generation, Epoch epoch) {
    auto fresh = MakeSink(generation);
    auto committer = std::move(fresh->MakeCommitter()).value();
    return committer->Commit(epoch, std::span(&epochs[static_cast<size_t>(epoch.number - 1)], 1));
  };
  ASSERT_EQ(commit(1, {1, 1}).outcome, CommitOutcome::kCommitted);
  for (const std::string& name : Files()) {
    if (name.find("/part-") != std::string::npos) std::filesystem::remove(folder_ + "/out/" + name);
  }
  // A restart repeats the commit of files that their reader has taken away.
  EXPECT_EQ(commit(2, {1, 1}).outcome, CommitOutcome::kCommitted);
  // What is gone before its own commit is lost, whatever was committed before.
  for (const std::string& name : Files()) std::filesystem::remove(folder_ + "/out/" + name);
  const CommitResult lost = commit(2, {1, 2});
  EXPECT_EQ(lost.outcome, CommitOutcome::kLost);
  EXPECT_THAT(lost.status.message(), HasSubstr("is gone, and so is what it was to become"));
  EXPECT_EQ(lost.status.hint(), "someone removed it before the commit was noted");
  // And a ledger that cannot be read proves nothing.
  { std::ofstream(folder_ + "/out/.caudal-97d1ecba0192c3bf.committed") << "{\"version\": 1"; }
  EXPECT_EQ(commit(2, {1, 1}).outcome, CommitOutcome::kLost);
}

class KeptRejects : public SinkRejects {
 public:
  void Reject(const Chunk&, RowSet rows, std::string message) override {
    count += rows.count;
    last = std::move(message);
  }
  int count = 0;
  std::string last;
};

TEST_F(FilesystemSinkTest, APartitionWithoutAPossibleFolderIsRejectedAndBytesAreKept) {
  table_.columns[0].type = Type::String();
  const std::string odd = "A\xff%41\n";
  ColumnBuilder hour(Type::String()), a(Type(TypeId::kBigInt)), s(Type::String());
  for (const std::string& text : {std::string(300, 'x'), odd, std::string(90, '"')}) {
    hour.AppendString(text);
    a.Append<int64_t>(1);
    s.AppendString("");
  }
  auto sink = MakeSink();
  auto writer = std::move(sink->MakeWriter(0)).value();
  KeptRejects rejects;
  ASSERT_TRUE(writer->Write(Chunk({hour.Finish(), a.Finish(), s.Finish()}, 3), rejects).ok());
  EXPECT_EQ(rejects.count, 2);
  EXPECT_THAT(rejects.last, HasSubstr("has 275 bytes, more than 255"));
  auto committable = (*writer->Seal({1, 1}))->Prepare();
  ASSERT_TRUE(committable.ok()) << committable.status().ToString();
  EXPECT_TRUE(std::ranges::all_of(committable->payload, [](char c) { return c > 0; }));
  auto committer = std::move(sink->MakeCommitter()).value();
  const CommitResult result = committer->Commit({1, 1}, std::span(&*committable, 1));
  EXPECT_EQ(result.outcome, CommitOutcome::kCommitted) << result.status.ToString();
  EXPECT_EQ(Files().size(), 1u);
}

TEST_F(FilesystemSinkTest, AFolderThatCannotBeIsSaidBeforeARowIsRead) {
  table_.options["path"] = "/proc/nope/out";
  EXPECT_THAT(MakeSink()->MakeCommitter().status().message(),
              HasSubstr("cannot make the folder '/proc/nope"));
}

// Whose names are durable by Rename alone.
class ForgetfulFiles : public LocalFileSystem {
 public:
  Status Rename(const std::string& from, const std::string& to) override {
    durable.insert(to);
    return LocalFileSystem::Rename(from, to);
  }
  std::set<std::string> durable;
};

TEST_F(FilesystemSinkTest, ARepeatedCommitMakesTheNamesDurable) {
  ForgetfulFiles files;
  auto sink = MakeSink();
  auto writer = std::move(sink->MakeWriter(0)).value();
  ASSERT_TRUE(writer->Write(Rows(0, 1, 1), rejects_).ok());
  auto committable = (*writer->Seal({1, 1}))->Prepare();
  ASSERT_TRUE(committable.ok());
  files_ = &files;
  for (const bool again : {false, true}) {
    auto other = MakeSink();
    auto committer = std::move(other->MakeCommitter()).value();
    EXPECT_EQ(committer->Commit({1, 1}, std::span(&*committable, 1)).outcome, CommitOutcome::kCommitted);
    EXPECT_EQ(files.durable.contains(folder_ + "/out/" + Files()[0]), again);
  }
}

class CountingFiles : public LocalFileSystem {
 public:
  Result<std::vector<FileInfo>> List(const std::string& path) override {
    ++lists[path];
    return LocalFileSystem::List(path);
  }
  std::map<std::string, int> lists;
};

// A table of years has many folders.
TEST_F(FilesystemSinkTest, AStartLooksIntoEachFolderOnce) {
  auto sink = MakeSink();
  std::vector<Result<Committable>> epochs;
  for (int64_t number : {1, 2}) {
    auto writer = std::move(sink->MakeWriter(static_cast<int>(number))).value();
    ASSERT_TRUE(writer->Write(Rows(0, 9, 3), rejects_).ok());
    epochs.push_back((*writer->Seal({1, number}))->Prepare());
    ASSERT_TRUE(epochs.back().ok());
  }
  CountingFiles files;
  files_ = &files;
  auto again = MakeSink(2);
  auto committer = std::move(again->MakeCommitter()).value();
  EXPECT_EQ(*committer->LastCommitted(), Epoch());
  ASSERT_EQ(committer->Commit({1, 1}, std::span(&*epochs[0], 1)).outcome, CommitOutcome::kCommitted);
  ASSERT_TRUE(committer->RemoveLeftovers().ok());
  EXPECT_EQ(files.lists.size(), 4u);
  for (const auto& [folder, times] : files.lists) EXPECT_EQ(times, 1) << folder;
  EXPECT_EQ(Files().size(), 3u) << "what was never committed is gone";
}

// A checkpoint of before would write the newest epoch twice.
TEST_F(FilesystemSinkTest, TheFolderTellsWhatIsCommitted) {
  auto sink = MakeSink(4);
  auto writer = std::move(sink->MakeWriter(0)).value();
  for (const int64_t number : {9, 10}) {
    ASSERT_TRUE(writer->Write(Rows(number, 5, 2), rejects_).ok());
    auto committable = (*writer->Seal({4, number}))->Prepare();
    ASSERT_TRUE(committable.ok());
    auto named = std::move(sink->MakeCommitter()).value();
    EXPECT_EQ(*named->LastCommitted(), (number == 9 ? Epoch() : Epoch{4, 9}));
    EXPECT_EQ(named->Commit({4, number}, std::span(&*committable, 1)).outcome, CommitOutcome::kCommitted);
  }
  EXPECT_EQ(*sink->MakeCommitter().value()->LastCommitted(), (Epoch{4, 10}));
  for (const auto& entry : std::filesystem::directory_iterator(folder_ + "/out")) {
    if (entry.is_regular_file()) std::filesystem::remove(entry.path());  // the ledger
  }
  EXPECT_EQ(*sink->MakeCommitter().value()->LastCommitted(), (Epoch{4, 10}));
  auto other = MakeSink(5, "t/sink/2");
  EXPECT_EQ(*other->MakeCommitter().value()->LastCommitted(), Epoch());
}

TEST_F(FilesystemSinkTest, ACommitThatFailsInTheMiddleIsFinishedByTheNext) {
  auto sink = MakeSink();
  auto writer = std::move(sink->MakeWriter(0)).value();
  ASSERT_TRUE(writer->Write(Rows(0, 30, 3), rejects_).ok());
  auto sealed = std::move(writer->Seal({1, 1})).value();
  auto committable = sealed->Prepare();
  auto committer = std::move(sink->MakeCommitter()).value();
  Faults::Arm(FaultPoint::disk_rename, FaultAction::kError, 3);
  EXPECT_EQ(committer->Commit({1, 1}, std::span(&*committable, 1)).outcome, CommitOutcome::kUnknown);
  Faults::Disarm();
  EXPECT_EQ(committer->Commit({1, 1}, std::span(&*committable, 1)).outcome, CommitOutcome::kCommitted);
  for (const std::string& name : Files()) EXPECT_THAT(name, HasSubstr("/part-"));
  EXPECT_EQ(Files().size(), 4u);
}

TEST_F(FilesystemSinkTest, AFullDiskCostsTheEpochAPauseNotItsRows) {
  for (const char* format : {"json", "parquet"}) {
    table_.options["format"] = format;
    table_.options["path"] = folder_ + "/out/" + format;
    auto sink = MakeSink();
    auto writer = std::move(sink->MakeWriter(0)).value();
    Faults::Arm(FaultPoint::disk_write, FaultAction::kError, 1, 1'000'000);
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(writer->Write(Rows(i * 4000, 4000, 2), rejects_).ok());
    auto sealed = std::move(writer->Seal({1, 1})).value();
    const Status full = sealed->Prepare().status();
    ASSERT_FALSE(full.ok());
    EXPECT_EQ(full.retry(), Retry::kBackoff);
    ASSERT_TRUE(writer->Write(Rows(0, 10, 2), rejects_).ok());
    Faults::Disarm();
    auto committable = sealed->Prepare();
    ASSERT_TRUE(committable.ok()) << committable.status().ToString();
    EXPECT_EQ(committable->rows_added, 400'000);
  }
}

TEST_F(FilesystemSinkTest, ParquetRollsKeepsFewFilesOpenAndCountsFromTheFooters) {
  table_.options["format"] = "parquet";
  table_.options["caudal.sink.max-open-files"] = "2";
  table_.options["sink.rolling-policy.file-size"] =
      "50kb";  // which so regular rows come to after some row groups
  auto sink = MakeSink();
  auto writer = std::move(sink->MakeWriter(3)).value();
  for (int i = 0; i < 60; ++i)
    ASSERT_TRUE(writer->Write(Rows(i * 4000, 4000, i < 30 ? 1 : 5), rejects_).ok());
  EXPECT_GT(writer->buffered_bytes(), 0);
  auto sealed = std::move(writer->Seal({1, 1})).value();
  EXPECT_EQ(writer->buffered_bytes(), 0);
  auto committable = sealed->Prepare();
  ASSERT_TRUE(committable.ok()) << committable.status().ToString();
  EXPECT_EQ(committable->rows_added, 240'000);
  EXPECT_GT(committable->bytes, 0);
  auto committer = std::move(sink->MakeCommitter()).value();
  ASSERT_EQ(committer->Commit({1, 1}, std::span(&*committable, 1)).outcome, CommitOutcome::kCommitted);
  EXPECT_EQ(ParquetRows(), 240'000);
  EXPECT_GT(Files().size(), 6u);
}

// KF-57: a file for every row or two, open until the epoch, when the rows of many partitions alternate.
TEST_F(FilesystemSinkTest, Kf57ManyPartitionsCostOneFileEachAndBoundedMemory) {
  table_.columns[0].type = Type(TypeId::kBigInt);
  constexpr int kPartitions = 64, kChunks = 8;
  for (const char* format : {"parquet", "json"}) {
    for (const char* buffer : {"64MB", "256kb"}) {
      table_.options["format"] = format;
      table_.options["path"] = folder_ + "/out/" + format + buffer;
      table_.options["caudal.sink.buffer-size"] = buffer;
      const bool tight = std::string(buffer) == "256kb";
      if (tight && std::string(format) == "json") continue;
      auto sink = MakeSink();
      auto writer = std::move(sink->MakeWriter(0)).value();
      const size_t before = Files().size();
      for (int i = 0; i < kChunks; ++i) {
        ColumnBuilder hour(Type(TypeId::kBigInt)), a(Type(TypeId::kBigInt)), s(Type::String());
        for (int64_t row = int64_t{i} * 4096; row < (i + 1) * 4096; ++row) {
          hour.Append<int64_t>(row % kPartitions);
          a.Append<int64_t>(row);
          s.AppendString("a text that is no longer short " + std::to_string(row));
        }
        ASSERT_TRUE(writer->Write(Chunk({hour.Finish(), a.Finish(), s.Finish()}, 4096), rejects_).ok());
        while (writer->full()) std::this_thread::yield();
        // What waits, what is being written, a chunk, and the 32 open files.
        if (tight) {
          EXPECT_LT(writer->buffered_bytes(), 4 << 20);
        }
      }
      auto sealed = std::move(writer->Seal({1, 1})).value();
      auto committable = sealed->Prepare();
      ASSERT_TRUE(committable.ok()) << committable.status().ToString();
      EXPECT_EQ(committable->rows_added, kChunks * 4096);
      const size_t files = Files().size() - before;
      if (tight) {
        EXPECT_LT(files, 10u * kPartitions) << format;
      } else {
        EXPECT_EQ(files, static_cast<size_t>(kPartitions)) << format;
      }
      auto committer = std::move(sink->MakeCommitter()).value();
      ASSERT_EQ(committer->Commit({1, 1}, std::span(&*committable, 1)).outcome, CommitOutcome::kCommitted);
    }
  }
  EXPECT_GT(
      Text("json64MB/hour=63/" +
           std::filesystem::directory_iterator(folder_ + "/out/json64MB/hour=63")->path().filename().string())
          .size(),
      100u * 50);
}

// KF-33: partitions before 1970. KF-34: odd characters and NULL.
TEST_F(FilesystemSinkTest, Kf33Kf34PartitionsOfOldTimesAndOddTextsAreTheirOwnAndReadBack) {
  TableColumn day = table_.columns[0], text = table_.columns[0];
  day.name = "day";
  day.type = Type(TypeId::kDate);
  text.name = "my#text";
  text.type = Type::String();
  table_.columns = {table_.columns[1], day, text};
  table_.partition_keys = {1, 2};
  const std::vector<std::string> texts = {"a/b", "null", "../x", "\xC3\xA9", "( )", "my+text", "a=b%2F"};
  ColumnBuilder a(Type(TypeId::kBigInt)), days(day.type), names(text.type);
  for (size_t i = 0; i < texts.size() + 2; ++i) {
    a.Append<int64_t>(static_cast<int64_t>(i));
    days.Append<int32_t>(-static_cast<int32_t>(i));
    if (i < texts.size()) names.AppendString(texts[i]);
  }
  names.AppendString("");
  names.AppendNull();
  auto sink = MakeSink();
  auto writer = std::move(sink->MakeWriter(0)).value();
  const int rows = static_cast<int>(texts.size()) + 2;
  ASSERT_TRUE(writer->Write(Chunk({a.Finish(), days.Finish(), names.Finish()}, rows), rejects_).ok());
  auto committable = std::move(writer->Seal({1, 1})).value()->Prepare();
  ASSERT_TRUE(committable.ok()) << committable.status().ToString();
  auto committer = std::move(sink->MakeCommitter()).value();
  ASSERT_EQ(committer->Commit({1, 1}, std::span(&*committable, 1)).outcome, CommitOutcome::kCommitted);
  EXPECT_EQ(Files().size(), static_cast<size_t>(rows));
  EXPECT_THAT(Files()[0], HasSubstr("day=1969-12-24/my%23text=__DEFAULT_PARTITION__/"));

  ReadRequest request;
  for (int i = 0; i < 3; ++i) {
    const TableColumn& column = table_.columns[static_cast<size_t>(i)];
    request.schema.fields.push_back({column.name, column.type});
    request.columns.push_back(i);
  }
  auto source = std::move(connector_.MakeSource(table_, request, {})).value();
  auto reader = std::move(source->Open({"0", 0}, "")).value();
  std::map<int64_t, std::vector<Value>> read;
  for (int i = 0; i < 1'000'000; ++i) {
    auto poll = reader->Next();
    ASSERT_TRUE(poll.ok()) << poll.status().ToString();
    if (std::holds_alternative<Finished>(*poll)) break;
    const SourceRows* got = std::get_if<SourceRows>(&*poll);
    if (got == nullptr) continue;
    for (int32_t row = 0; row < got->chunk.size(); ++row) {
      read[std::get<int64_t>(ValueAt(*got->chunk.column(0), row).data)] = {
          ValueAt(*got->chunk.column(1), row), ValueAt(*got->chunk.column(2), row)};
    }
  }
  ASSERT_EQ(read.size(), static_cast<size_t>(rows));
  for (const auto& [number, values] : read) {
    EXPECT_EQ(values[0], Value(-number));
    const size_t i = static_cast<size_t>(number);
    // The empty text has no folder of its own, as in Flink and Hive.
    EXPECT_EQ(values[1], i < texts.size() ? Value(texts[i]) : Value());
  }
}

TEST_F(FilesystemSinkTest, RowsThatWaitForTheirFileOutliveAFullDisk) {
  table_.options["format"] = "parquet";
  table_.options["caudal.sink.max-open-files"] = "2";
  table_.options["caudal.sink.buffer-size"] = "64kb";
  auto sink = MakeSink();
  auto writer = std::move(sink->MakeWriter(0)).value();
  Faults::Arm(FaultPoint::disk_write, FaultAction::kError, 3, 1'000'000);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(writer->Write(Rows(i * 4000, 4000, 50), rejects_).ok());
  auto sealed = std::move(writer->Seal({1, 1})).value();
  EXPECT_FALSE(sealed->Prepare().ok());
  EXPECT_FALSE(sealed->Prepare().ok());
  Faults::Disarm();
  auto committable = sealed->Prepare();
  ASSERT_TRUE(committable.ok()) << committable.status().ToString();
  EXPECT_EQ(committable->rows_added, 80'000);
  // A later epoch may ask again.
  EXPECT_EQ(sealed->Prepare()->payload, committable->payload);
  auto committer = std::move(sink->MakeCommitter()).value();
  ASSERT_EQ(committer->Commit({1, 1}, std::span(&*committable, 1)).outcome, CommitOutcome::kCommitted);
  EXPECT_EQ(ParquetRows(), 80'000);
}

TEST_F(FilesystemSinkTest, APartitionThatGrowsTakesThePlaceOfOneThatRests) {
  table_.options["caudal.sink.max-open-files"] = "1";
  auto sink = MakeSink();
  auto writer = std::move(sink->MakeWriter(0)).value();
  const auto write = [&](int32_t hour, int chunks) {
    for (int i = 0; i < chunks; ++i) {
      ColumnBuilder hours(Type(TypeId::kInt)), a(Type(TypeId::kBigInt)), s(Type::String());
      for (int64_t row = 0; row < 4096; ++row) {
        hours.Append<int32_t>(hour);
        a.Append<int64_t>(row);
        s.AppendString("a text that is no longer short");
      }
      ASSERT_TRUE(writer->Write(Chunk({hours.Finish(), a.Finish(), s.Finish()}, 4096), rejects_).ok());
    }
  };
  for (int32_t hour = 0; hour < 4; ++hour) write(hour, 40);
  EXPECT_LT(writer->buffered_bytes(), 4 << 20);
  auto sealed = std::move(writer->Seal({1, 1})).value();
  auto committable = sealed->Prepare();
  ASSERT_TRUE(committable.ok()) << committable.status().ToString();
  EXPECT_EQ(committable->rows_added, 4 * 40 * 4096);
  EXPECT_EQ(Files().size(), 4u);
}

TEST_F(FilesystemSinkTest, AFileThatIsOpenForLongIsEnded) {
  ManualEnv env(1'000'000);
  env_ = &env;
  table_.options["sink.rolling-policy.rollover-interval"] = "10 s";
  auto sink = MakeSink();
  auto writer = std::move(sink->MakeWriter(0)).value();
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(writer->Write(Rows(i, 1, 1), rejects_).ok());
    env.Advance(6'000'000);
  }
  auto committable = std::move(writer->Seal({1, 1})).value()->Prepare();
  ASSERT_TRUE(committable.ok());
  EXPECT_EQ(committable->rows_added, 4);
  EXPECT_EQ(Files().size(), 2u);
}

TEST_F(FilesystemSinkTest, AnEpochWithoutRowsLeavesNothing) {
  auto sink = MakeSink();
  auto writer = std::move(sink->MakeWriter(0)).value();
  auto sealed = std::move(writer->Seal({1, 1})).value();
  auto committable = sealed->Prepare();
  ASSERT_TRUE(committable.ok());
  EXPECT_EQ(committable->rows_added, 0);
  auto committer = std::move(sink->MakeCommitter()).value();
  EXPECT_EQ(committer->Commit({1, 1}, std::span(&*committable, 1)).outcome, CommitOutcome::kCommitted);
  EXPECT_TRUE(Files().empty());
}

TEST_F(FilesystemSinkTest, WhatCannotBeIsRefused) {
  table_.options["format"] = "raw";
  EXPECT_EQ(connector_.MakeSink(table_, {}).status().message(), "format 'raw' is not known here");
  table_.options["format"] = "json";
  table_.primary_key = {1};
  EXPECT_EQ(connector_.MakeSink(table_, {}).status().message(), "table 't': files have no primary key");
  table_.primary_key = {};
  table_.columns[0].type = Type(TypeId::kDouble);
  EXPECT_EQ(connector_.MakeSink(table_, {}).status().message(),
            "table 't' cannot be PARTITIONED BY 'hour' of type DOUBLE");
}

}  // namespace
}  // namespace caudal
