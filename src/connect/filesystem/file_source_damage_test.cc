// Files that change, shrink, go away or cannot be read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "connect/filesystem/testing/file_source_fixture.h"

namespace caudal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

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

}  // namespace
}  // namespace caudal
