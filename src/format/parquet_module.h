// ParquetModule: the door to libcaudal_parquet.so, which is loaded when the first Parquet file is opened.
//
// Loading Arrow takes 7 ms and 15 MB that `caudal --version` should not pay. Only the interfaces of
// parquet_writer.h and parquet_reader.h cross the border, and both sides are built together.
#pragma once

#include "format/parquet_reader.h"
#include "format/parquet_writer.h"

namespace caudal {

struct ParquetModule {
  Result<std::unique_ptr<ParquetWriter>> (*make_writer)(const Schema&, const ParquetOptions&, WritableFile*);
  Result<std::unique_ptr<ParquetReader>> (*open_reader)(RandomAccessFile*, const std::string& path);

  // Loads the module on first use; any thread. External error, with where it was looked for, if it is not
  // there.
  static Result<const ParquetModule*> Load();
};

inline constexpr const char* kParquetModuleEntry = "caudal_parquet_module";
using ParquetModuleEntry = const ParquetModule* (*)();

}  // namespace caudal
