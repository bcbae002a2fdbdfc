// ParquetFileReader: ParquetReader over Arrow's reader of record batches. Lives in the Parquet module.
//
// Arrow's exceptions end in its .cc.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "format/parquet_reader.h"

namespace caudal {

class ParquetFileReader : public ParquetReader {
 public:
  static Result<std::unique_ptr<ParquetReader>> Open(RandomAccessFile* file, const std::string& path);
  ~ParquetFileReader() override;

  const Schema& schema() const override { return schema_; }
  const std::vector<int32_t>& field_ids() const override { return field_ids_; }
  const std::vector<std::pair<std::string, std::string>>& unreadable() const override { return unreadable_; }
  int64_t rows() const override;
  int64_t GroupEnd(int64_t row) const override;
  Status Project(const Schema& wanted, int64_t first) override;
  Result<Chunk> Next() override;

 private:
  struct Source;

  ParquetFileReader(std::unique_ptr<Source> source, std::string path);
  Status Damaged(const std::string& what) const;
  Status RefuseOtherCase(const std::string& name) const;
  Status LoadSchema();
  Status LoadBatch();
  Result<ColumnPtr> Convert(size_t wanted, int64_t offset, int32_t rows) const;

  std::unique_ptr<Source> source_;
  std::string path_;
  Schema schema_;
  std::vector<int> file_column_;    // of schema_: position in the file
  std::vector<int32_t> field_ids_;  // of schema_
  std::vector<std::pair<std::string, std::string>> unreadable_;

  Schema wanted_;
  std::vector<int> batch_column_;  // of wanted_: position in the batch; -1 = the file lacks it
  int64_t skip_ = 0;               // rows of the first batches that were read before
  int64_t batch_offset_ = 0;       // rows of the batch that Next has given
};

}  // namespace caudal
