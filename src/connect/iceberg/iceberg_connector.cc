#include "connect/iceberg/iceberg_connector.h"

#include <vector>

#include "connect/iceberg/catalog/iceberg_catalog.h"
#include "connect/iceberg/iceberg_options.h"
#include "connect/iceberg/lookup/iceberg_lookup.h"
#include "connect/iceberg/scan/iceberg_source.h"
#include "connect/iceberg/scan/lineage_columns.h"
#include "connect/iceberg/sink/iceberg_sink.h"

namespace caudal {
namespace {

using Kind = OptionSpec::Type;

// Where a catalog is, of tables and of CREATE CATALOG.
constexpr OptionSpec kPlace[] = {
    {"catalog-type", Kind::kString, "sqlite",
     "'sqlite', a file, 'hadoop', the folder 'warehouse' itself, or 'rest', a service"},
    {"uri", Kind::kString, "",
     "the SQLite file, as 'sqlite:////path' or a path; unset: 'catalog.db' in 'warehouse'; of 'rest', where "
     "it is"},
    {"credential", Kind::kString, "", "of 'rest': 'id:secret', to get tokens for"},
    {"token", Kind::kString, "", "of 'rest': a token, taken as it is"},
    {"scope", Kind::kString, "catalog", "of 'rest': what a token is asked for"},
    {"oauth2-server-uri", Kind::kString, "", "of 'rest': who gives tokens; unset: the catalog"},
    {"prefix", Kind::kString, "", "of 'rest': of its paths, unless it says one itself"},
    {"rest.client.socket-timeout-ms", Kind::kInteger, "60000", "of 'rest': for a request with its answer"},
    {"header.*", Kind::kString, "", "of 'rest': sent with every request"},
    {"s3.*", Kind::kString, "", "of files in s3://: 's3.endpoint', 's3.access-key-id' and so on"},
    {"client.region", Kind::kString, "", "of files in s3://: the region"},
    {"warehouse", Kind::kString, "", "the folder of tables that are made; of 'rest', its name there"},
};

constexpr OptionSpec kTableOptions[] = {
    {"catalog-name", Kind::kString, "", "the catalog's name, which is part of the key of its tables", true},
    {"catalog-database", Kind::kString, "default_database", "the table's namespace"},
    {"catalog-table", Kind::kString, "", "the table's name in the catalog; unset: that of the declaration"},
    {"format-version", Kind::kString, "2", "of a table that is made: '2' or '3'"},
    {"caudal.partition-by", Kind::kString, "",
     "of a table that is made: 'day(ts), bucket(16, id), truncate(4, name), region'"},
    {"caudal.unique", Kind::kString, "upsert",
     "what becomes of a row whose PRIMARY KEY the table has: 'upsert', 'ignore' or 'fail'"},
    {"caudal.schema-evolution", Kind::kString, "stop",
     "of a table that lacks a declared column, or a type as wide: 'stop', 'evolve' it when a query starts, "
     "or hand what does not fit to the 'dead-letter' table"},
    {"caudal.sink.max-open-files", Kind::kInteger, "32",
     "files that a task writes at once; rows of further partitions wait in memory"},
    {"caudal.sink.buffer-size", Kind::kBytes, "64MB",
     "how much of a task may wait so; beyond, its largest partitions are written (16MB with a PRIMARY KEY)"},
    {"snapshot-id", Kind::kString, "", "read this snapshot, as it was"},
    {"as-of-timestamp", Kind::kString, "", "read the snapshot that was current then, in ms since 1970"},
    {"tag", Kind::kString, "", "read the snapshot of this tag"},
    {"branch", Kind::kString, "main", "read the head of this branch, or write to it"},
    {"caudal.source.splits", Kind::kInteger, "1", "how many splits the data files are spread over"},
    {"streaming", Kind::kBoolean, "false", "read the table as it grows: what each append adds"},
    {"monitor-interval", Kind::kDuration, "60 s", "how often to look for new snapshots"},
    {"starting-strategy", Kind::kString, "INCREMENTAL_FROM_LATEST_SNAPSHOT", "where a streaming read begins"},
    {"start-snapshot-id", Kind::kString, "", "of INCREMENTAL_FROM_SNAPSHOT_ID: the first one that is read"},
    {"start-snapshot-timestamp", Kind::kString, "",
     "of INCREMENTAL_FROM_SNAPSHOT_TIMESTAMP: begin with the first one of then or later, ms since 1970"},
    {"streaming-skip-overwrite-snapshots", Kind::kBoolean, "false", "pass over them instead of stopping"},
    {"streaming-skip-delete-snapshots", Kind::kBoolean, "false", "pass over them instead of stopping"},
    {"streaming-changelog", Kind::kBoolean, "false",
     "read what snapshots take away too: upserts and deletes of the table, as a changelog"},
    {"end-snapshot-id", Kind::kNotBuilt, "", "leave it out: whole snapshots are read"},
    {"lookup.full-cache.periodic-reload.interval", Kind::kDuration, "10 s",
     "of a lookup: how often to look for a new snapshot"},
    {"write.*", Kind::kString, "", "properties of a table that is made, and of how files are written"},
    {"commit.*", Kind::kString, "", "properties of a table that is made"},
    {"history.*", Kind::kString, "", "properties of a table that is made"},
    {"gc.*", Kind::kString, "", "properties of a table that is made"},
    {"read.*", Kind::kString, "", "properties of a table that is made"},
};

constexpr OptionSpec kCatalogOptions[] = {
    {"type", Kind::kString, "", "'iceberg'", true},
    {"catalog-name", Kind::kString, "", "the name in the SQLite file, if it is not that of CREATE CATALOG"},
    {"default-database", Kind::kString, "default", "in use once the catalog is"},
};

std::vector<OptionSpec> WithPlace(std::span<const OptionSpec> own) {
  std::vector<OptionSpec> all(own.begin(), own.end());
  all.insert(all.end(), std::begin(kPlace), std::end(kPlace));
  return all;
}

}  // namespace

std::span<const OptionSpec> IcebergConnector::catalog_options() const {
  static const std::vector<OptionSpec> kAll = WithPlace(kCatalogOptions);
  return kAll;
}

Result<std::unique_ptr<ExternalCatalog>> IcebergConnector::MakeCatalog(
    const std::string& catalog, const Options& options, const ConnectorContext& context) const {
  return IcebergCatalog::Make(this, catalog, options, context);
}

std::span<const OptionSpec> IcebergConnector::options() const {
  static const std::vector<OptionSpec> kAll = WithPlace(kTableOptions);
  return kAll;
}

std::vector<Field> IcebergConnector::metadata() const { return LineageColumns(); }

Status IcebergConnector::CheckOptions(const Table& table) const {
  RETURN_IF_ERROR(IcebergOptions::From(table).status());
  RETURN_IF_ERROR(StreamOptions::From(table).status());
  return SnapshotChoice::From(table).status();
}

Result<ChangelogKinds> IcebergConnector::source_changelog(const Table& table) const {
  ASSIGN_OR_RETURN(const StreamOptions options, StreamOptions::From(table));
  return options.kinds(table);
}

Result<ChangelogKinds> IcebergConnector::sink_changelog(const Table& table) const {
  return IcebergChangelog(table);
}

Result<std::unique_ptr<Source>> IcebergConnector::MakeSource(const Table& table, const ReadRequest& request,
                                                             const ConnectorContext& context) const {
  return IcebergSource::Make(table, request, context);
}

Result<std::unique_ptr<LookupReader>> IcebergConnector::MakeLookup(const Table& table,
                                                                   const LookupRequest& request,
                                                                   const ConnectorContext& context) const {
  return IcebergLookup::Make(table, request, context);
}

Result<std::unique_ptr<Sink>> IcebergConnector::MakeSink(const Table& table,
                                                         const ConnectorContext& context) const {
  return IcebergSink::Make(table, context);
}

}  // namespace caudal
