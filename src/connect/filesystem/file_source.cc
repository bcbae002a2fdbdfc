#include "connect/filesystem/file_source.h"

#include <fmt/format.h>

#include "connect/filesystem/file_split_reader.h"
#include "format/format.h"
#include "fs/file_path.h"
#include "fs/store_file_system.h"

namespace caudal {
namespace {

class FixedSplits : public SplitEnumerator {
 public:
  explicit FixedSplits(int splits) : splits_(splits) {}
  Result<std::vector<Split>> Discover() override {
    std::vector<Split> found;
    for (int i = 0; i < splits_ && !discovered_; ++i) found.push_back({std::to_string(i), i});
    discovered_ = true;
    return found;
  }
  bool complete() const override { return discovered_; }
  std::string Snapshot() const override { return "{}"; }
  Status Restore(std::string_view) override { return Status(); }

 private:
  int splits_;
  bool discovered_ = false;
};

// What may not be read is found before anything runs, as far as the path itself goes.
Status CheckReadable(FileSystem* files, const std::string& path) {
  ASSIGN_OR_RETURN(const bool exists, files->Exists(path));
  if (!exists) return Status();
  ASSIGN_OR_RETURN(const FileInfo info, files->Stat(path));
  if (!info.unreadable.empty()) return Status();
  return info.is_directory ? files->List(path).status() : files->Open(path).status();
}

}  // namespace

Result<std::unique_ptr<Source>> FileSource::Make(const Table& table, const ReadRequest& request,
                                                 const ConnectorContext& context) {
  ASSIGN_OR_RETURN(FileTableOptions options, FileTableOptions::From(table));
  ASSIGN_OR_RETURN(FileColumns columns, FileColumns::Make(table, request));
  FileSystem* files = context.files == nullptr ? FileSystem::Local() : context.files;
  ASSIGN_OR_RETURN(files, FilesWithOptions(files, table.options));
  Env* env = context.env == nullptr ? Env::Real() : context.env;
  if (options.monitor_millis < 0) {
    ASSIGN_OR_RETURN(const bool exists, files->Exists(options.path));
    if (!exists) {
      return Status::User(
                 fmt::format("table '{}': there is no file or folder '{}'", table.name, options.path))
          .Hint("correct 'path', or set 'source.monitor-interval' to wait for what will come");
    }
  } else if (options.format == "parquet") {
    return Status::User(
               fmt::format("table '{}': a folder of Parquet files cannot be watched yet", table.name))
        .Hint("leave 'source.monitor-interval' out to read what is there");
  }
  Status readable = CheckReadable(files, options.path);
  if (!readable.ok()) return std::move(readable).At(fmt::format("table '{}'", table.name));
  // The same check that Open makes, so that a wrong option is found before anything runs.
  if (options.format != "parquet") {
    RETURN_IF_ERROR(MakeDecoder(options.format, columns.content(), table.options).status());
  }
  return std::unique_ptr<Source>(
      new FileSource(std::move(options), std::move(columns), table.options, files, env));
}

std::unique_ptr<SplitEnumerator> FileSource::MakeEnumerator() {
  return std::make_unique<FixedSplits>(options_.splits);
}

Result<std::unique_ptr<SplitReader>> FileSource::Open(const Split& split, const Position& position) {
  const std::string folder = AbsolutePath(options_.path);
  FilePosition start;
  start.splits = options_.splits;
  if (!position.empty()) {
    ASSIGN_OR_RETURN(start, FilePosition::Parse(position));
    const bool absolute = !start.folder.empty();
    if ((absolute ? start.folder != folder : start.root != options_.path) ||
        start.splits != options_.splits) {
      return Status::User(
                 fmt::format("the checkpoint's position is in folder '{}' with {} splits, the table reads "
                             "'{}' with {}",
                             absolute ? start.folder : start.root, start.splits,
                             absolute ? folder : options_.path, options_.splits))
          .Hint("set the table's options back, or start with a new checkpoint");
    }
  }
  start.root = options_.path;
  start.folder = folder;
  FileReaderOptions reading;
  reading.files = files_;
  reading.env = env_;
  reading.monitor_millis = options_.monitor_millis;
  reading.parquet = options_.format == "parquet";
  reading.parquet_schema = columns_.content();
  reading.table_columns = columns_.in_files();
  reading.check = [columns = &columns_](const ListedFile& file) { return columns->Check(file); };
  std::unique_ptr<Decoder> decoder;
  if (!reading.parquet) {
    ASSIGN_OR_RETURN(decoder, MakeDecoder(options_.format, columns_.content(), format_options_));
    reading.framing = MakeFraming(options_.format);
  }
  ASSIGN_OR_RETURN(PathPattern pattern, PathPattern::Make(options_.path_pattern));
  FileQueue queue(files_, env_, split.ordinal, !reading.parquet, !bounded(), start, std::move(pattern));
  auto thread = std::make_unique<FileReaderThread>(std::move(reading), std::move(queue));
  return std::unique_ptr<SplitReader>(
      new FileSplitReader(split, &columns_, std::move(decoder), std::move(thread), std::move(start)));
}

}  // namespace caudal
