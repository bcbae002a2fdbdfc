#include "connect/filesystem/file_reader_thread.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <cctype>
#include <chrono>

#include "format/parquet_reader.h"

namespace caudal {
namespace {

constexpr int64_t kSecondLookMillis = 50;

// Behind the line break that `offset` or more comes before, or `end`.
Result<int64_t> LineEnd(RandomAccessFile* file, int64_t offset, int64_t end) {
  while (offset < end) {
    ASSIGN_OR_RETURN(const MutableBufferPtr bytes,
                     file->Read(offset, std::min(FileReaderThread::kBlockBytes, end - offset)));
    const size_t found = bytes->view().find('\n');
    if (found != std::string_view::npos) return offset + static_cast<int64_t>(found) + 1;
    if (bytes->size() == 0) return end;
    offset += static_cast<int64_t>(bytes->size());
  }
  return end;
}

// Files are told by how they begin, not by their names.
Status RefuseCompressed(std::string_view start) {
  constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
      {"\x1F\x8B", "gzip"},
      {"\x28\xB5\x2F\xFD", "zstd"},
      {"\xFD"
       "7zXZ",
       "xz"},
      {"BZh", "bzip2"},
      {"PK\x03\x04", "zip"},
  };
  for (const auto& [magic, kind] : kKinds) {
    if (!start.starts_with(magic)) continue;
    constexpr std::string_view kBzipBlock = "1AY&SY";  // behind the digit of the level: "BZh" alone is text
    if (kind == "bzip2" && !start.substr(std::min<size_t>(start.size(), 4)).starts_with(kBzipBlock)) continue;
    return Status::Data(fmt::format("it is compressed with {}, which cannot be read yet", kind))
        .Hint("decompress it, or keep it out of the folder");
  }
  return Status();
}

// A file of another table has none of this one's columns: all NULL would look like data.
Status CheckColumns(const ParquetReader& reader, const std::vector<std::string>& wanted) {
  std::vector<std::string> there;
  for (const Field& field : reader.schema().fields) there.push_back(field.name);
  for (const auto& [name, type] : reader.unreadable()) there.push_back(name);
  const auto same = [](const std::string& a, const std::string& b) {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
             return std::tolower(static_cast<unsigned char>(x)) ==
                    std::tolower(static_cast<unsigned char>(y));
           });
  };
  for (const std::string& name : wanted) {
    // One that differs in its case is refused by name where it is read.
    if (std::any_of(there.begin(), there.end(), [&](const std::string& t) { return same(t, name); }))
      return Status();
  }
  return Status::Data(fmt::format("it has none of the table's columns '{}', but '{}'",
                                  fmt::join(wanted, "', '"), fmt::join(there, "', '")))
      .Hint("keep it out of the folder, or name the columns as the file does");
}

}  // namespace

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
  backlog.settled = listed_ && blocks_.empty();
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
  const int64_t wait =
      queue_.holds_back() ? std::min(options_.monitor_millis, kSecondLookMillis) : options_.monitor_millis;
  return !changed_.wait_for(lock, std::chrono::milliseconds(wait), [this] { return stopping_; });
}

void FileReaderThread::NoteBacklog(int64_t unread_bytes, int64_t modified_micros) {
  std::lock_guard lock(mutex_);
  listed_ = true;
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
    std::optional<FileBlock> news = TakeNews();
    if (news.has_value() && !Put(std::move(*news))) return Status();
    if (std::optional<FileQueue::Interrupted> interrupted = queue_.TakeInterrupted()) {
      FileBlock block;
      block.end_offset = queue_.StartOffset(interrupted->file);
      block.file = std::move(interrupted->file);
      block.end_of_file = true;
      block.broken = FileBlock::Broken{std::move(interrupted->why), true};
      block.listing = queue_.listing();
      if (!Put(std::move(block))) return Status();
    }
    while (const std::optional<ListedFile> file = queue_.Next()) {
      RETURN_IF_ERROR(ReadFile(*file));
      std::lock_guard lock(mutex_);
      if (stopping_) return Status();
    }
    if (options_.monitor_millis < 0 || !WaitForNextListing()) return Status();
  }
}

std::optional<FileBlock> FileReaderThread::TakeNews() {
  FileBlock news;
  for (ListedFile& file : queue_.TakeLate()) {
    const int64_t records = CountRecords(file, 0);
    if (records > 0) news.late.push_back({std::move(file), records});
  }
  news.changed = queue_.TakeChanged();
  for (FileQueue::Changed& changed : news.changed) {
    if (changed.now.info.size > changed.read.size)
      changed.records = std::max<int64_t>(1, CountRecords(changed.now, changed.read.size));
  }
  news.warnings = queue_.TakeWarnings();
  news.listing = queue_.listing();
  if (news.late.empty() && news.changed.empty() && news.warnings.empty()) return std::nullopt;
  return news;
}

int64_t FileReaderThread::CountRecords(const ListedFile& file, int64_t offset) {
  const auto count = [&]() -> Result<int64_t> {
    ASSIGN_OR_RETURN(const std::unique_ptr<RandomAccessFile> opened, options_.files->Open(file.info.path));
    if (options_.parquet) {
      ASSIGN_OR_RETURN(const auto reader, ParquetReader::Open(opened.get(), file.info.path));
      return reader->rows();
    }
    int64_t records = 0;
    const auto add = [&](const FileBlock& block) {
      records += static_cast<int64_t>(block.records.size());
      std::lock_guard lock(mutex_);
      return !stopping_;
    };
    RETURN_IF_ERROR(ReadRecords(file, opened.get(), offset, add));
    return records;
  };
  const Result<int64_t> records = count();
  return records.ok() ? *records : 1;
}

