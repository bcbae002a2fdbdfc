#include "connect/filesystem/sink/output_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "format/format.h"
#include "format/parquet_writer.h"
#include "fs/deferred_file.h"

namespace caudal {
namespace {

class ParquetOutput : public OutputFile {
 public:
  static Result<std::unique_ptr<OutputFile>> Make(const Format& format, std::string path) {
    ParquetOptions options;
    std::string codec = format.options.parquet_compression;
    for (char& c : codec) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    if (codec == "SNAPPY") {
      options.compression = ParquetOptions::Compression::kSnappy;
    } else if (codec == "UNCOMPRESSED" || codec == "NONE") {
      options.compression = ParquetOptions::Compression::kNone;
    } else if (codec != "ZSTD") {
      return Status::User(fmt::format("option 'parquet.compression': '{}' is not known", codec))
          .Hint("there are 'ZSTD', 'SNAPPY' and 'UNCOMPRESSED'");
    }
    auto output = std::make_unique<ParquetOutput>(format, std::move(path));
    ASSIGN_OR_RETURN(output->writer_, ParquetWriter::Make(format.content, options, &output->file_));
    return std::unique_ptr<OutputFile>(std::move(output));
  }
  ParquetOutput(const Format& format, std::string path)
      : file_(format.files, std::move(path), format.pending) {}

  Status Append(const std::vector<ColumnPtr>& columns, RowSet rows) override {
    return writer_->Append(columns, rows);
  }
  Status EndRows() override { return writer_->EndRows(); }
  Result<bool> Step() override { return writer_->Step(); }
  Result<int64_t> Finish() override {
    ASSIGN_OR_RETURN(const ParquetFooter footer, writer_->Finish());
    RETURN_IF_ERROR(file_.Close());
    return footer.rows;
  }
  int64_t size() const override { return file_.size(); }
  int64_t estimated_bytes() const override { return writer_->estimated_file_bytes(); }
  int64_t buffered_bytes() const override { return writer_->buffered_bytes() + file_.unwritten(); }
  const std::string& path() const override { return file_.path(); }
  std::string ticket() const override { return file_.ticket(); }

 private:
  DeferredFile file_;
  std::unique_ptr<ParquetWriter> writer_;
};

// One record a line.
class LinesOutput : public OutputFile {
 public:
  LinesOutput(const Format& format, std::string path, std::unique_ptr<Encoder> encoder)
      : file_(format.files, std::move(path), format.pending), encoder_(std::move(encoder)) {}

  Status Append(const std::vector<ColumnPtr>& columns, RowSet rows) override {
    auto* selection = new Selection();
    for (int32_t i = 0; i < rows.count; ++i) selection->rows.push_back(static_cast<uint16_t>(rows[i]));
    const SelectionPtr selected(selection);
    const int32_t physical = columns.empty() ? rows.count : columns[0]->size();
    text_.clear();
    ends_.clear();
    RETURN_IF_ERROR(encoder_->Encode(Chunk(columns, physical, selected), &text_, &ends_));
    lines_.clear();
    size_t begin = 0;
    for (const size_t end : ends_) {
      lines_.append(text_, begin, end - begin).push_back('\n');
      begin = end;
    }
    // JSON holds no bare line break, so this counts what will be read.
    rows_ += std::count(lines_.begin(), lines_.end(), '\n');
    const Status status = file_.Append(lines_);
    static_cast<void>(status.ok());  // the file keeps the bytes; Finish tells
    return Status();
  }
  Result<int64_t> Finish() override {
    RETURN_IF_ERROR(file_.Close());
    return rows_;
  }
  int64_t size() const override { return file_.size(); }
  int64_t estimated_bytes() const override { return file_.size(); }
  int64_t buffered_bytes() const override {
    return static_cast<int64_t>(text_.capacity() + lines_.capacity()) + file_.unwritten();
  }
  const std::string& path() const override { return file_.path(); }
  std::string ticket() const override { return file_.ticket(); }

 private:
  DeferredFile file_;
  std::unique_ptr<Encoder> encoder_;
  std::string text_, lines_;
  std::vector<size_t> ends_;
  int64_t rows_ = 0;
};

}  // namespace

Result<std::unique_ptr<OutputFile>> OutputFile::Make(const Format& format, std::string path) {
  if (format.options.format == "parquet") return ParquetOutput::Make(format, std::move(path));
  ASSIGN_OR_RETURN(std::unique_ptr<Encoder> encoder,
                   MakeEncoder(format.options.format, format.content, format.table_options));
  return std::unique_ptr<OutputFile>(new LinesOutput(format, std::move(path), std::move(encoder)));
}

}  // namespace caudal
