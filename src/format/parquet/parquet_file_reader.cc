#include "format/parquet/parquet_file_reader.h"

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/record_batch.h>
#include <fmt/format.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/schema.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/schema.h>

#include <algorithm>
#include <cctype>
#include <numeric>

#include "format/parquet/arrow_column.h"

namespace caudal {
namespace {

constexpr int64_t kBatchRows = 32 * 1024;

class FileSourceStream : public arrow::io::RandomAccessFile {
 public:
  // `failure`: becomes why a Read failed; outlives the stream.
  FileSourceStream(caudal::RandomAccessFile* file, Status* failure) : file_(file), failure_(failure) {}
  arrow::Status Close() override { return arrow::Status::OK(); }
  bool closed() const override { return false; }
  arrow::Result<int64_t> Tell() const override { return position_; }
  arrow::Status Seek(int64_t position) override {
    position_ = position;
    return arrow::Status::OK();
  }
  arrow::Result<int64_t> GetSize() override { return file_->size(); }
  arrow::Result<int64_t> Read(int64_t size, void* out) override {
    auto bytes = file_->Read(position_, size);
    if (!bytes.ok()) {
      *failure_ = bytes.status();
      return arrow::Status::IOError(failure_->message());
    }
    std::copy_n((*bytes)->data(), (*bytes)->size(), static_cast<char*>(out));
    position_ += static_cast<int64_t>((*bytes)->size());
    return static_cast<int64_t>((*bytes)->size());
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t size) override {
    ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateResizableBuffer(size));
    ARROW_ASSIGN_OR_RAISE(const int64_t got, Read(size, buffer->mutable_data()));
    ARROW_RETURN_NOT_OK(buffer->Resize(got));
    return std::shared_ptr<arrow::Buffer>(std::move(buffer));
  }

 private:
  caudal::RandomAccessFile* file_;
  Status* failure_;
  int64_t position_ = 0;
};

}  // namespace

struct ParquetFileReader::Source {
  Status failure;  // of the file below Parquet
  std::unique_ptr<parquet::arrow::FileReader> file;
  std::unique_ptr<arrow::RecordBatchReader> batches;
  std::shared_ptr<arrow::RecordBatch> batch;  // what Next gives from; null = the next one is to be read
};

ParquetFileReader::ParquetFileReader(std::unique_ptr<Source> source, std::string path)
    : source_(std::move(source)), path_(std::move(path)) {}
ParquetFileReader::~ParquetFileReader() = default;

Status ParquetFileReader::Damaged(const std::string& what) const {
  // A disk that does not answer says nothing about the file.
  if (!source_->failure.ok()) return source_->failure;
  return Status::Data(fmt::format("'{}' cannot be read as Parquet: {}", path_, what));
}

Result<std::unique_ptr<ParquetReader>> ParquetFileReader::Open(RandomAccessFile* file,
                                                               const std::string& path) {
  std::unique_ptr<ParquetFileReader> reader(new ParquetFileReader(std::make_unique<Source>(), path));
  const auto stream = std::make_shared<FileSourceStream>(file, &reader->source_->failure);
  try {
    parquet::ReaderProperties properties = parquet::default_reader_properties();
    properties.set_page_checksum_verification(true);  // of pages that have one
    auto parquet = parquet::ParquetFileReader::Open(stream, properties);
    auto opened = parquet::arrow::FileReader::Make(arrow::default_memory_pool(), std::move(parquet));
    if (!opened.ok()) return reader->Damaged(opened.status().ToString());
    reader->source_->file = std::move(opened).ValueUnsafe();
    RETURN_IF_ERROR(reader->LoadSchema());
  } catch (const std::exception& problem) {
    return reader->Damaged(problem.what());
  }
  return std::unique_ptr<ParquetReader>(std::move(reader));
}

Status ParquetFileReader::LoadSchema() {
  std::shared_ptr<arrow::Schema> schema;
  const arrow::Status got = source_->file->GetSchema(&schema);
  if (!got.ok()) return Damaged(got.ToString());
  // Column indices of Parquet count leaves, so a nested field takes as many as it has.
  int leaf = 0;
  const auto& manifest = source_->file->manifest();
  for (int i = 0; i < schema->num_fields(); ++i) {
    const auto& field = *schema->field(i);
    const std::optional<Type> type = TypeFromArrow(*field.type(), field.nullable());
    if (schema->GetAllFieldIndices(field.name()).size() > 1) {
      unreadable_.emplace_back(field.name(), "name of several columns");
    } else if (type.has_value()) {
      schema_.fields.push_back({field.name(), *type});
      file_column_.push_back(leaf);
      field_ids_.push_back(
          source_->file->parquet_reader()->metadata()->schema()->group_node()->field(i)->field_id());
    } else {
      unreadable_.emplace_back(field.name(), field.type()->ToString());
    }
    std::vector<const parquet::arrow::SchemaField*> open = {&manifest.schema_fields[static_cast<size_t>(i)]};
    while (!open.empty()) {
      const auto* next = open.back();
      open.pop_back();
      if (next->is_leaf()) ++leaf;
      for (const auto& child : next->children) open.push_back(&child);
    }
  }
  return Status();
}

