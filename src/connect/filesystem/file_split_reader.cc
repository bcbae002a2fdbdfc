#include "connect/filesystem/file_split_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "data/value.h"

namespace caudal {

FileSplitReader::FileSplitReader(Split split, const FileColumns* columns, std::unique_ptr<Decoder> decoder,
                                 std::unique_ptr<FileReaderThread> thread, FilePosition position)
    : split_(std::move(split)),
      columns_(columns),
      decoder_(std::move(decoder)),
      thread_(std::move(thread)),
      position_(std::move(position)) {}

void FileSplitReader::MoveTo(int64_t offset, bool done) {
  position_.file = block_->file.name;
  position_.identity = block_->file.info.identity;
  position_.offset = offset;
  position_.done = done;
  position_.size = block_->file.info.size;
  position_.modified_micros = block_->file.info.modified_micros;
  NoteListing();
  if (!done) return;
  position_.Remember({position_.file, position_.size, position_.modified_micros});
  position_.passed.Add(position_.file);
}

void FileSplitReader::NoteListing() {
  if (noted_look_ == block_->listing.look) return;
  noted_look_ = block_->listing.look;
  position_.listed_micros = block_->listing.micros;
  position_.recent = block_->listing.recent;
  position_.passed = block_->listing.passed;
}

Result<Poll> FileSplitReader::Next() {
  Result<Poll> poll(Poll(std::in_place_type<NothingYet>));
  for (;;) {
    if (!block_.has_value()) {
      block_ = thread_->Take();
      next_ = 0;
      if (!block_.has_value()) return poll;
    }
    if (!block_->failure.ok()) return block_->failure;  // and again at the next call
    if (block_->end_of_input) {
      poll->emplace<Finished>();
      return poll;
    }
    if (!block_->late.empty() || !block_->changed.empty() || !block_->warnings.empty()) {
      poll->emplace<SourceRows>(ReportNews());
      return poll;
    }
    if (block_->broken.has_value()) {
      poll->emplace<SourceRows>(ReportBroken());
      return poll;
    }
    if (!block_->stray.ok()) {
      poll->emplace<SourceRows>(PassOver());
      return poll;
    }
    if (next_ < block_->records.size()) {
      ASSIGN_OR_RETURN(SourceRows rows, DecodeRecords());
      poll->emplace<SourceRows>(std::move(rows));
      return poll;
    }
    if (next_ < block_->chunks.size()) {
      ASSIGN_OR_RETURN(SourceRows rows, TakeChunk());
      poll->emplace<SourceRows>(std::move(rows));
      return poll;
    }
    if (!block_->file.name.empty()) MoveTo(block_->end_offset, block_->end_of_file);
    block_.reset();
  }
}

SourceRows FileSplitReader::ReportNews() {
  SourceRows rows;
  rows.chunk = Chunk(columns_->Empty(), 0);
  for (const auto& [file, records] : block_->late) {
    RejectedRecord& late = rows.rejected.emplace_back();
    late.raw = file.name;
    late.file = file.info.path;
    late.records = records;
    late.error_class = "out-of-order-file";
    late.message = fmt::format(
        "file '{}' appeared or changed after '{}', which comes after it by name, was read: its {} {} passed "
        "over",
        file.info.path, position_.file, records, records == 1 ? "record is" : "records are");
    late.hint = fmt::format("rename it so that it sorts after '{}'", position_.file);
  }
  for (const FileQueue::Changed& changed : block_->changed) {
    RejectedRecord& rejected = rows.rejected.emplace_back();
    rejected.raw = changed.now.name;
    rejected.file = changed.now.info.path;
    rejected.offset = changed.read.size;
    rejected.records = changed.records;
    rejected.error_class = "file-changed";
    rejected.message = fmt::format(
        "file '{}' changed after it was read: it had {} bytes, now it has {}; what is new in it is not read",
        changed.now.info.path, changed.read.size, changed.now.info.size);
    rejected.hint = "write what is new to a file of its own";
    position_.Remember({changed.now.name, changed.now.info.size, changed.now.info.modified_micros});
  }
  rows.warnings = std::move(block_->warnings);
  // Under 'fail' the first one ends the query; else people shall see the names, too.
  for (const RejectedRecord& rejected : rows.rejected) {
    rows.warnings.push_back(rejected.message);
    passed_ += rejected.records;
  }
  NoteListing();
  block_.reset();
  return rows;
}

SourceRows FileSplitReader::ReportBroken() {
  const FileBlock::Broken& broken = *block_->broken;
  const std::string& path = block_->file.info.path;
  SourceRows rows;
  rows.chunk = Chunk(columns_->Empty(), 0);
  RejectedRecord& rejected = rows.rejected.emplace_back();
  rejected.raw = block_->file.name;
  rejected.file = path;
  rejected.offset = block_->end_offset;
  rejected.records = broken.records;
  rejected.error_class = broken.changed ? "file-changed" : "unreadable-file";
  rejected.message =
      broken.changed ? fmt::format("file '{}' changed: {}; no more of it is read", path, broken.why.message())
                     : fmt::format("file '{}' cannot be read{}: {}", path,
                                   block_->end_offset == 0 ? "" : " to its end", broken.why.message());
  if (broken.records > 1) rejected.message += fmt::format("; {} records are passed over", broken.records);
  rejected.hint = broken.why.hint();
  rows.warnings.push_back(rejected.message);
  passed_ += broken.records;
  MoveTo(block_->end_offset, true);
  block_.reset();
  return rows;
}

SourceRows FileSplitReader::PassOver() {
  SourceRows rows;
  rows.chunk = Chunk(columns_->Empty(), 0);
  if (const int64_t records = block_->stray_records; records > 0) {
    RejectedRecord& stray = rows.rejected.emplace_back();
    stray.raw = block_->file.name;
    stray.file = block_->file.info.path;
    stray.records = records;
    stray.error_class = "stray-file";
    stray.message = block_->stray.message();
    for (const std::string& frame : block_->stray.frames()) stray.message = frame + ": " + stray.message;
    stray.message +=
        fmt::format(": its {} {} passed over", records, records == 1 ? "record is" : "records are");
    stray.hint = block_->stray.hint();
    passed_ += records;
  }
  MoveTo(block_->end_offset, block_->end_of_file);
  block_.reset();
  return rows;
}

ColumnPtr FileSplitReader::Arrival(int32_t rows) const {
  return ConstantColumn(Type(TypeId::kBigInt), Value(block_->file.info.modified_micros / 1000), rows);
}

Result<SourceRows> FileSplitReader::DecodeRecords() {
  const size_t count = std::min<size_t>(Chunk::kMaxRows, block_->records.size() - next_);
  RawBatch batch;
  batch.pins = block_->pins;
  const auto first = block_->records.begin() + static_cast<ptrdiff_t>(next_);
  batch.records.assign(first, first + static_cast<ptrdiff_t>(count));
  DecodedRows decoded;
  RETURN_IF_ERROR(decoder_->Decode(batch, &decoded));

  FileColumns::Rows rows;
  rows.file = &block_->file;
  rows.split = split_.ordinal;
  rows.count = decoded.row_count;
  rows.records = batch.records;
  rows.pins = &batch.pins;
  ASSIGN_OR_RETURN(std::vector<ColumnPtr> columns, columns_->Assemble(std::move(decoded.columns), rows));
  SourceRows out;
  out.chunk = Chunk(std::move(columns), decoded.row_count, decoded.selection);
  out.arrival = Arrival(decoded.row_count);
  out.file = block_->file.info.path;
  for (const DecodeError& error : decoded.errors) {
    const RawRecord& record = batch.records[static_cast<size_t>(error.record)];
    RejectedRecord& rejected = out.rejected.emplace_back();
    rejected.offset = record.offset;
    rejected.raw = record.value;
    rejected.error_class = "malformed";
    rejected.message = error.message;
    rejected.file = block_->file.info.path;
    rejected.hint = error.hint;
  }
  const bool end = next_ + count == block_->records.size();
  out.offsets.reserve(count);
  for (const RawRecord& record : batch.records) out.offsets.push_back(record.offset);
  next_ += count;
  passed_ += static_cast<int64_t>(count);
  const int64_t end_offset = end ? block_->end_offset : block_->records[next_].offset;
  out.bytes = end_offset - batch.records.front().offset;
  out.ignored_values = decoded.ignored_values;
  MoveTo(end_offset, end && block_->end_of_file);
  if (end) block_.reset();
  return out;
}

Result<SourceRows> FileSplitReader::TakeChunk() {
  const Chunk& chunk = block_->chunks[next_];
  FileColumns::Rows rows;
  rows.file = &block_->file;
  rows.split = split_.ordinal;
  rows.count = chunk.physical_rows();
  rows.first_row = block_->first_row;
  ASSIGN_OR_RETURN(std::vector<ColumnPtr> columns, columns_->Assemble(chunk.columns(), rows));
  SourceRows out;
  out.chunk = Chunk(std::move(columns), rows.count);
  out.arrival = Arrival(rows.count);
  out.file = block_->file.info.path;
  out.offsets.resize(static_cast<size_t>(rows.count));
  std::iota(out.offsets.begin(), out.offsets.end(), block_->first_row);
  ++next_;
  // As the position counts rows, not as many as were decoded.
  passed_ += block_->end_offset - block_->first_row;
  MoveTo(block_->end_offset, false);
  return out;
}

Backlog FileSplitReader::backlog() const {
  Backlog backlog = thread_->backlog();
  if (block_.has_value() && !block_->records.empty() && backlog.bytes >= 0) {
    backlog.bytes += block_->end_offset - position_.offset;
  }
  return backlog;
}

}  // namespace caudal
