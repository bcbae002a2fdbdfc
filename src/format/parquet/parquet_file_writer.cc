#include "format/parquet/parquet_file_writer.h"

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/memory_pool.h>
#include <fmt/format.h>
#include <parquet/column_writer.h>
#include <parquet/exception.h>
#include <parquet/file_writer.h>
#include <parquet/properties.h>

#include <algorithm>

#include "format/parquet/parquet_summary.h"
#include "format/parquet/parquet_types.h"
#include "format/parquet/zstd_trial.h"

namespace caudal {

// Rows of a store that one step encodes, and where its values, the NULLs left out, begin.
struct ParquetPart {
  int64_t first_row;
  int64_t rows;
  int64_t first_value;

  const int16_t* Levels(const ParquetStore& store) const {
    return store.levels().empty() ? nullptr : store.levels().data() + first_row;
  }
};

namespace {

constexpr int64_t kPartRows = 16 * 1024;       // encoded at once: a few milliseconds
constexpr size_t kMaxGroupBytes = 256u << 20;  // of memory: rows can be long
constexpr size_t kKeptGroupBytes = 64u << 20;  // of memory that is used again

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

// The allocator of the rest of the program. Arrow's own default gives the pages of every buffer back to the
// kernel, so that each column of each row group faults them in anew.
arrow::MemoryPool* Pool() { return arrow::system_memory_pool(); }

std::shared_ptr<arrow::Buffer> Wrap(const void* data, size_t size) {
  return std::make_shared<arrow::Buffer>(static_cast<const uint8_t*>(data), static_cast<int64_t>(size));
}

template <typename ParquetType>
void WriteFixed(const ParquetStore& store, const ParquetPart& part, parquet::ColumnWriter* column) {
  using Value = typename ParquetType::c_type;
  auto* typed = static_cast<parquet::TypedColumnWriter<ParquetType>*>(column);
  typed->WriteBatch(part.rows, part.Levels(store), nullptr,
                    reinterpret_cast<const Value*>(store.values().data()) + part.first_value);
}

void WriteWide(const ParquetStore& store, const ParquetPart& part, parquet::ColumnWriter* column) {
  constexpr size_t kWidth = 16;
  std::vector<parquet::FixedLenByteArray> values;
  const size_t count = store.values().size() / kWidth;
  for (size_t i = static_cast<size_t>(part.first_value);
       i < count && values.size() < static_cast<size_t>(part.rows); ++i) {
    values.emplace_back(reinterpret_cast<const uint8_t*>(store.values().data() + i * kWidth));
  }
  auto* typed = static_cast<parquet::FixedLenByteArrayWriter*>(column);
  typed->WriteBatch(part.rows, part.Levels(store), nullptr, values.data());
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

// A whole store of strings as an array that points into it and into `validity`.
std::shared_ptr<arrow::Array> MakeTextArray(const ParquetStore& store, const std::vector<uint8_t>& bits) {
  std::shared_ptr<arrow::Buffer> validity = bits.empty() ? nullptr : Wrap(bits.data(), bits.size());
  const bool utf8 = store.type().is_string();
  if (!store.coded()) return TextArray(utf8, store.offsets(), store.text(), validity, store.nulls());
  auto names = TextArray(utf8, store.dictionary_offsets(), store.dictionary_text(), nullptr, 0);
  auto codes = std::make_shared<arrow::Int32Array>(
      store.rows(), Wrap(store.codes().data(), store.codes().size() * sizeof(int32_t)), validity,
      store.nulls());
  return std::make_shared<arrow::DictionaryArray>(arrow::dictionary(arrow::int32(), names->type()), codes,
                                                  names);
}

void WriteValues(const ParquetStore& store, const ParquetPart& part, parquet::ColumnWriter* column) {
  switch (store.type().physical()) {
    case Physical::kBool:
      return WriteFixed<parquet::BooleanType>(store, part, column);
    case Physical::kInt8:
    case Physical::kInt16:
    case Physical::kInt32:
      return WriteFixed<parquet::Int32Type>(store, part, column);
    case Physical::kInt64:
      return WriteFixed<parquet::Int64Type>(store, part, column);
    case Physical::kFloat:
      return WriteFixed<parquet::FloatType>(store, part, column);
    case Physical::kDouble:
      return WriteFixed<parquet::DoubleType>(store, part, column);
    default:
      return WriteWide(store, part, column);
  }
}

}  // namespace

struct ParquetFileWriter::Target {
  std::shared_ptr<arrow::io::OutputStream> stream;
  std::shared_ptr<parquet::ArrowWriterProperties> arrow_properties =
      parquet::default_arrow_writer_properties();
  parquet::ArrowWriteContext context{Pool(), arrow_properties.get()};
  std::unique_ptr<parquet::ParquetFileWriter> file;
  // Of what is being encoded.
  parquet::RowGroupWriter* group = nullptr;
  parquet::ColumnWriter* column = nullptr;
  ParquetPart part{0, 0, 0};           // the last one written
  std::shared_ptr<arrow::Array> text;  // of a column of strings
  std::vector<uint8_t> validity;       // what `text` points into
};

size_t ParquetFileWriter::RowGroup::bytes() const {
  size_t sum = 0;
  for (const ParquetStore& store : columns) sum += store.bytes();
  return sum;
}

ParquetFileWriter::ParquetFileWriter(Schema schema, ParquetOptions options, WritableFile* file)
    : schema_(std::move(schema)), options_(std::move(options)), file_(file), gathering_(NewGroup()) {
  footer_.columns.resize(schema_.fields.size());
}
ParquetFileWriter::~ParquetFileWriter() = default;

Result<std::unique_ptr<ParquetWriter>> ParquetFileWriter::Make(const Schema& schema,
                                                               const ParquetOptions& options,
                                                               WritableFile* file) {
  if (schema.fields.empty()) return Status::User("a Parquet file needs a column");
  RETURN_IF_ERROR(MakeParquetSchema(schema, options.field_ids).status());
  return std::unique_ptr<ParquetWriter>(new ParquetFileWriter(schema, options, file));
}

std::unique_ptr<ParquetFileWriter::RowGroup> ParquetFileWriter::NewGroup() {
  if (spare_ != nullptr) return std::move(spare_);
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
  ASSIGN_OR_RETURN(auto root, MakeParquetSchema(schema_, options_.field_ids));
  parquet::WriterProperties::Builder properties;
  properties.memory_pool(Pool());
  properties.version(parquet::ParquetVersion::PARQUET_2_6)->created_by("caudal")->enable_write_page_index();
  properties.enable_page_checksum();  // else a damaged page reads as other values
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
    const std::string& name = schema_.fields[i].name;
    if (encoding_->columns[i].coded()) properties.enable_dictionary(name);
    if (options_.compression != ParquetOptions::Compression::kZstd) continue;
    if (auto zstd = CheaperZstd(encoding_->columns[i], options_.compression_level)) {
      properties.codec_options(name, zstd);
    }
  }
  target->file = parquet::ParquetFileWriter::Open(target->stream, root, properties.build());
  target_ = std::move(target);
  return Status();
}

// The next rows of the column, at most kPartRows; closes the column, and the group, when that was the rest.
Status ParquetFileWriter::EncodePart() {
  try {
    if (target_ == nullptr) RETURN_IF_ERROR(OpenTarget());
    Target& target = *target_;
    const ParquetStore& store = encoding_->columns[encoded_columns_];
    if (target.group == nullptr) target.group = target.file->AppendRowGroup();
    if (target.column == nullptr) {
      target.column = target.group->NextColumn();
      target.part = {0, 0, 0};
      target.validity = store.Validity();
      target.text =
          store.type().physical() == Physical::kString ? MakeTextArray(store, target.validity) : nullptr;
    }
    ParquetPart& part = target.part;
    part.rows = std::min(kPartRows, store.rows() - part.first_row);
    if (target.text != nullptr) {
      const arrow::Status written = target.column->WriteArrow(part.Levels(store), nullptr, part.rows,
                                                              *target.text->Slice(part.first_row, part.rows),
                                                              &target.context, store.type().nullable());
      if (!written.ok()) return Status::Internal("Parquet: " + written.ToString());
    } else {
      WriteValues(store, part, target.column);
      const int16_t* levels = part.Levels(store);
      part.first_value += levels == nullptr ? part.rows : std::count(levels, levels + part.rows, int16_t{1});
    }
    part.first_row += part.rows;
    if (part.first_row == store.rows()) CloseColumn();
  } catch (const std::exception& problem) {
    return Status::Internal(fmt::format("Parquet: {}", problem.what()));
  }
  return Status();
}

void ParquetFileWriter::CloseColumn() {
  target_->column->Close();
  target_->column = nullptr;
  const ParquetStore& store = encoding_->columns[encoded_columns_];
  footer_.columns[encoded_columns_].nulls += store.nulls();
  footer_.columns[encoded_columns_].nans += store.nans();
  target_->text = nullptr;
  if (++encoded_columns_ < encoding_->columns.size()) return;
  target_->group->Close();
  target_->group = nullptr;
  encoded_rows_ += encoding_->rows;
  // Growing from nothing again would copy every value once more and touch fresh pages.
  if (!rows_ended_ && encoding_->bytes() <= kKeptGroupBytes) spare_ = std::move(encoding_);
  encoding_ = nullptr;
  if (spare_ == nullptr) return;
  spare_->rows = 0;
  for (ParquetStore& store : spare_->columns) store.Clear();
}

Status ParquetFileWriter::EncodeAll() {
  while (encoding_ != nullptr) RETURN_IF_ERROR(EncodePart());
  return Status();
}

Result<bool> ParquetFileWriter::Step() {
  if (encoding_ == nullptr) return false;
  RETURN_IF_ERROR(EncodePart());
  return encoding_ != nullptr;
}

// No row comes any more: memory for it would be held until the epoch is committed.
void ParquetFileWriter::ForgetSpare() {
  rows_ended_ = true;
  spare_ = nullptr;
  if (gathering_->rows == 0) gathering_ = NewGroup();
}

Status ParquetFileWriter::EndRows() {
  ForgetSpare();
  return gathering_->rows > 0 ? CloseGroup() : Status();
}

Result<ParquetFooter> ParquetFileWriter::Finish() {
  if (finished_) return footer_;
  ForgetSpare();
  if (gathering_->rows > 0 || (rows_ == 0 && target_ == nullptr)) {
    RETURN_IF_ERROR(CloseGroup());
  }
  RETURN_IF_ERROR(EncodeAll());
  try {
    target_->file->Close();
    SummarizeColumns(*target_->file->metadata(), schema_, &footer_);
  } catch (const std::exception& problem) {
    return Status::Internal(fmt::format("Parquet: {}", problem.what()));
  }
  finished_ = true;
  return footer_;
}

int64_t ParquetFileWriter::buffered_bytes() const {
  size_t bytes = gathering_->bytes();
  for (const RowGroup* group : {encoding_.get(), spare_.get()})
    bytes += group == nullptr ? 0 : group->bytes();
  return static_cast<int64_t>(bytes);
}

int64_t ParquetFileWriter::estimated_file_bytes() const {
  constexpr int64_t kUsualRatio = 3;  // of what waits, before the first row group tells
  const int64_t waiting = rows_ - encoded_rows_;
  if (encoded_rows_ == 0) return buffered_bytes() / kUsualRatio;
  return file_->size() + waiting * file_->size() / encoded_rows_;
}

}  // namespace caudal
