// What the writer asks of the disk while a task waits for it; what the files are is file_sink_test's.
#include "connect/filesystem/sink/file_sink_writer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <set>
#include <thread>

#include "data/column_builder.h"
#include "fs/local_file_system.h"

namespace caudal {
namespace {

class KeepsNoRejects : public SinkRejects {
 public:
  void Reject(const Chunk&, RowSet, std::string) override { FAIL(); }
};

// A disk that answers when it is let, and knows who asked.
class SlowFiles : public LocalFileSystem {
 public:
  Result<std::unique_ptr<WritableFile>> Create(const std::string& path) override {
    Note();
    return LocalFileSystem::Create(path);
  }
  Status MakeDirectories(const std::string& path) override {
    Note();
    return LocalFileSystem::MakeDirectories(path);
  }
  void Answer() {
    answers_ = true;
    answers_.notify_all();
  }
  bool AskedBy(std::thread::id thread) {
    std::lock_guard lock(mutex_);
    return asked_by_.contains(thread);
  }

 private:
  void Note() {
    {
      std::lock_guard lock(mutex_);
      asked_by_.insert(std::this_thread::get_id());
    }
    if (std::this_thread::get_id() != task_) answers_.wait(false);
  }
  const std::thread::id task_ = std::this_thread::get_id();
  std::atomic<bool> answers_ = false;
  std::mutex mutex_;
  std::set<std::thread::id> asked_by_;
};

class FileSinkWriterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/caudal-writer-XXXXXX";
    plan_.root = mkdtemp(name);
    plan_.env = Env::Real();
    plan_.sink = "0123456789abcdef";
    plan_.generation = 1;
    plan_.format.files = &files_;
    plan_.format.options.format = "json";
    plan_.format.options.rolling_bytes = 128 << 20;
    plan_.format.options.rolling_millis = 1'800'000;
    plan_.format.options.max_open_files = 0;
    plan_.format.options.buffer_bytes = kBufferBytes;
    plan_.format.content.fields = {{"a", Type(TypeId::kBigInt)}};
    plan_.content_columns = {1};
    plan_.partition_columns = {0};
    plan_.partition_names = {"p"};
    writer_ = std::make_unique<FileSinkWriter>(&plan_, 0);
  }
  void TearDown() override {
    files_.Answer();
    writer_.reset();
    std::filesystem::remove_all(plan_.root);
  }
  Status Write(int64_t first) {
    ColumnBuilder p(Type(TypeId::kBigInt)), a(Type(TypeId::kBigInt));
    for (int64_t i = first; i < first + kRows; ++i) {
      p.Append<int64_t>(i % kPartitions);
      a.Append<int64_t>(i);
    }
    KeepsNoRejects rejects;
    return writer_->Write(Chunk({p.Finish(), a.Finish()}, kRows), rejects);
  }
  // How many rows were written before the writer was full.
  int64_t FillUp() {
    int64_t rows = 0;
    for (; !writer_->full() && rows < 200 * kRows; rows += kRows) EXPECT_TRUE(Write(rows).ok());
    return rows;
  }

  static constexpr int kRows = 64;
  static constexpr int64_t kPartitions = 8;
  static constexpr int64_t kBufferBytes = 16 << 10;
  SlowFiles files_;
  FileSinkPlan plan_;
  std::unique_ptr<FileSinkWriter> writer_;
};

TEST_F(FileSinkWriterTest, AnOverflowAsksNothingOfTheDiskOnTheTasksThread) {
  EXPECT_LT(FillUp(), 200 * kRows);
  EXPECT_FALSE(files_.AskedBy(std::this_thread::get_id()));
}

TEST_F(FileSinkWriterTest, ASlowDiskHoldsRowsBackAndNotMemory) {
  const int64_t rows = FillUp();
  EXPECT_TRUE(writer_->full());
  EXPECT_LT(writer_->buffered_bytes(), 4 * kBufferBytes);
  files_.Answer();
  while (writer_->full()) std::this_thread::yield();
  ASSERT_TRUE(Write(rows).ok());
}

// What the disk has not taken at the barrier is the I/O thread's to wait for.
TEST_F(FileSinkWriterTest, SealingWaitsForNoFile) {
  const int64_t rows = FillUp();
  auto sealed = writer_->Seal({1, 1});
  ASSERT_TRUE(sealed.ok());
  EXPECT_FALSE(writer_->full());
  EXPECT_EQ(writer_->buffered_bytes(), 0);
  files_.Answer();
  Result<Committable> committable = (*sealed)->Prepare();
  ASSERT_TRUE(committable.ok()) << committable.status().ToString();
  EXPECT_EQ(committable->rows_added, rows);
}

TEST_F(FileSinkWriterTest, AnEpochThatNobodyWantsStopsAtTheNextFile) {
  FillUp();
  auto sealed = writer_->Seal({1, 1});
  ASSERT_TRUE(sealed.ok());
  files_.Answer();
  sealed->reset();
}

}  // namespace
}  // namespace caudal
