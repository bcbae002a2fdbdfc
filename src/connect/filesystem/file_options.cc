#include "connect/filesystem/file_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "api/connector.h"
#include "connect/filesystem/path_pattern.h"
#include "fs/file_path.h"

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

// What format 'raw' can be told; it is named for what it is not.
Status CheckRaw(const Table& table) {
  const auto same = [](std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
  };
  const std::string_view charset = table.option("raw.charset", "UTF-8");
  if (!same(charset, "UTF-8") && !same(charset, "UTF8")) {
    return Status::User(
               fmt::format("option 'raw.charset' of table '{}': '{}' is not built yet", table.name, charset))
        .Hint("text is read as 'UTF-8'; other bytes may be read as BYTES");
  }
  const std::string_view order = table.option("raw.endianness", "big-endian");
  if (same(order, "big-endian")) return Status();
  return Status::User(
             fmt::format("option 'raw.endianness' of table '{}': '{}' is not built yet", table.name, order))
      .Hint("numbers are read as 'big-endian'");
}

}  // namespace

Result<FileTableOptions> FileTableOptions::From(const Table& table) {
  FileTableOptions options;
  options.path = table.option("path");
  constexpr std::string_view kScheme = "file://";
  if (options.path.starts_with(kScheme)) options.path.erase(0, kScheme.size());
  const std::string_view scheme = SchemeOf(options.path);
  if (!scheme.empty() && scheme != "s3" && scheme != "s3a" && scheme != "s3n") {
    return Status::User(fmt::format("table '{}': path '{}' is on no local disk", table.name, options.path))
        .Hint("folders of this machine can be read and written, and those of s3://bucket/path");
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
  options.path_pattern = table.option("source.path.regex-pattern");
  Status pattern = PathPattern::Make(options.path_pattern).status();
  if (!pattern.ok()) {
    return std::move(pattern).At(fmt::format("option 'source.path.regex-pattern' of table '{}'", table.name));
  }
  RETURN_IF_ERROR(CheckRaw(table));
  constexpr int kMostSplits = 1024, kMostFiles = 10'000;
  ASSIGN_OR_RETURN(options.splits, ParseCount(table, "caudal.source.splits", "1", kMostSplits));
  ASSIGN_OR_RETURN(options.max_open_files, ParseCount(table, "caudal.sink.max-open-files", "32", kMostFiles));
  options.default_partition = table.option("partition.default-name", kDefaultPartitionName);
  ASSIGN_OR_RETURN(options.rolling_bytes, ParseBytes(table.option("sink.rolling-policy.file-size", "128MB")));
  ASSIGN_OR_RETURN(options.buffer_bytes, ParseBytes(table.option("caudal.sink.buffer-size", "64MB")));
  ASSIGN_OR_RETURN(options.rolling_millis,
                   ParseDurationMillis(table.option("sink.rolling-policy.rollover-interval", "30 min")));
  constexpr int64_t kLongest = int64_t{100} * 365 * 86'400'000;  // fits nanoseconds
  options.rolling_millis = std::min(options.rolling_millis, kLongest);
  options.parquet_compression = table.option("parquet.compression", "ZSTD");
  return options;
}

}  // namespace caudal
