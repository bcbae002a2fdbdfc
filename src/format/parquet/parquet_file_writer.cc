#include "format/parquet/parquet_file_writer.h"

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <fmt/format.h>
#include <parquet/column_writer.h>
#include <parquet/exception.h>
#include <parquet/file_writer.h>
#include <parquet/properties.h>

#include <algorithm>

#include "format/parquet/parquet_types.h"

namespace caudal {
namespace {

constexpr size_t kMaxGroupBytes = 256u << 20;  // of memory: rows can be long

// Hands Arrow's bytes to the file. A failed write is not Arrow's business: the file keeps the bytes and says
// so again when it is closed.
class FileStream : public arrow::io::OutputStream {
 public:
  explicit FileStream(WritableFile* file) : file_(file) {}
  arrow::Status Close() override { return arrow::Status::OK(); }
  bool closed() const override { return false; }
  arrow::Result<int64_t> Tell() const override { return file_->size(); }
  arrow::Status Write(const void* data, int64_t size) override {
    const Status status = file_->Append({static_cast<const char*>(data), static_cast<size_t>(size)});
    static_cast<void>(status.ok());
    return arrow::Status::OK();
  }
  using arrow::io::OutputStream::Write;

 private:
  WritableFile* file_;
};

std::shared_ptr<arrow::Buffer> Wrap(const void* data, size_t size) {
  return std::make_shared<arrow::Buffer>(static_cast<const uint8_t*>(data), static_cast<int64_t>(size));
}

template <typename ParquetType>
void WriteFixed(const ParquetStore& store, parquet::ColumnWriter* column) {
  using Value = typename ParquetType::c_type;
  auto* typed = static_cast<parquet::TypedColumnWriter<ParquetType>*>(column);
  const int16_t* levels = store.levels().empty() ? nullptr : store.levels().data();
  typed->WriteBatch(store.rows(), levels, nullptr, reinterpret_cast<const Value*>(store.values().data()));
}

void WriteWide(const ParquetStore& store, parquet::ColumnWriter* column) {
  std::vector<parquet::FixedLenByteArray> values;
  for (size_t at = 0; at < store.values().size(); at += 16) {
    values.emplace_back(reinterpret_cast<const uint8_t*>(store.values().data() + at));
  }
  auto* typed = static_cast<parquet::FixedLenByteArrayWriter*>(column);
  const int16_t* levels = store.levels().empty() ? nullptr : store.levels().data();
  typed->WriteBatch(store.rows(), levels, nullptr, values.data());
}

std::shared_ptr<arrow::Array> TextArray(bool utf8, const std::vector<int32_t>& offsets,
                                        const std::string& text, std::shared_ptr<arrow::Buffer> validity,
                                        int64_t nulls) {
  const int64_t size = static_cast<int64_t>(offsets.size()) - 1;
  auto where = Wrap(offsets.data(), offsets.size() * sizeof(int32_t));
  auto bytes = Wrap(text.data(), text.size());
  if (utf8) return std::make_shared<arrow::StringArray>(size, where, bytes, std::move(validity), nulls);
  return std::make_shared<arrow::BinaryArray>(size, where, bytes, std::move(validity), nulls);
}

arrow::Status WriteText(const ParquetStore& store, parquet::ColumnWriter* column,
                        parquet::ArrowWriteContext* context) {
  const std::vector<uint8_t> bits = store.Validity();
  std::shared_ptr<arrow::Buffer> validity = bits.empty() ? nullptr : Wrap(bits.data(), bits.size());
  const bool utf8 = store.type().is_string();
  std::shared_ptr<arrow::Array> array;
  if (store.coded()) {
    auto names = TextArray(utf8, store.dictionary_offsets(), store.dictionary_text(), nullptr, 0);
    auto codes = std::make_shared<arrow::Int32Array>(
        store.rows(), Wrap(store.codes().data(), store.codes().size() * sizeof(int32_t)), validity,
        store.nulls());
    array = std::make_shared<arrow::DictionaryArray>(arrow::dictionary(arrow::int32(), names->type()), codes,
                                                     names);
  } else {
    array = TextArray(utf8, store.offsets(), store.text(), validity, store.nulls());
  }
  const int16_t* levels = store.levels().empty() ? nullptr : store.levels().data();
  return column->WriteArrow(levels, nullptr, store.rows(), *array, context, store.type().nullable());
}

// All of a column's values; the column is closed afterwards.
arrow::Status WriteStore(const ParquetStore& store, parquet::ColumnWriter* column,
                         parquet::ArrowWriteContext* context) {
  arrow::Status status;
  switch (store.type().physical()) {
    case Physical::kBool:
      WriteFixed<parquet::BooleanType>(store, column);
      break;
    case Physical::kInt8:
    case Physical::kInt16:
    case Physical::kInt32:
      WriteFixed<parquet::Int32Type>(store, column);
      break;
    case Physical::kInt64:
      WriteFixed<parquet::Int64Type>(store, column);
      break;
    case Physical::kFloat:
      WriteFixed<parquet::FloatType>(store, column);
      break;
    case Physical::kDouble:
      WriteFixed<parquet::DoubleType>(store, column);
      break;
    case Physical::kInt128:
      WriteWide(store, column);
      break;
    default:
      status = WriteText(store, column, context);
  }
  if (status.ok()) column->Close();
  return status;
}

}  // namespace

struct ParquetFileWriter::Target {
  std::shared_ptr<arrow::io::OutputStream> stream;
  std::shared_ptr<parquet::ArrowWriterProperties> arrow_properties =
      parquet::default_arrow_writer_properties();
  parquet::ArrowWriteContext context{arrow::default_memory_pool(), arrow_properties.get()};
  std::unique_ptr<parquet::ParquetFileWriter> file;
  parquet::RowGroupWriter* group = nullptr;  // of the group that is being encoded
};

size_t ParquetFileWriter::RowGroup::bytes() const {
  size_t sum = 0;
  for (const ParquetStore& store : columns) sum += store.bytes();
  return sum;
}

ParquetFileWriter::ParquetFileWriter(Schema schema, ParquetOptions options, WritableFile* file)
    : schema_(std::move(schema)), options_(options), file_(file), gathering_(NewGroup()) {}
ParquetFileWriter::~ParquetFileWriter() = default;

Result<std::unique_ptr<ParquetWriter>> ParquetFileWriter::Make(const Schema& schema,
                                                               const ParquetOptions& options,
                                                               WritableFile* file) {
  if (schema.fields.empty()) return Status::User("a Parquet file needs a column");
  RETURN_IF_ERROR(MakeParquetSchema(schema).status());
  return std::unique_ptr<ParquetWriter>(new ParquetFileWriter(schema, options, file));
}

std::unique_ptr<ParquetFileWriter::RowGroup> ParquetFileWriter::NewGroup() const {
  auto group = std::make_unique<RowGroup>();
  for (const Field& field : schema_.fields) group->columns.emplace_back(field.type);
  return group;
}

Status ParquetFileWriter::Append(const std::vector<ColumnPtr>& columns, RowSet rows) {
  if (rows.count == 0) return Status();
  for (size_t i = 0; i < columns.size(); ++i) {
    ParquetStore& store = gathering_->columns[i];
    store.Append(*columns[i], rows);
    if (store.overflown()) {
      return Status::Data(fmt::format("column '{}': {} rows have more than 2 GB of text",
                                      schema_.fields[i].name, rows.count));
    }
  }
  gathering_->rows += rows.count;
  rows_ += rows.count;
  if (gathering_->rows >= options_.row_group_rows || gathering_->bytes() > kMaxGroupBytes)
    return CloseGroup();
  return Status();
}

Status ParquetFileWriter::CloseGroup() {
  RETURN_IF_ERROR(EncodeAll());
  encoding_ = std::exchange(gathering_, NewGroup());
  encoded_columns_ = 0;
  return Status();
}

Status ParquetFileWriter::OpenTarget() {
  auto target = std::make_unique<Target>();
  target->stream = std::make_shared<FileStream>(file_);
  ASSIGN_OR_RETURN(auto root, MakeParquetSchema(schema_));
  parquet::WriterProperties::Builder properties;
  properties.version(parquet::ParquetVersion::PARQUET_2_6)->created_by("caudal")->enable_write_page_index();
  switch (options_.compression) {
    case ParquetOptions::Compression::kZstd:
      properties.compression(parquet::Compression::ZSTD)->compression_level(options_.compression_level);
      break;
    case ParquetOptions::Compression::kSnappy:
      properties.compression(parquet::Compression::SNAPPY);
      break;
    case ParquetOptions::Compression::kNone:
      properties.compression(parquet::Compression::UNCOMPRESSED);
      break;
  }
  // A dictionary where the values come as codes; elsewhere building one costs more than it saves.
  properties.disable_dictionary();
  for (size_t i = 0; i < schema_.fields.size(); ++i) {
    if (encoding_->columns[i].coded()) properties.enable_dictionary(schema_.fields[i].name);
  }
  target->file = parquet::ParquetFileWriter::Open(target->stream, root, properties.build());
  target_ = std::move(target);
  return Status();
}

Status ParquetFileWriter::EncodeColumn() {
  try {
    if (target_ == nullptr) RETURN_IF_ERROR(OpenTarget());
    if (target_->group == nullptr) target_->group = target_->file->AppendRowGroup();
    const arrow::Status written =
        WriteStore(encoding_->columns[encoded_columns_], target_->group->NextColumn(), &target_->context);
    if (!written.ok()) return Status::Internal("Parquet: " + written.ToString());
    ++encoded_columns_;
    if (encoded_columns_ == encoding_->columns.size()) {
      target_->group->Close();
      target_->group = nullptr;
      encoded_rows_ += encoding_->rows;
      encoding_ = nullptr;
    }
  } catch (const std::exception& problem) {
    return Status::Internal(fmt::format("Parquet: {}", problem.what()));
  }
  return Status();
}

Status ParquetFileWriter::EncodeAll() {
  while (encoding_ != nullptr) RETURN_IF_ERROR(EncodeColumn());
  return Status();
}

Result<bool> ParquetFileWriter::Step() {
  if (encoding_ == nullptr) return false;
  RETURN_IF_ERROR(EncodeColumn());
  return encoding_ != nullptr;
}

Result<ParquetFooter> ParquetFileWriter::Finish() {
  if (finished_) return footer_;
  if (gathering_->rows > 0 || (rows_ == 0 && target_ == nullptr)) {
    RETURN_IF_ERROR(CloseGroup());
  }
  RETURN_IF_ERROR(EncodeAll());
  try {
    target_->file->Close();
    const auto metadata = target_->file->metadata();
    footer_.rows = metadata->num_rows();
    footer_.row_groups = metadata->num_row_groups();
  } catch (const std::exception& problem) {
    return Status::Internal(fmt::format("Parquet: {}", problem.what()));
  }
  finished_ = true;
  return footer_;
}

int64_t ParquetFileWriter::buffered_bytes() const {
  return static_cast<int64_t>(gathering_->bytes() + (encoding_ == nullptr ? 0 : encoding_->bytes()));
}

int64_t ParquetFileWriter::estimated_file_bytes() const {
  constexpr int64_t kUsualRatio = 3;  // of what waits, before the first row group tells
  const int64_t waiting = rows_ - encoded_rows_;
  if (encoded_rows_ == 0) return buffered_bytes() / kUsualRatio;
  return file_->size() + waiting * file_->size() / encoded_rows_;
}

}  // namespace caudal
