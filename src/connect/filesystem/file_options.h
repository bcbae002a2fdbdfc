// FileTableOptions: what a table of connector 'filesystem' says in its options, checked.
#pragma once

#include <cstdint>
#include <string>

#include "api/table.h"
#include "base/status.h"

namespace caudal {

inline constexpr std::string_view kDefaultPartitionName = "__DEFAULT_PARTITION__";

struct FileTableOptions {
  std::string path;             // without "file://" and a trailing '/'
  std::string format;           // "json", "raw", "parquet"
  int64_t monitor_millis = -1;  // -1: bounded
  int splits = 1;
  std::string path_pattern;  // a regular expression; empty: every file
  std::string default_partition;
  int64_t rolling_bytes = 0;
  int64_t rolling_millis = 0;
  int max_open_files = 0;
  int64_t buffer_bytes = 0;  // of rows that wait in memory for their partition's file
  std::string parquet_compression;

  static Result<FileTableOptions> From(const Table& table);
};

}  // namespace caudal
