#include "connect/filesystem/file_reader_thread.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <chrono>

#include "format/parquet_reader.h"

namespace caudal {
FileReaderThread::FileReaderThread(FileReaderOptions options, FileQueue queue)
    : options_(std::move(options)), queue_(std::move(queue)), thread_([this] { Run(); }) {}

FileReaderThread::~FileReaderThread() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::optional<FileBlock> FileReaderThread::Take() {
  std::optional<FileBlock> block;
  {
    std::lock_guard lock(mutex_);
    if (blocks_.empty()) return block;
    block = std::move(blocks_.front());
    blocks_.pop_front();
  }
  changed_.notify_all();
  return block;
}

Backlog FileReaderThread::backlog() const {
  std::lock_guard lock(mutex_);
  Backlog backlog = backlog_;
  if (oldest_unread_micros_ > 0) {
    backlog.millis = std::max<int64_t>(0, (options_.env->NowMicros() - oldest_unread_micros_) / 1000);
  }
  return backlog;
}

bool FileReaderThread::Put(FileBlock block) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return stopping_ || blocks_.size() < kBlocks; });
  if (stopping_) return false;
  blocks_.push_back(std::move(block));
  return true;
}

bool FileReaderThread::WaitForNextListing() {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, std::chrono::milliseconds(options_.monitor_millis),
                            [this] { return stopping_; });
}

void FileReaderThread::NoteBacklog(int64_t unread_bytes, int64_t modified_micros) {
  std::lock_guard lock(mutex_);
  backlog_.files = queue_.waiting_files() + (unread_bytes > 0 ? 1 : 0);
  backlog_.bytes = queue_.waiting_bytes() + unread_bytes;
  backlog_.millis = 0;
  oldest_unread_micros_ = backlog_.files > 0 ? modified_micros : 0;
}

void FileReaderThread::Run() {
  pthread_setname_np(pthread_self(), "reader");
  FileBlock last;
  last.failure = ReadAll();
  last.end_of_input = last.failure.ok();
  last.listing = queue_.listing();
  Put(std::move(last));
}

Status FileReaderThread::ReadAll() {
  for (;;) {
    RETURN_IF_ERROR(queue_.List());
    NoteBacklog(0, 0);
    FileBlock news;
    news.late = queue_.TakeLate();
    news.listing = queue_.listing();
    if (!news.late.empty() && !Put(std::move(news))) return Status();
    while (const std::optional<ListedFile> file = queue_.Next()) {
      RETURN_IF_ERROR(ReadFile(*file, queue_.StartOffset(*file)));
      std::lock_guard lock(mutex_);
      if (stopping_) return Status();
    }
    if (options_.monitor_millis < 0 || !WaitForNextListing()) return Status();
  }
}

Status FileReaderThread::ReadFile(const ListedFile& file, int64_t offset) {
  Status status = options_.parquet ? ReadParquet(file, offset) : ReadRecords(file, offset);
  return status.ok() ? status : std::move(status).At(fmt::format("file '{}'", file.info.path));
}

Status FileReaderThread::ReadRecords(const ListedFile& file, int64_t offset) {
  ASSIGN_OR_RETURN(std::unique_ptr<RandomAccessFile> opened, options_.files->Open(file.info.path));
  const int64_t arrival = file.info.modified_micros / 1000;
  int64_t length = kBlockBytes;
  for (bool last = false; !last;) {
    ASSIGN_OR_RETURN(MutableBufferPtr bytes, opened->Read(offset, length));
    last = static_cast<int64_t>(bytes->size()) < length || offset + length >= opened->size();
    std::vector<std::string_view> found;
    const size_t taken = options_.framing.Split(bytes->view(), last || length >= kMaxRecordBytes, &found);
    if (taken == 0 && !last) {
      length *= 2;  // not even one record
      continue;
    }
    FileBlock block;
    block.file = file;
    block.records.reserve(found.size());
    for (const std::string_view record : found) {
      block.records.push_back({record, {}, offset + (record.data() - bytes->data()), arrival});
    }
    block.pins = {bytes};
    // The start of a record that is not whole is read again with the rest of it: cheaper than copying it
    // around.
    offset += static_cast<int64_t>(taken);
    length = kBlockBytes;
    block.end_offset = offset;
    block.end_of_file = last;
    block.listing = queue_.listing();
    NoteBacklog(opened->size() - offset, file.info.modified_micros);
    if (!Put(std::move(block))) return Status();
  }
  return Status();
}

Status FileReaderThread::ReadParquet(const ListedFile& file, int64_t first_row) {
  ASSIGN_OR_RETURN(std::unique_ptr<RandomAccessFile> opened, options_.files->Open(file.info.path));
  ASSIGN_OR_RETURN(std::unique_ptr<ParquetReader> reader, ParquetReader::Open(opened.get(), file.info.path));
  if (reader->rows() < first_row) {
    return Status::Data(fmt::format("it has {} rows, fewer than the {} that were read of it", reader->rows(),
                                    first_row))
        .Hint("put the file back as it was, or start again with a new checkpoint");
  }
  RETURN_IF_ERROR(reader->Project(options_.parquet_schema, first_row));
  for (int64_t row = first_row;;) {
    ASSIGN_OR_RETURN(Chunk chunk, reader->Next());
    FileBlock block;
    block.file = file;
    block.first_row = row;
    block.end_of_file = chunk.empty();
    row += chunk.size();
    block.end_offset = row;
    block.listing = queue_.listing();
    const int64_t rows = std::max<int64_t>(1, reader->rows());
    NoteBacklog(file.info.size * (rows - std::min(row, rows)) / rows, file.info.modified_micros);
    const bool end = block.end_of_file;
    if (!end) block.chunks.push_back(std::move(chunk));
    if (!Put(std::move(block)) || end) return Status();
  }
}

}  // namespace caudal
