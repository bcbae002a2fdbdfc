// The one symbol that libcaudal_parquet.so is asked for.
#include "format/parquet/parquet_file_reader.h"
#include "format/parquet/parquet_file_writer.h"
#include "format/parquet_module.h"

extern "C" __attribute__((visibility("default"))) const caudal::ParquetModule* caudal_parquet_module() {
  static constexpr caudal::ParquetModule kModule{&caudal::ParquetFileWriter::Make,
                                                 &caudal::ParquetFileReader::Open};
  return &kModule;
}
