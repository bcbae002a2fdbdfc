// DataFileWriter: one Parquet file of a table, of one partition, under its hidden name until it is finished.
//
// One thread at a time: the task's until Seal, then an I/O thread's. Trouble with the disk shows in Finish
// alone, which may be called again.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "connect/iceberg/sink/iceberg_sink_plan.h"
#include "fs/deferred_file.h"
#include "iceberg/manifest/manifest.h"

namespace caudal {

// Where a file goes.
struct DataFilePlace {
  std::vector<Value> partition;
  std::string folder;  // below the table's data, with a '/' at its end; empty without partition
  int task = 0;
  int64_t number = 0;  // counts the task's files
};

class DataFileWriter {
 public:
  // `plan` outlives the writer.
  static Result<std::unique_ptr<DataFileWriter>> Make(const IcebergSinkPlan* plan, DataFilePlace place);

  // `columns`: of the plan's content.
  Status Append(const std::vector<ColumnPtr>& columns, RowSet rows) { return writer_->Append(columns, rows); }
  // Encodes some rows of a full row group. True: there is more.
  Result<bool> Step() { return writer_->Step(); }
  // No row follows.
  Status EndRows() { return writer_->EndRows(); }
  // Makes the file whole, durable and named for `epoch`; what a manifest says of it.
  Result<iceberg::DataFile> Finish(Epoch epoch);

  int64_t rows() const { return writer_->rows(); }
  int64_t estimated_bytes() const { return writer_->estimated_file_bytes(); }
  int64_t buffered_bytes() const { return writer_->buffered_bytes() + file_->unwritten(); }

 private:
  DataFileWriter(const IcebergSinkPlan* plan, DataFilePlace place) : plan_(plan), place_(std::move(place)) {}
  iceberg::DataFile Describe(const ParquetFooter& footer, std::string location) const;

  const IcebergSinkPlan* plan_;
  DataFilePlace place_;
  std::string folder_;  // path
  bool named_ = false;  // file_ has its name, in a store without renames
  std::unique_ptr<DeferredFile> file_;
  std::unique_ptr<ParquetWriter> writer_;
};

}  // namespace caudal
