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
  using Stores = std::vector<ParquetStore>;  // one a column

  ParquetFileWriter(Schema schema, ParquetOptions options, WritableFile* file);
  Stores NewStores() const;
  static size_t Bytes(const Stores& stores);
  // What has gathered is to be encoded, once what is being encoded has been.
  Status ClosePart(bool closes_group);
  Status OpenTarget();
  Status EncodePart();
  Status WritePart(const ParquetStore& store);
  void EndColumn();
  Status EncodeAll();

  Schema schema_;
  ParquetOptions options_;
  WritableFile* file_;
  std::unique_ptr<Target> target_;  // Arrow's objects; made with the first rows that are encoded
  // Text and numbers of some rows, codes of all rows of their group; and those that are being encoded, empty
  // and memory for the next ones if there are none.
  Stores gathering_, encoding_;
  int64_t part_rows_ = 0;     // gathered since the last part was closed
  int64_t group_rows_ = 0;    // of the group that rows gather for
  size_t group_bytes_ = 0;    // of its parts, about
  bool is_encoding_ = false;  // some of encoding_ is left
  bool closes_group_ = false;
  int64_t closing_rows_ = 0;  // of the group that it closes
  size_t encoded_columns_ = 0;
  int64_t rows_ = 0;
  int64_t encoded_rows_ = 0;
  bool rows_ended_ = false;
  bool finished_ = false;
  ParquetFooter footer_;
};

}  // namespace caudal
