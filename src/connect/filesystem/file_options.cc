#include "connect/filesystem/file_options.h"

#include <fmt/format.h>

#include <charconv>

#include "api/connector.h"

namespace caudal {
namespace {

Result<int> ParseCount(const Table& table, std::string_view name, std::string_view fallback, int most) {
  const std::string_view text = table.option(name, fallback);
  int count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size() || count < 1 || count > most) {
    return Status::User(
        fmt::format("option '{}' of table '{}': '{}' is not 1 to {}", name, table.name, text, most));
  }
  return count;
}

}  // namespace

Result<FileTableOptions> FileTableOptions::From(const Table& table) {
  FileTableOptions options;
  options.path = table.option("path");
  constexpr std::string_view kScheme = "file://";
  if (options.path.starts_with(kScheme)) options.path.erase(0, kScheme.size());
  if (options.path.find("://") != std::string::npos) {
    return Status::User(fmt::format("table '{}': path '{}' is on no local disk", table.name, options.path))
        .Hint("only local folders can be read and written yet");
  }
  while (options.path.size() > 1 && options.path.ends_with('/')) options.path.pop_back();
  if (options.path.empty()) return Status::User(fmt::format("table '{}' has no 'path'", table.name));
  options.format = table.option("format");
  if (options.format != "json" && options.format != "raw" && options.format != "parquet") {
    return Status::User(fmt::format("table '{}': format '{}' is not known here", table.name, options.format))
        .Hint("formats are 'json', 'raw' and 'parquet'");
  }
  if (table.options.contains("source.monitor-interval")) {
    ASSIGN_OR_RETURN(options.monitor_millis, ParseDurationMillis(table.option("source.monitor-interval")));
    if (options.monitor_millis < 1) {
      return Status::User(fmt::format("table '{}': 'source.monitor-interval' must be above 0", table.name));
    }
  }
  constexpr int kMostSplits = 1024, kMostFiles = 10'000;
  ASSIGN_OR_RETURN(options.splits, ParseCount(table, "caudal.source.splits", "1", kMostSplits));
  ASSIGN_OR_RETURN(options.max_open_files, ParseCount(table, "caudal.sink.max-open-files", "32", kMostFiles));
  options.default_partition = table.option("partition.default-name", kDefaultPartitionName);
  ASSIGN_OR_RETURN(options.rolling_bytes, ParseBytes(table.option("sink.rolling-policy.file-size", "128MB")));
  ASSIGN_OR_RETURN(options.buffer_bytes, ParseBytes(table.option("caudal.sink.buffer-size", "64MB")));
  options.parquet_compression = table.option("parquet.compression", "ZSTD");
  return options;
}

}  // namespace caudal
