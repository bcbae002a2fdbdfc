// FileColumns: where each column of a read comes from: the records themselves, the folders' names, what is
// known of the file, or the hidden columns; and putting them together.
//
// Made once for a source; const afterwards.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/connector.h"
#include "api/table.h"
#include "connect/filesystem/file_block.h"

namespace caudal {

class FileColumns {
 public:
  // User error for a metadata key that files do not have.
  static Result<FileColumns> Make(const Table& table, const ReadRequest& request);
  // What METADATA FROM may name.
  static std::vector<Field> Metadata();

  // What is read from the records: the columns that are asked for and are no partition's.
  const Schema& content() const { return content_; }
  // Names of all columns that the table expects there, asked for or not.
  const std::vector<std::string>& in_files() const { return in_files_; }

  // What a chunk is made of. `content`: columns of content(). `records`: one a row; empty for Parquet, whose
  // rows are numbered from `first_row`.
  struct Rows {
    const ListedFile* file = nullptr;
    int split = 0;
    int32_t count = 0;
    std::span<const RawRecord> records;
    int64_t first_row = 0;
    const std::vector<BufferPtr>* pins = nullptr;
  };
  // Data error if the file is in no folder that has a value for each partition column.
  Status Check(const ListedFile& file) const;
  // The same error.
  Result<std::vector<ColumnPtr>> Assemble(std::vector<ColumnPtr> content, const Rows& rows) const;
  // The same columns without rows.
  std::vector<ColumnPtr> Empty() const;

 private:
  enum class From { kContent, kPartition, kMetadata, kSplit, kOffset, kRaw };
  struct Source {
    From from;
    int content = 0;
    std::string key;  // partition column's name, or metadata key
    Type type;
  };

  Result<Value> Partition(const Source& source, const ListedFile& file) const;
  ColumnPtr MetadataColumn(const Source& source, const Rows& rows) const;
  static ColumnPtr OffsetColumn(const Type& type, const Rows& rows);
  static ColumnPtr RawColumn(const Type& type, const Rows& rows);

  Schema content_;
  std::vector<std::string> in_files_;
  std::vector<Source> sources_;
  std::string null_partition_;
};

}  // namespace caudal