void FileReaderThread::PassOver(const ListedFile& file, int64_t offset, Status why) {
  FileBlock block;
  block.file = file;
  block.stray = std::move(why);
  const int64_t records = CountRecords(file, offset);  // of a Parquet file all rows
  block.stray_records = options_.parquet ? std::max<int64_t>(0, records - offset) : records;
  block.end_offset = std::max(offset, options_.parquet ? records : file.info.size);
  block.end_of_file = true;
  block.listing = queue_.listing();
  NoteBacklog(0, file.info.modified_micros);
  Put(std::move(block));
}

Status FileReaderThread::ReadFile(ListedFile file) {
  Status status = ReadBlocks(&file);
  if (!status.ok()) {
    const bool of_file = status.domain() == Domain::kData || status.domain() == Domain::kUser;
    if (!of_file) return std::move(status).At(fmt::format("file '{}'", file.info.path));
    FileBlock rest = GiveUp(file, std::move(status));
    file = rest.file;
    if (!Put(std::move(rest))) return Status();
  }
  queue_.NoteRead({file.name, file.info.size, file.info.modified_micros});
  return Status();
}

Status FileReaderThread::ReadBlocks(ListedFile* file) {
  // As it is now: it was listed before the files in front of it were read.
  read_to_ = queue_.StartOffset(*file);
  ASSIGN_OR_RETURN(file->info, options_.files->Stat(file->info.path));
  ASSIGN_OR_RETURN(const std::unique_ptr<RandomAccessFile> opened, options_.files->Open(file->info.path));
  file->info.size = opened->size();
  const FilePosition* resumed = queue_.Resumed(*file);
  if (resumed != nullptr && resumed->size >= 0) {
    // What was added meanwhile is a change, as it would have been without the restart.
    file->info.size = std::min(file->info.size, resumed->size);
    file->info.modified_micros = resumed->modified_micros;
  }
  const auto put = [&](FileBlock block) {
    read_to_ = block.end_offset;
    NoteBacklog(file->info.size - block.end_offset, file->info.modified_micros);
    return Put(std::move(block));
  };
  if (Status stray = options_.check(*file); !stray.ok()) {
    PassOver(*file, read_to_, std::move(stray));
    return Status();
  }
  return options_.parquet ? ReadParquet(*file, opened.get(), read_to_)
                          : ReadRecords(*file, opened.get(), read_to_, put);
}

FileBlock FileReaderThread::GiveUp(ListedFile file, Status why) {
  FileBlock block;
  block.broken = FileBlock::Broken{std::move(why)};
  const Result<FileInfo> now = options_.files->Stat(file.info.path);
  const FileInfo was = file.info;
  if (now.ok()) file.info = *now;
  block.broken->changed = !now.ok() || now->size != was.size || now->modified_micros != was.modified_micros ||
                          now->identity != was.identity;
  if (!block.broken->changed) {
    const int64_t records = CountRecords(file, options_.parquet ? 0 : read_to_);
    block.broken->records = std::max<int64_t>(1, options_.parquet ? records - read_to_ : records);
  }
  block.file = std::move(file);
  block.end_offset = read_to_;
  block.end_of_file = true;
  block.listing = queue_.listing();
  return block;
}

Status FileReaderThread::ReadRecords(const ListedFile& file, RandomAccessFile* opened, int64_t offset,
                                     const std::function<bool(FileBlock)>& put) {
  const int64_t arrival = file.info.modified_micros / 1000;
  const int64_t end = file.info.size;
  int64_t length = kBlockBytes;
  for (bool last = false; !last;) {
    const int64_t wanted = std::min(length, end - offset);
    ASSIGN_OR_RETURN(MutableBufferPtr bytes, opened->Read(offset, wanted));
    const int64_t got = static_cast<int64_t>(bytes->size());
    if (got < wanted) {
      return Status::Data(fmt::format("it was cut to {} bytes when {} of {} bytes were read", offset + got,
                                      offset, end))
          .Hint("put the file back as it was, or start again with a new checkpoint");
    }
    if (offset == 0) RETURN_IF_ERROR(RefuseCompressed(bytes->view()));
    last = offset + length >= end;
    std::vector<std::string_view> found;
    const size_t taken = options_.framing.Split(bytes->view(), last || length >= kMaxRecordBytes, &found);
    if (taken == 0 && !last) {
      length *= 2;  // not even one record
      continue;
    }
    const bool cut =
        !last && length >= kMaxRecordBytes && taken == bytes->size() && bytes->view().back() != '\n';
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
    if (cut && !block.records.empty()) {
      block.records.back().cut = true;
      ASSIGN_OR_RETURN(offset, LineEnd(opened, offset, end));
      last = offset >= end;
    }
    length = kBlockBytes;
    block.end_offset = offset;
    block.end_of_file = last;
    block.listing = queue_.listing();
    if (!put(std::move(block))) return Status();
  }
  return Status();
}

Status FileReaderThread::ReadParquet(const ListedFile& file, RandomAccessFile* opened, int64_t first_row) {
  ASSIGN_OR_RETURN(std::unique_ptr<ParquetReader> reader, ParquetReader::Open(opened, file.info.path));
  RETURN_IF_ERROR(CheckColumns(*reader, options_.table_columns));
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
    read_to_ = row;
    block.listing = queue_.listing();
    const int64_t rows = std::max<int64_t>(1, reader->rows());
    NoteBacklog(file.info.size * (rows - std::min(row, rows)) / rows, file.info.modified_micros);
    const bool end = block.end_of_file;
    if (!end) block.chunks.push_back(std::move(chunk));
    if (!Put(std::move(block)) || end) return Status();
  }
}

}  // namespace caudal
