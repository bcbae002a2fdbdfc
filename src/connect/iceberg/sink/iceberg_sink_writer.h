// IcebergSinkWriter: the rows of one task into data files of their partitions; IcebergSealedEpoch: the same
// files made whole and durable on an I/O thread, with a manifest that lists them.
//
// The first partitions of an epoch get an open file each. Rows of all others wait in memory until the epoch
// ends, so that each is one file however the rows of many partitions alternate. When what waits exceeds
// 'caudal.sink.buffer-size', its largest partitions become files at once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/partition/partition_buffer.h"
#include "api/sink.h"
#include "connect/iceberg/sink/data_file_writer.h"
#include "connect/iceberg/sink/row_partitions.h"

namespace caudal {

class IcebergSinkWriter : public SinkWriter {
 public:
  // `plan` outlives the writer.
  IcebergSinkWriter(const IcebergSinkPlan* plan, int task) : plan_(plan), task_(task), partitions_(plan) {}

  Status Write(const Chunk& chunk, SinkRejects& rejects) override;
  Result<std::unique_ptr<SealedEpoch>> Seal(Epoch epoch) override;
  int64_t buffered_bytes() const override;

 private:
  DataFilePlace NewPlace(const std::string& key);
  // Null: the partition has no file, and no other may be opened.
  Result<DataFileWriter*> FileFor(const std::string& key);
  Status Append(const std::string& key, DataFileWriter* file, const std::vector<ColumnPtr>& content,
                RowSet rows);
  Status MakeRoom();

  const IcebergSinkPlan* plan_;
  int task_;
  RowPartitions partitions_;
  std::unordered_map<std::string, std::unique_ptr<DataFileWriter>> open_;  // by the partition's key
  std::vector<std::unique_ptr<DataFileWriter>> full_;                      // of this epoch, no row follows
  PartitionBuffer buffer_;                                                 // of partitions that have no file
  int64_t next_number_ = 0;
};

}  // namespace caudal
