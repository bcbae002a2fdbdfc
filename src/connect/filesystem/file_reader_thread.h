// FileReaderThread: reads the files of one split ahead of the task that decodes them, so that Poll never
// waits for a disk.
//
// Owns its thread; the destructor stops it. Take is for one other thread. It holds at most kBlocks blocks of
// about kBlockBytes, more only where a record is longer.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "api/source.h"
#include "connect/filesystem/file_block.h"
#include "connect/filesystem/file_queue.h"
#include "format/record_framing.h"

namespace caudal {

struct FileReaderOptions {
  FileSystem* files = nullptr;
  Env* env = nullptr;
  int64_t monitor_millis = -1;  // -1: list once, then end
  bool parquet = false;
  Schema parquet_schema;                   // the columns to read
  std::vector<std::string> table_columns;  // that the table expects in a Parquet file, read or not
  RecordFraming framing{RecordFraming::Kind::kLines};
  // Why a file is none of the table's; its records are counted, not read.
  std::function<Status(const ListedFile&)> check = [](const ListedFile&) { return Status(); };
};

class FileReaderThread {
 public:
  static constexpr size_t kBlocks = 3;
  static constexpr int64_t kBlockBytes = 1 << 20;

  FileReaderThread(FileReaderOptions options, FileQueue queue);
  ~FileReaderThread();

  // The next block, if one is ready.
  std::optional<FileBlock> Take();
  Backlog backlog() const;

 private:
  void Run();
  Status ReadAll();
  // Gives its blocks; what is wrong with the file itself is one of them.
  Status ReadFile(ListedFile file);
  Status ReadBlocks(ListedFile* file);
  // The rest of the file that is being read cannot be read because of `why`.
  FileBlock GiveUp(ListedFile file, Status why);
  // `file`: its size is where reading ends. `put`: false ends it.
  Status ReadRecords(const ListedFile& file, RandomAccessFile* opened, int64_t offset,
                     const std::function<bool(FileBlock)>& put);
  Status ReadParquet(const ListedFile& file, RandomAccessFile* opened, int64_t first_row);
  // Hands on a block that stands for all records of a file that is none of the table's.
  void PassOver(const ListedFile& file, int64_t offset, Status why);
  // Records, or rows, behind `offset` of a file that is passed over; 1 if that cannot be told.
  int64_t CountRecords(const ListedFile& file, int64_t offset);
  // Files that came too late or changed, and warnings; nothing for none.
  std::optional<FileBlock> TakeNews();
  // False: the reader is being destroyed.
  bool Put(FileBlock block);
  bool WaitForNextListing();
  void NoteBacklog(int64_t unread_bytes, int64_t modified_micros);

  FileReaderOptions options_;
  FileQueue queue_;
  int64_t read_to_ = 0;  // of the file that is being read: where its last block ended

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<FileBlock> blocks_;
  bool stopping_ = false;
  bool listed_ = false;  // once
  Backlog backlog_;
  int64_t oldest_unread_micros_ = 0;  // modification time of the file that is read; 0 = none waits
  std::thread thread_;                // last: it uses all of the above
};

}  // namespace caudal
