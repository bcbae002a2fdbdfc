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

#include "format/parquet/page_memory.h"
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

constexpr int64_t kPartRows = 16 * 1024;  // encoded at once: a few milliseconds
// Codes are encoded at a tenth of what text costs.
constexpr int64_t kCodedRows = 128 * 1024;
// Rows that gather, in memory; more of them if what gathered before is still being encoded.
constexpr size_t kPartBytes = 8u << 20;
constexpr int64_t kLatestParts = 2;
constexpr size_t kMaxGroupBytes = 256u << 20;  // rows can be long
constexpr size_t kKeptBytes = 64u << 20;       // of memory that is used again

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
  parquet::ArrowWriteContext context{PageMemory::OfProgram(), arrow_properties.get()};
  std::unique_ptr<parquet::ParquetFileWriter> file;
  // Its pages are compressed as they fill and wait in memory, those of all columns side by side: values need
  // not wait for the rest of their group, which takes six times as much.
  parquet::RowGroupWriter* group = nullptr;
  // Of the column that is being encoded.
  bool begun = false;
  ParquetPart part{0, 0, 0};           // the last one written
  std::shared_ptr<arrow::Array> text;  // of a column of strings
  std::vector<uint8_t> validity;       // what `text` points into

  int64_t compressed_bytes() const {
    return group == nullptr ? 0 : group->total_compressed_bytes_written() + group->total_compressed_bytes();
  }
  int64_t open_page_bytes() const {
    return group == nullptr ? 0 : group->estimated_buffered_stats().value_bytes;
  }
};

size_t ParquetFileWriter::Bytes(const Stores& stores) {
  size_t sum = 0;
  for (const ParquetStore& store : stores) sum += store.bytes();
  return sum;
}

ParquetFileWriter::ParquetFileWriter(Schema schema, ParquetOptions options, WritableFile* file)
    : schema_(std::move(schema)), options_(std::move(options)), file_(file) {
  gathering_ = NewStores();
  encoding_ = NewStores();
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

ParquetFileWriter::Stores ParquetFileWriter::NewStores() const {
  Stores stores;
  stores.reserve(schema_.fields.size());
  for (const Field& field : schema_.fields) stores.emplace_back(field.type);
  return stores;
}

Status ParquetFileWriter::Append(const std::vector<ColumnPtr>& columns, RowSet rows) {
  if (rows.count == 0) return Status();
  for (size_t i = 0; i < columns.size(); ++i) {
    gathering_[i].Append(*columns[i], rows);
    if (gathering_[i].overflown()) {
      return Status::Data(fmt::format("column '{}': {} rows have more than 2 GB of text",
                                      schema_.fields[i].name, rows.count));
    }
  }
  part_rows_ += rows.count;
  group_rows_ += rows.count;
  rows_ += rows.count;
  size_t bytes = 0, waiting_bytes = 0;  // the second: of columns that wait for the end of their group
  for (const ParquetStore& store : gathering_) {
    (store.coded() ? waiting_bytes : bytes) += store.used_bytes();
  }
  if (group_rows_ >= options_.row_group_rows || group_bytes_ + bytes + waiting_bytes > kMaxGroupBytes) {
    return ClosePart(/*closes_group=*/true);
  }
  const bool late = part_rows_ >= kLatestParts * kPartRows || bytes >= kLatestParts * kPartBytes;
  const bool full = part_rows_ >= kPartRows || bytes >= kPartBytes;
  return late || (full && !is_encoding_) ? ClosePart(/*closes_group=*/false) : Status();
}

Status ParquetFileWriter::ClosePart(bool closes_group) {
  RETURN_IF_ERROR(EncodeAll());
  if (encoding_.empty()) encoding_ = NewStores();  // of a file without rows
  for (size_t i = 0; i < gathering_.size(); ++i) {
    ParquetStore& store = gathering_[i];
    if (!closes_group) {
      store.GiveUpManyCodes(kPartBytes);
      // Arrow takes codes of one dictionary only, which is not known before the group's last row.
      if (store.coded()) continue;
    }
    const bool is_text = store.type().is_string() && !store.coded();
    std::swap(store, encoding_[i]);
    if (is_text && !closes_group) gathering_[i].GiveUpCodes();  // nor does it take codes behind text
  }
  for (const ParquetStore& store : encoding_) group_bytes_ += store.used_bytes();
  if (closes_group) group_bytes_ = 0;
  is_encoding_ = true;
  closes_group_ = closes_group;
  encoded_columns_ = 0;
  part_rows_ = 0;
  if (closes_group) closing_rows_ = std::exchange(group_rows_, 0);
  return Status();
}

Status ParquetFileWriter::OpenTarget() {
  auto target = std::make_unique<Target>();
  target->stream = std::make_shared<FileStream>(file_);
  ASSIGN_OR_RETURN(auto root, MakeParquetSchema(schema_, options_.field_ids));
  parquet::WriterProperties::Builder properties;
  properties.memory_pool(PageMemory::OfProgram());
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
    // Codes wait for the end of their group.
    const bool waits = !closes_group_ && encoding_[i].rows() == 0;
    const ParquetStore& first = waits ? gathering_[i] : encoding_[i];
    if (first.coded()) properties.enable_dictionary(name);
    if (options_.compression != ParquetOptions::Compression::kZstd) continue;
    if (auto zstd = CheaperZstd(first, !closes_group_, options_.compression_level)) {
      properties.codec_options(name, zstd);
    }
  }
  target->file = parquet::ParquetFileWriter::Open(target->stream, root, properties.build());
  target_ = std::move(target);
  return Status();
}

