// ParquetFileWriter: ParquetWriter over Arrow's ParquetFileWriter. Lives in the Parquet module.
//
// Arrow's exceptions end in its .cc.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "format/parquet/parquet_store.h"
#include "format/parquet_writer.h"

namespace caudal {

class ParquetFileWriter : public ParquetWriter {
 public:
  static Result<std::unique_ptr<ParquetWriter>> Make(const Schema& schema, const ParquetOptions& options,
                                                     WritableFile* file);
  ~ParquetFileWriter() override;

  Status Append(const std::vector<ColumnPtr>& columns, RowSet rows) override;
  Result<bool> Step() override;
  Status EndRows() override;
  Result<ParquetFooter> Finish() override;
  int64_t rows() const override { return rows_; }
  int64_t buffered_bytes() const override;
  int64_t estimated_file_bytes() const override;

 private:
  struct Target;
  struct RowGroup {
    std::vector<ParquetStore> columns;
    int64_t rows = 0;
    size_t bytes() const;
  };

  ParquetFileWriter(Schema schema, ParquetOptions options, WritableFile* file);
  std::unique_ptr<RowGroup> NewGroup();
  // Moves the gathered rows behind the group that is being encoded, encoding that first.
  Status CloseGroup();
  Status OpenTarget();
  Status EncodePart();
  void CloseColumn();
  void ForgetSpare();
  Status EncodeAll();

  Schema schema_;
  ParquetOptions options_;
  WritableFile* file_;
  std::unique_ptr<Target> target_;       // Arrow's objects; made with the first row group
  std::unique_ptr<RowGroup> spare_;      // encoded and cleared: memory for the next gathering_; may be null
  std::unique_ptr<RowGroup> gathering_;  // never null
  std::unique_ptr<RowGroup> encoding_;   // full, some of its columns are in the file; null if there is none
  size_t encoded_columns_ = 0;
  int64_t rows_ = 0;
  int64_t encoded_rows_ = 0;
  bool rows_ended_ = false;
  bool finished_ = false;
  ParquetFooter footer_;
};

}  // namespace caudal
