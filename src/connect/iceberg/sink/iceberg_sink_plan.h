// IcebergSinkPlan: what the writers and the committer of one sink share: the table as it was when the sink
// was made, and the names of its files.
//
//   .caudal-<sink>-<generation>-<task>-<n>.inprogress          while it is written
//   <sink>-<generation>-<epoch>-<task>-<n>.parquet             once prepared; visible by the table's metadata
//   <sink>-<generation>-<epoch>-<task>-<uuid>-m0.avro          its manifest, in the folder of the metadata
//
// The first two in the folder of the partition. <sink> is a number of 16 hexadecimal digits made of the
// checkpoint's identity, the query and the sink's id. Plain data; read from any thread.
#pragma once

#include <string>
#include <vector>

#include "api/connector.h"
#include "connect/iceberg/iceberg_options.h"
#include "format/parquet_writer.h"
#include "iceberg/catalog/catalog.h"
#include "iceberg/commit/pipeline_token.h"
#include "iceberg/transform.h"

namespace caudal {

struct IcebergPartitionField {
  iceberg::Transform transform;
  iceberg::Type source;
  int column = 0;  // position in a chunk; −1 = void
};

struct IcebergSinkPlan {
  Env* env = nullptr;
  FileSystem* files = nullptr;        // of the table
  FileSystem* state_files = nullptr;  // of `scratch`
  IcebergOptions options;
  std::string branch = "main";  // that is written; made at the head of 'main' if it is not there
  iceberg::TableMetadata table;
  Schema rows;                       // the columns of a chunk
  Schema content;                    // the same as a data file has them
  std::vector<int32_t> ids;          // of the content
  std::vector<iceberg::Type> types;  // the same
  iceberg::PartitionSpec spec;
  std::vector<iceberg::Type> partition_types;
  std::vector<IcebergPartitionField> partition;
  std::vector<int> key;   // columns of a chunk; empty: rows are appended
  uint64_t key_seed = 0;  // of hashes of keys
  std::string scratch;    // a folder of the checkpoint, for what is kept beside the table
  ParquetOptions parquet;
  int64_t target_bytes = 0;  // a file is ended when it is so large
  std::string pipeline;      // in tokens
  std::string sink;          // its number, as names have it
  int64_t generation = 0;
  bool ephemeral = false;  // what this very generation did not commit is a leftover, too

  // Of the table as it is now. User error if the rows do not fit it.
  static Result<IcebergSinkPlan> Make(const Table& declared, const IcebergOptions& options,
                                      const iceberg::TableMetadata& table, const ConnectorContext& context);

  // Which columns the key is, and of which types its bytes are made; empty: there is none.
  std::string key_identity() const;
  std::string data_folder() const;  // as a location
  std::string table_name() const;   // catalog.database.table
  std::string hidden_prefix() const { return ".caudal-" + sink + "-"; }
  std::string final_prefix() const { return sink + "-"; }
  iceberg::PipelineToken Token(Epoch epoch) const { return {pipeline, epoch.generation, epoch.number, ""}; }
};

}  // namespace caudal