// The next rows of the column; ends the column when that was the rest of what gathered.
Status ParquetFileWriter::EncodePart() {
  try {
    if (target_ == nullptr) RETURN_IF_ERROR(OpenTarget());
    Target& target = *target_;
    const ParquetStore& store = encoding_[encoded_columns_];
    if (target.group == nullptr) target.group = target.file->AppendBufferedRowGroup();
    if (!target.begun) {
      target.begun = true;
      target.part = {0, 0, 0};
      target.validity = store.Validity();
      target.text =
          store.type().physical() == Physical::kString ? MakeTextArray(store, target.validity) : nullptr;
    }
    if (store.rows() > 0) RETURN_IF_ERROR(WritePart(store));
    if (target.part.first_row == store.rows()) EndColumn();
  } catch (const std::exception& problem) {
    return Status::Internal(fmt::format("Parquet: {}", problem.what()));
  }
  return Status();
}

Status ParquetFileWriter::WritePart(const ParquetStore& store) {
  Target& target = *target_;
  ParquetPart& part = target.part;
  parquet::ColumnWriter* column = target.group->column(static_cast<int>(encoded_columns_));
  part.rows = std::min(store.coded() ? kCodedRows : kPartRows, store.rows() - part.first_row);
  if (target.text != nullptr) {
    const arrow::Status written = column->WriteArrow(part.Levels(store), nullptr, part.rows,
                                                     *target.text->Slice(part.first_row, part.rows),
                                                     &target.context, store.type().nullable());
    if (!written.ok()) return Status::Internal("Parquet: " + written.ToString());
  } else {
    WriteValues(store, part, column);
    const int16_t* levels = part.Levels(store);
    part.first_value += levels == nullptr ? part.rows : std::count(levels, levels + part.rows, int16_t{1});
  }
  part.first_row += part.rows;
  return Status();
}

void ParquetFileWriter::EndColumn() {
  Target& target = *target_;
  ParquetStore& store = encoding_[encoded_columns_];
  // One at a time: its last page is compressed, and all go to the file.
  if (closes_group_) target.group->column(static_cast<int>(encoded_columns_))->Close();
  footer_.columns[encoded_columns_].nulls += store.nulls();
  footer_.columns[encoded_columns_].nans += store.nans();
  target.text = nullptr;
  target.begun = false;
  store.Clear();
  // Columns that wait have nothing here.
  while (++encoded_columns_ < encoding_.size() && !closes_group_ && encoding_[encoded_columns_].rows() == 0) {
  }
  if (encoded_columns_ < encoding_.size()) return;
  if (closes_group_) {
    target.group->Close();
    target.group = nullptr;
    encoded_rows_ += closing_rows_;
  }
  is_encoding_ = false;
  if (rows_ended_) {
    encoding_.clear();
  } else if (Bytes(encoding_) > kKeptBytes) {
    encoding_ = NewStores();
  }
}

Status ParquetFileWriter::EncodeAll() {
  while (is_encoding_) RETURN_IF_ERROR(EncodePart());
  return Status();
}

Result<bool> ParquetFileWriter::Step() {
  if (!is_encoding_) return false;
  RETURN_IF_ERROR(EncodePart());
  return is_encoding_;
}

Status ParquetFileWriter::EndRows() {
  if (group_rows_ > 0) RETURN_IF_ERROR(ClosePart(/*closes_group=*/true));
  // No row comes any more: memory for it would be held until the epoch is committed.
  rows_ended_ = true;
  gathering_.clear();
  if (!is_encoding_) encoding_.clear();
  return Status();
}

Result<ParquetFooter> ParquetFileWriter::Finish() {
  if (finished_) return footer_;
  RETURN_IF_ERROR(EndRows());
  if (rows_ == 0 && target_ == nullptr) RETURN_IF_ERROR(ClosePart(/*closes_group=*/true));
  RETURN_IF_ERROR(EncodeAll());
  try {
    target_->file->Close();
    SummarizeColumns(*target_->file->metadata(), schema_, &footer_);
  } catch (const std::exception& problem) {
    return Status::Internal(fmt::format("Parquet: {}", problem.what()));
  }
  target_ = nullptr;  // and Arrow's memory
  finished_ = true;
  return footer_;
}

int64_t ParquetFileWriter::buffered_bytes() const {
  const int64_t stores = static_cast<int64_t>(Bytes(gathering_) + Bytes(encoding_));
  return target_ == nullptr ? stores : stores + target_->compressed_bytes() + target_->open_page_bytes();
}

int64_t ParquetFileWriter::estimated_file_bytes() const {
  constexpr int64_t kUsualRatio = 3;  // of what waits, before the first row group tells
  const int64_t waiting = rows_ - encoded_rows_;
  if (encoded_rows_ > 0) return file_->size() + waiting * file_->size() / encoded_rows_;
  const int64_t compressed = target_ == nullptr ? 0 : target_->compressed_bytes();
  return compressed + (buffered_bytes() - compressed) / kUsualRatio;
}

}  // namespace caudal
