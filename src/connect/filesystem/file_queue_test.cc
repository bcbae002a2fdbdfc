#include "connect/filesystem/file_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "fs/local_file_system.h"
#include "fs/memory_file_system.h"
#include "fs/scheme_file_system.h"

namespace caudal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A folder whose next look misses one name, as readdir may that runs while names are made.
class RacingFiles : public LocalFileSystem {
 public:
  Result<std::vector<FileInfo>> List(const std::string& path) override {
    ASSIGN_OR_RETURN(std::vector<FileInfo> found, LocalFileSystem::List(path));
    std::erase_if(found, [&](const FileInfo& file) { return file.path == path + "/" + missed; });
    missed.clear();
    return found;
  }
  std::string missed = "none";
};

class FileQueueTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/caudal-queue-XXXXXX";
    folder_ = mkdtemp(name);
    std::filesystem::create_directories(folder_ + "/in");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void Put(const std::string& path) { std::ofstream(folder_ + "/" + path) << "x"; }
  FilePosition Start() const {
    FilePosition position;
    position.root = folder_ + "/in";
    return position;
  }
  FileQueue Open(FilePosition position) {
    return FileQueue(&files_, &env_, 0, true, true, std::move(position));
  }
  // Looks until none is held back, and reads what that gives, as a task notes it.
  std::vector<std::string> Read(FileQueue* queue, FilePosition* position) {
    std::vector<std::string> names;
    do {
      EXPECT_TRUE(queue->List().ok());
      for (const ListedFile& late : queue->TakeLate()) names.push_back("late " + late.name);
      position->listed_micros = queue->listing().micros;
      position->recent = queue->listing().recent;
      position->passed = queue->listing().passed;
      while (const std::optional<ListedFile> file = queue->Next()) {
        names.push_back(file->name);
        const FileVersion version{file->name, file->info.size, file->info.modified_micros};
        queue->NoteRead(version);
        position->file = file->name;
        position->done = true;
        position->Remember(version);
        position->passed.Add(file->name);
      }
    } while (queue->holds_back());
    return names;
  }
  std::vector<std::string> Again(FilePosition position) {
    position = *FilePosition::Parse(position.ToJson());
    FileQueue queue = Open(position);
    return Read(&queue, &position);
  }

  std::string folder_;
  RacingFiles files_;
  ManualEnv env_{Env::Real()->NowMicros()};
};

TEST_F(FileQueueTest, ALookThatMissesANameDoesNotMakeItLate) {
  FilePosition position = Start();
  FileQueue queue = Open(position);
  Put("in/f1");
  Put("in/f2");
  files_.missed = "f1";
  ASSERT_TRUE(queue.List().ok());
  EXPECT_EQ(queue.Next(), std::nullopt);
  EXPECT_TRUE(queue.holds_back());
  EXPECT_EQ(queue.waiting_files(), 1);
  EXPECT_THAT(Read(&queue, &position), ElementsAre("f1", "f2"));
}

TEST_F(FileQueueTest, OldNamesWaitForNoSecondLook) {
  Put("in/f1");
  Put("in/f2");
  env_.Advance(80'000);
  FileQueue queue = Open(Start());
  ASSERT_TRUE(queue.List().ok());
  EXPECT_EQ(queue.Next()->name, "f1");
  EXPECT_EQ(queue.Next()->name, "f2");
}

// A store cuts times to seconds, and an upload has that of its begin.
class RacingStore : public SchemeFileSystem {
 public:
  explicit RacingStore(Env* env) : SchemeFileSystem(&memory_, {{"s3", &memory_}}), memory_(env) {}
  Result<std::vector<FileInfo>> List(const std::string& path) override {
    ASSIGN_OR_RETURN(std::vector<FileInfo> found, memory_.List(path));
    std::erase_if(found, [&](const FileInfo& file) { return file.path == path + "/" + missed; });
    missed.clear();
    return found;
  }
  std::string missed = "none";

 private:
  MemoryFileSystem memory_;
};

TEST_F(FileQueueTest, InAStoreEachNewNameWaitsHoweverOldItsFile) {
  RacingStore store(&env_);
  ASSERT_TRUE(store.MakeDirectories("s3://b/in").ok());
  FilePosition start;
  start.root = "s3://b/in";
  FileQueue queue(&store, &env_, 0, true, true, start);
  ASSERT_TRUE(queue.List().ok());
  for (const char* name : {"f1", "f2"})
    ASSERT_TRUE(*store.CreateIfAbsent(std::string("s3://b/in/") + name, "x"));
  env_.Advance(5'000'000);
  store.missed = "f1";
  ASSERT_TRUE(queue.List().ok());
  EXPECT_EQ(queue.Next(), std::nullopt);
  EXPECT_TRUE(queue.holds_back());
  ASSERT_TRUE(queue.List().ok());
  EXPECT_EQ(queue.Next()->name, "f1");
  EXPECT_EQ(queue.Next()->name, "f2");
  EXPECT_TRUE(queue.TakeLate().empty());
}

// Each came while nobody looked, with an old time of its own.
TEST_F(FileQueueTest, WhatAppearsUnderAnOldTimeWhileTheQueryIsStoppedIsLate) {
  Put("old");
  std::filesystem::create_directories(folder_ + "/made/sub");
  Put("made/sub/1");
  Put("made/sub/2");
  Put("in/p1");
  Put("in/p2");
  env_.Advance(80'000);
  FilePosition position = Start();
  FileQueue queue = Open(position);
  EXPECT_THAT(Read(&queue, &position), ElementsAre("p1", "p2"));
  EXPECT_THAT(Again(position), IsEmpty());

  std::filesystem::rename(folder_ + "/made", folder_ + "/in/made");
  EXPECT_THAT(Again(position), ElementsAre("late made/sub/1", "late made/sub/2"));
  std::filesystem::rename(folder_ + "/in/made", folder_ + "/made");
  std::filesystem::create_symlink(folder_ + "/old", folder_ + "/in/link");
  EXPECT_THAT(Again(position), ElementsAre("late link"));
  std::filesystem::remove(folder_ + "/in/link");
  EXPECT_THAT(Again(position), IsEmpty());
}

TEST_F(FileQueueTest, AClockThatWasSetBackHidesNoLateFile) {
  Put("in/p1");
  Put("in/p2");
  FilePosition position = Start();
  FileQueue queue = Open(position);
  EXPECT_THAT(Read(&queue, &position), ElementsAre("p1", "p2"));
  position.listed_micros += 3'600'000'000;
  position.read.clear();  // as after many more files
  Put("in/a");
  EXPECT_THAT(Again(position), ElementsAre("late a"));
  Put("in/b");
  EXPECT_THAT(Again(position), ElementsAre("late a", "late b"));
  // A file that is cleared away does not make the others look new.
  std::filesystem::remove(folder_ + "/in/a");
  std::filesystem::remove(folder_ + "/in/b");
  std::filesystem::remove(folder_ + "/in/p1");
  EXPECT_THAT(Again(position), IsEmpty());
}

TEST_F(FileQueueTest, ANameThatIsGoneIsForgotten) {
  Put("in/p1");
  FilePosition position = Start();
  FileQueue queue = Open(position);
  EXPECT_THAT(Read(&queue, &position), ElementsAre("p1"));
  for (int i = 0; i < 2; ++i) {
    Put("in/a");
    EXPECT_THAT(Read(&queue, &position), ElementsAre("late a"));
    std::filesystem::remove(folder_ + "/in/a");
    EXPECT_THAT(Read(&queue, &position), IsEmpty());
  }
}

}  // namespace
}  // namespace caudal
