#include "connect/iceberg/iceberg_connector.h"

#include "connect/iceberg/iceberg_options.h"
#include "connect/iceberg/scan/iceberg_source.h"
#include "connect/iceberg/sink/iceberg_sink.h"

namespace caudal {
namespace {

using Kind = OptionSpec::Type;

constexpr OptionSpec kOptions[] = {
    {"catalog-name", Kind::kString, "", "the catalog's name, which is part of the key of its tables", true},
    {"catalog-type", Kind::kString, "sqlite", "'sqlite', a file; others are not built yet"},
    {"uri", Kind::kString, "",
     "the SQLite file, as 'sqlite:////path' or a path; unset: 'catalog.db' in 'warehouse'"},
    {"warehouse", Kind::kString, "", "the folder of tables that are made"},
    {"catalog-database", Kind::kString, "default_database", "the table's namespace"},
    {"catalog-table", Kind::kString, "", "the table's name in the catalog; unset: that of the declaration"},
    {"format-version", Kind::kString, "2", "of a table that is made: '2' or '3'"},
    {"caudal.partition-by", Kind::kString, "",
     "of a table that is made: 'day(ts), bucket(16, id), truncate(4, name), region'"},
    {"caudal.sink.max-open-files", Kind::kInteger, "32",
     "files that a task writes at once; rows of further partitions wait in memory"},
    {"caudal.sink.buffer-size", Kind::kBytes, "64MB",
     "how much of a task may wait so; beyond, its largest partitions are written"},
    {"snapshot-id", Kind::kString, "", "read this snapshot, as it was"},
    {"as-of-timestamp", Kind::kString, "", "read the snapshot that was current then, in ms since 1970"},
    {"tag", Kind::kString, "", "read the snapshot of this tag"},
    {"branch", Kind::kString, "main", "read the head of this branch"},
    {"caudal.source.splits", Kind::kInteger, "1", "how many splits the data files are spread over"},
    {"streaming", Kind::kNotBuilt, "false", "leave it out: a table is read once, as it is at the start"},
    {"monitor-interval", Kind::kNotBuilt, "", "leave it out: a table is read once, as it is at the start"},
    {"start-snapshot-id", Kind::kNotBuilt, "", "leave it out: whole snapshots are read"},
    {"end-snapshot-id", Kind::kNotBuilt, "", "leave it out: whole snapshots are read"},
    {"write.*", Kind::kString, "", "properties of a table that is made, and of how files are written"},
    {"commit.*", Kind::kString, "", "properties of a table that is made"},
    {"history.*", Kind::kString, "", "properties of a table that is made"},
    {"gc.*", Kind::kString, "", "properties of a table that is made"},
    {"read.*", Kind::kString, "", "properties of a table that is made"},
};

}  // namespace

std::span<const OptionSpec> IcebergConnector::options() const { return kOptions; }

Status IcebergConnector::CheckOptions(const Table& table) const {
  RETURN_IF_ERROR(IcebergOptions::From(table).status());
  return SnapshotChoice::From(table).status();
}

Result<ChangelogKinds> IcebergConnector::sink_changelog(const Table& table) const {
  return IcebergChangelog(table);
}

Result<std::unique_ptr<Source>> IcebergConnector::MakeSource(const Table& table, const ReadRequest& request,
                                                             const ConnectorContext& context) const {
  return IcebergSource::Make(table, request, context);
}

Result<std::unique_ptr<Sink>> IcebergConnector::MakeSink(const Table& table,
                                                         const ConnectorContext& context) const {
  return IcebergSink::Make(table, context);
}

}  // namespace caudal
