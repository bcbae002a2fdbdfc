#include "connect/filesystem/filesystem_connector.h"

#include "connect/filesystem/file_columns.h"
#include "connect/filesystem/file_source.h"
#include "connect/filesystem/sink/file_sink.h"
#include "format/format.h"

namespace caudal {
namespace {

using Kind = OptionSpec::Type;

constexpr OptionSpec kOptions[] = {
    {"path", Kind::kString, "", "the folder, or one file to read", true},
    {"s3.*", Kind::kString, "", "of a path s3://: 's3.endpoint', 's3.access-key-id' and so on"},
    {"format", Kind::kString, "", "'json', 'raw' (reading) or 'parquet'", true},
    {"json.*", Kind::kString, "", "options of the JSON format, as in Flink"},
    {"raw.charset", Kind::kString, "UTF-8", "of format 'raw': 'UTF-8' alone"},
    {"raw.endianness", Kind::kString, "big-endian", "of format 'raw': 'big-endian' alone"},
    {"parquet.compression", Kind::kString, "ZSTD", "'ZSTD', 'SNAPPY' or 'UNCOMPRESSED'"},
    {"source.monitor-interval", Kind::kDuration, "",
     "watch the folder and look for new files so often; unset: read what is there and end"},
    {"source.path.regex-pattern", Kind::kString, "",
     "only files whose whole absolute path matches this regular expression are read"},
    {"caudal.source.splits", Kind::kInteger, "1",
     "how many splits the files are spread over, by a hash of their names"},
    {"partition.default-name", Kind::kString, "__DEFAULT_PARTITION__",
     "the folder of NULL and the empty text"},
    {"sink.rolling-policy.file-size", Kind::kBytes, "128MB", "a file is ended when it is so large"},
    {"sink.rolling-policy.rollover-interval", Kind::kDuration, "30 min",
     "a file is ended when it has been open so long; each commit ends it anyway"},
    {"sink.rolling-policy.inactivity-interval", Kind::kDuration, "30 min",
     "no effect: the next commit ends a file that nothing is written to"},
    {"sink.rolling-policy.check-interval", Kind::kDuration, "1 min",
     "no effect: a file's age is looked at whenever rows are written to it"},
    {"caudal.sink.max-open-files", Kind::kInteger, "32",
     "files that a task writes at once; rows of further partitions wait in memory"},
    {"caudal.sink.buffer-size", Kind::kBytes, "64MB",
     "how much of a task may wait so; beyond, its largest partitions are written"},
    {"auto-compaction", Kind::kNotBuilt, "false",
     "leave it out; a longer commit interval makes larger files"},
    {"compaction.*", Kind::kNotBuilt, "", "leave it out; a longer commit interval makes larger files"},
    {"sink.partition-commit.*", Kind::kNotBuilt, "",
     "leave it out; a partition's files are whole and durable whenever they are visible"},
    {"sink.parallelism", Kind::kNotBuilt, "", "leave it out; the tasks of a query are 'parallelism.default'"},
    {"source.report-statistics", Kind::kString, "all", "no effect: no plan depends on it"},
};

}  // namespace

std::span<const OptionSpec> FilesystemConnector::options() const { return kOptions; }

std::vector<Field> FilesystemConnector::metadata() const { return FileColumns::Metadata(); }

Status FilesystemConnector::CheckOptions(const Table& table) const {
  const std::string_view format = table.option("format");
  return format == "parquet" ? Status() : CheckFormat(format, table.options);
}

Result<std::unique_ptr<Source>> FilesystemConnector::MakeSource(const Table& table,
                                                                const ReadRequest& request,
                                                                const ConnectorContext& context) const {
  return FileSource::Make(table, request, context);
}

Result<std::unique_ptr<Sink>> FilesystemConnector::MakeSink(const Table& table,
                                                            const ConnectorContext& context) const {
  return FileSink::Make(table, context);
}

}  // namespace caudal
