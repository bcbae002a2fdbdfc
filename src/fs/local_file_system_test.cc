#include "fs/local_file_system.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <thread>

#include "base/fault_point.h"

namespace caudal {
namespace {

class LocalFileSystemTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/caudal-fs-XXXXXX";
    folder_ = mkdtemp(name);
  }
  void TearDown() override {
    Faults::Disarm();
    std::filesystem::remove_all(folder_);
  }
  std::string Path(const std::string& name) { return folder_ + "/" + name; }

  FileSystem* files_ = FileSystem::Local();
  std::string folder_;
};

TEST_F(LocalFileSystemTest, WrittenBytesAreReadBackWhole) {
  std::string bytes(700'000, 'x');
  bytes[650'000] = 'y';
  auto file = files_->Create(Path("a"));
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE((*file)->Append(std::string_view(bytes).substr(0, 300'000)).ok());
  ASSERT_TRUE((*file)->Append(std::string_view(bytes).substr(300'000)).ok());
  ASSERT_TRUE((*file)->Close().ok());
  ASSERT_TRUE((*file)->Close().ok());
  EXPECT_EQ((*file)->size(), 700'000);
  EXPECT_EQ(*files_->ReadAll(Path("a")), bytes);

  auto opened = files_->Open(Path("a"));
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ((*(*opened)->Read(649'999, 3))->view(), "xyx");
  EXPECT_EQ((*(*opened)->Read(699'999, 100))->view(), "x");
  EXPECT_EQ((*(*opened)->Read(800'000, 100))->view(), "");
}

TEST_F(LocalFileSystemTest, CreateIfAbsentLetsOneOfManyWin) {
  std::atomic<int> winners{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      auto made = files_->CreateIfAbsent(Path("manifest"), "from " + std::to_string(i));
      ASSERT_TRUE(made.ok());
      if (*made) ++winners;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(winners, 1);
  EXPECT_EQ(files_->ReadAll(Path("manifest"))->size(), 6u);
  EXPECT_EQ(files_->List(folder_)->size(), 1u) << "no temporary name is left";
}

TEST_F(LocalFileSystemTest, RenameReplacesAndListSorts) {
  ASSERT_TRUE(*files_->CreateIfAbsent(Path("b"), "1"));
  ASSERT_TRUE(*files_->CreateIfAbsent(Path("a"), "22"));
  ASSERT_TRUE(files_->MakeDirectories(Path("c/d/e")).ok());
  ASSERT_TRUE(files_->MakeDirectories(Path("c/d/e")).ok());
  auto listed = files_->List(folder_);
  ASSERT_EQ(listed->size(), 3u);
  EXPECT_EQ((*listed)[0].path, Path("a"));
  EXPECT_EQ((*listed)[0].size, 2);
  EXPECT_GT((*listed)[0].changed_micros, 0);
  EXPECT_TRUE((*listed)[2].is_directory);
  ASSERT_TRUE(files_->Rename(Path("b"), Path("a")).ok());
  EXPECT_EQ(*files_->ReadAll(Path("a")), "1");
  EXPECT_EQ(files_->List(Path("nothing"))->size(), 0u);
}

TEST_F(LocalFileSystemTest, WhatIsNoFileIsNamedAndNotWaitedFor) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0644), 0);
  ASSERT_EQ(symlink("nothing", Path("dangling").c_str()), 0);
  ASSERT_EQ(symlink("circle", Path("circle").c_str()), 0);
  ASSERT_TRUE(*files_->CreateIfAbsent(Path("file"), "1"));
  ASSERT_EQ(symlink("file", Path("link").c_str()), 0);
  std::map<std::string, std::string> found;
  const auto listed = files_->List(folder_);
  for (const FileInfo& entry : *listed) found[entry.path.substr(folder_.size() + 1)] = entry.unreadable;
  EXPECT_EQ(found, (std::map<std::string, std::string>{{"circle", "a link that leads in a circle"},
                                                       {"dangling", "a link to nothing"},
                                                       {"file", ""},
                                                       {"link", ""},
                                                       {"pipe", "a pipe"}}));
  EXPECT_EQ(files_->Stat(Path("pipe"))->unreadable, "a pipe");
  EXPECT_EQ(files_->Open(Path("pipe")).status().message(),
            "cannot read '" + Path("pipe") + "': it is a pipe, not a file");
  EXPECT_EQ(files_->Open("/dev/null").status().message(),
            "cannot read '/dev/null': it is a device, not a file");
  EXPECT_EQ(*files_->ReadAll(Path("link")), "1");
}

TEST_F(LocalFileSystemTest, ErrorsNameThePathAndWhatToDo) {
  const Status missing = files_->ReadAll(Path("none")).status();
  EXPECT_EQ(missing.message(), "cannot open '" + Path("none") + "': no such file or folder");
  EXPECT_EQ(missing.domain(), Domain::kExternal);
  EXPECT_TRUE(files_->Remove(Path("none")).ok());
  EXPECT_FALSE(*files_->Exists(Path("none")));
  ASSERT_TRUE(*files_->CreateIfAbsent(Path("file"), ""));
  EXPECT_EQ(files_->MakeDirectories(Path("file/x")).message(),
            "cannot make the folder '" + Path("file") + "': a part of the path is not a folder");
  EXPECT_FALSE(files_->Open(folder_).ok());
}

TEST_F(LocalFileSystemTest, AFullDiskIsRetryable) {
  auto file = files_->Create("/dev/full");
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE((*file)->Append("x").ok());
  const Status full = (*file)->Close();
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.message(), "cannot write '/dev/full': no space left on the disk");
  EXPECT_EQ(full.retry(), Retry::kBackoff);
}

TEST_F(LocalFileSystemTest, AFailedWriteGoesOnWhereItStopped) {
  auto file = files_->Create(Path("a"));
  ASSERT_TRUE((*file)->Append("hello ").ok());
  Faults::Arm(FaultPoint::disk_write, FaultAction::kError);
  EXPECT_FALSE((*file)->Close().ok());
  ASSERT_TRUE((*file)->Append("again").ok());
  ASSERT_TRUE((*file)->Close().ok());
  EXPECT_EQ(*files_->ReadAll(Path("a")), "hello again");
}

// Linux tells once that it could not write pages back, and the next sync says that all is well.
TEST_F(LocalFileSystemTest, AFailedSyncIsNeverMadeGoodByAnother) {
  auto file = files_->Create(Path("a"));
  ASSERT_TRUE((*file)->Append("hello").ok());
  Faults::Arm(FaultPoint::disk_sync, FaultAction::kError);
  EXPECT_EQ((*file)->Sync().retry(), Retry::kRestart);
  EXPECT_EQ((*file)->Sync().retry(), Retry::kRestart);
  EXPECT_EQ((*file)->Close().retry(), Retry::kRestart);
}

TEST_F(LocalFileSystemTest, AFailedCreateIfAbsentLeavesNothing) {
  for (FaultPoint point : {FaultPoint::disk_write, FaultPoint::disk_sync, FaultPoint::disk_rename}) {
    Faults::Arm(point, FaultAction::kError);
    EXPECT_FALSE(files_->CreateIfAbsent(Path("m"), "bytes").ok());
    EXPECT_EQ(files_->List(folder_)->size(), 0u);
  }
}

}  // namespace
}  // namespace caudal
