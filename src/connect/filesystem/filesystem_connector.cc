#include "connect/filesystem/filesystem_connector.h"

#include "connect/filesystem/file_columns.h"
#include "connect/filesystem/file_source.h"
#include "connect/filesystem/sink/file_sink.h"

namespace caudal {
namespace {

using Kind = OptionSpec::Type;

constexpr OptionSpec kOptions[] = {
    {"path", Kind::kString, "", "the folder, or one file to read", true},
    {"format", Kind::kString, "", "'json', 'raw' (reading) or 'parquet'", true},
    {"json.*", Kind::kString, "", "options of the JSON format, as in Flink"},
    {"parquet.compression", Kind::kString, "ZSTD", "'ZSTD', 'SNAPPY' or 'UNCOMPRESSED'"},
    {"source.monitor-interval", Kind::kDuration, "",
     "watch the folder and look for new files so often; unset: read what is there and end"},
    {"caudal.source.splits", Kind::kInteger, "1",
     "how many splits the files are spread over, by a hash of their names"},
    {"partition.default-name", Kind::kString, "__DEFAULT_PARTITION__",
     "the folder of NULL and the empty text"},
    {"sink.rolling-policy.file-size", Kind::kBytes, "128MB", "a file is ended when it is so large"},
    {"caudal.sink.max-open-files", Kind::kInteger, "32",
     "files that a task writes at once; rows of further partitions wait in memory"},
    {"caudal.sink.buffer-size", Kind::kBytes, "64MB",
     "how much of a task may wait so; beyond, its largest partitions are written"},
};

}  // namespace

std::span<const OptionSpec> FilesystemConnector::options() const { return kOptions; }

std::vector<Field> FilesystemConnector::metadata() const { return FileColumns::Metadata(); }

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