int64_t ParquetFileReader::rows() const { return source_->file->parquet_reader()->metadata()->num_rows(); }

int64_t ParquetFileReader::GroupEnd(int64_t row) const {
  const auto metadata = source_->file->parquet_reader()->metadata();
  int64_t end = 0;
  for (int group = 0; group < metadata->num_row_groups() && end <= row; ++group)
    end += metadata->RowGroup(group)->num_rows();
  return end;
}

// Names are matched exactly, as SQL's are; one that differs in its case alone is a slip, not an absence.
Status ParquetFileReader::RefuseOtherCase(const std::string& name) const {
  const auto same = [&](const std::string& other) {
    return std::equal(name.begin(), name.end(), other.begin(), other.end(), [](char a, char b) {
      return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
    });
  };
  for (const Field& field : schema_.fields) {
    if (!same(field.name)) continue;
    return Status::User(fmt::format("column '{}' is named '{}' in '{}'", name, field.name, path_))
        .Hint("names are matched exactly: write the column as the file does");
  }
  return Status();
}

Status ParquetFileReader::Project(const Schema& wanted, int64_t first) {
  wanted_ = wanted;
  batch_column_.clear();
  std::vector<int> columns;
  for (const Field& field : wanted.fields) {
    const std::optional<int> found = schema_.Find(field.name);
    batch_column_.push_back(found.has_value() ? static_cast<int>(columns.size()) : -1);
    if (found.has_value()) columns.push_back(file_column_[static_cast<size_t>(*found)]);
    if (!found.has_value()) RETURN_IF_ERROR(RefuseOtherCase(field.name));
    for (const auto& [name, type] : unreadable_) {
      if (name != field.name) continue;
      return Status::User(
                 fmt::format("column '{}' of '{}' is a {}, which cannot be read yet", name, path_, type))
          .Hint("read the other columns");
    }
  }
  // A file always has a column to count rows by.
  if (columns.empty() && schema_.size() > 0) columns.push_back(file_column_[0]);
  try {
    const auto metadata = source_->file->parquet_reader()->metadata();
    std::vector<int> groups;
    skip_ = first;
    for (int group = 0; group < metadata->num_row_groups(); ++group) {
      const int64_t rows = metadata->RowGroup(group)->num_rows();
      if (groups.empty() && skip_ >= rows) {
        skip_ -= rows;
      } else {
        groups.push_back(group);
      }
    }
    source_->file->set_batch_size(kBatchRows);
    auto batches = source_->file->GetRecordBatchReader(groups, columns);
    if (!batches.ok()) return Damaged(batches.status().ToString());
    source_->batches = std::move(batches).ValueUnsafe();
    source_->batch = nullptr;
  } catch (const std::exception& problem) {
    return Damaged(problem.what());
  }
  return Status();
}

Status ParquetFileReader::LoadBatch() {
  try {
    for (;;) {
      const arrow::Status read = source_->batches->ReadNext(&source_->batch);
      if (!read.ok()) return Damaged(read.ToString());
      if (source_->batch == nullptr || skip_ < source_->batch->num_rows()) break;
      skip_ -= source_->batch->num_rows();
    }
  } catch (const std::exception& problem) {
    return Damaged(problem.what());
  }
  batch_offset_ = std::exchange(skip_, 0);
  return Status();
}

Result<ColumnPtr> ParquetFileReader::Convert(size_t wanted, int64_t offset, int32_t rows) const {
  const Field& field = wanted_.fields[wanted];
  const int column = batch_column_[wanted];
  if (column < 0) return Column::Null(field.type, rows);
  Result<ColumnPtr> converted = ColumnFromArrow(*source_->batch->column(column), offset, rows, field.type);
  if (converted.ok()) return converted;
  return Status::Data(
      fmt::format("column '{}' of '{}': {}", field.name, path_, converted.status().message()));
}

Result<Chunk> ParquetFileReader::Next() {
  if (source_->batch != nullptr && batch_offset_ >= source_->batch->num_rows()) source_->batch = nullptr;
  if (source_->batch == nullptr) RETURN_IF_ERROR(LoadBatch());
  if (source_->batch == nullptr) return Chunk();
  const int32_t rows =
      static_cast<int32_t>(std::min<int64_t>(Chunk::kMaxRows, source_->batch->num_rows() - batch_offset_));
  std::vector<ColumnPtr> columns;
  for (size_t i = 0; i < wanted_.fields.size(); ++i) {
    ASSIGN_OR_RETURN(columns.emplace_back(), Convert(i, batch_offset_, rows));
  }
  batch_offset_ += rows;
  return Chunk(std::move(columns), rows);
}

}  // namespace caudal
