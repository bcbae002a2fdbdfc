#include "connect/iceberg/lookup/iceberg_lookup.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/segment/cell.h"
#include "connect/iceberg/scan/lineage_columns.h"
#include "data/column_builder.h"

namespace caudal {
namespace {

constexpr std::string_view kReload = "lookup.full-cache.periodic-reload.interval";
constexpr int64_t kNanosPerMilli = 1'000'000;
constexpr int64_t kBytesOfAnEntry = 96;  // of the index, beside the key

// Of columns that are not NULL; nothing if one is, since NULL is equal to nothing.
std::optional<std::string> KeyOf(const Chunk& chunk, const std::vector<int>& columns, int32_t row) {
  std::string key;
  for (const int each : columns) {
    const Column& column = *chunk.column(each);
    if (column.IsNull(row)) return std::nullopt;
    CellEncoder(column).Append(row, &key);
  }
  return key;
}

}  // namespace

Result<std::unique_ptr<LookupReader>> IcebergLookup::Make(const Table& table, const LookupRequest& request,
                                                          const ConnectorContext& context) {
  std::unique_ptr<IcebergLookup> lookup(new IcebergLookup());
  ScanRequest& scan = lookup->scan_;
  scan.declared = table;
  ASSIGN_OR_RETURN(scan.options, IcebergOptions::From(table));
  ASSIGN_OR_RETURN(lookup->choice_, SnapshotChoice::From(table));
  ASSIGN_OR_RETURN(lookup->refresh_millis_, ParseDurationMillis(table.option(kReload, "10 s")));
  ASSIGN_OR_RETURN(scan.files, scan.options.FilesOf(context.files));
  scan.env = context.env == nullptr ? Env::Real() : context.env;
  lookup->wanted_ = request.schema;
  lookup->budget_ = context.budget;
  ReadRequest read;
  const auto position_of = [&](int column) {
    const auto found = std::ranges::find(read.columns, column);
    if (found != read.columns.end()) return static_cast<int>(found - read.columns.begin());
    const TableColumn& declared = table.columns[static_cast<size_t>(column)];
    read.schema.fields.push_back({declared.name, declared.type});
    read.columns.push_back(column);
    return static_cast<int>(read.columns.size()) - 1;
  };
  for (const int column : request.keys) lookup->key_columns_.push_back(position_of(column));
  for (const int column : request.columns) lookup->wanted_columns_.push_back(position_of(column));
  scan.columns = ScanColumnsOf(table, read);
  const Result<ScanShare> newest = lookup->Newest();
  if (!newest.ok()) return newest.status().At(scan.options.frame());
  return std::unique_ptr<LookupReader>(std::move(lookup));
}

IcebergLookup::~IcebergLookup() {
  if (contents_ && budget_ != nullptr) budget_->Charge(-contents_->bytes);
}

Result<ScanShare> IcebergLookup::Newest() {
  ASSIGN_OR_RETURN(const bool there, IcebergLake::Exists(scan_.options, scan_.files));
  if (!there) {
    return Status::User(fmt::format("there is no catalog in '{}'", scan_.options.catalog_file))
        .Hint("correct 'uri' or 'warehouse'");
  }
  ASSIGN_OR_RETURN(const auto lake, IcebergLake::Open(scan_.options, scan_.files, scan_.env));
  ASSIGN_OR_RETURN(const iceberg::LoadedTable table, lake->catalog().LoadTable(scan_.options.name));
  ASSIGN_OR_RETURN(const ChosenSnapshot chosen, ChosenSnapshot::Of(choice_, table.metadata));
  RETURN_IF_ERROR(CheckScanColumns(scan_.declared, *table.metadata.FindSchema(chosen.schema_id)));
  RETURN_IF_ERROR(CheckLineage(scan_.columns, table.metadata.format_version));
  return ScanShare{table.metadata.table_uuid, chosen, 0, 1, ScanShare::Mode::kOnce};
}

Result<IcebergLookup::Contents> IcebergLookup::Load(const ScanShare& share) {
  Contents contents;
  contents.snapshot = share.snapshot;
  ASSIGN_OR_RETURN(const auto rows, IcebergScan::Open(scan_, share, {}));
  while (true) {
    ASSIGN_OR_RETURN(SourceRows some, rows->Next());
    if (some.chunk.empty()) break;
    Chunk chunk = some.chunk.Compact();
    const auto number = static_cast<uint32_t>(contents.chunks.size());
    for (int32_t row = 0; row < chunk.size(); ++row) {
      std::optional<std::string> key = KeyOf(chunk, key_columns_, row);
      if (!key) continue;
      contents.bytes += static_cast<int64_t>(key->size()) + kBytesOfAnEntry;
      contents.at[*std::move(key)].push_back({number, static_cast<uint16_t>(row)});
    }
    contents.bytes += static_cast<int64_t>(chunk.RetainedBytes());
    contents.chunks.push_back(std::move(chunk));
    const int64_t limit = budget_ == nullptr ? 0 : budget_->limit();
    if (limit == 0 || contents.bytes <= limit) continue;
    return Status::User(
               fmt::format("the rows of the table take more than {} bytes, which the query may have", limit))
        .Hint("look up in a smaller table, or give the query more memory");
  }
  return contents;
}

void IcebergLookup::Hold(Contents contents) {
  if (budget_ != nullptr) budget_->Charge(contents.bytes - (contents_ ? contents_->bytes : 0));
  contents_ = std::move(contents);
}

Status IcebergLookup::Refresh() {
  const int64_t now = scan_.env->SteadyNanos();
  if (contents_ && now - looked_nanos_ < refresh_millis_ * kNanosPerMilli) return Status();
  ASSIGN_OR_RETURN(const ScanShare newest, Newest());
  looked_nanos_ = now;
  const bool same = contents_ && contents_->snapshot.snapshot_id == newest.snapshot.snapshot_id &&
                    contents_->snapshot.schema_id == newest.snapshot.schema_id;
  if (same) return Status();
  ASSIGN_OR_RETURN(Contents contents, Load(newest));
  Hold(std::move(contents));
  return Status();
}

Result<LookupRows> IcebergLookup::Find(const Chunk& keys) {
  Status fresh = Refresh();
  if (!fresh.ok()) return std::move(fresh).At(scan_.options.frame());
  LookupRows found;
  std::vector<ColumnBuilder> builders;
  for (const Field& field : wanted_.fields) builders.emplace_back(field.type);
  std::vector<int> given;
  for (int i = 0; i < keys.column_count(); ++i) given.push_back(i);
  for (int32_t key = 0; key < keys.size(); ++key) {
    const std::optional<std::string> cells = KeyOf(keys, given, key);
    const auto rows = cells ? contents_->at.find(*cells) : contents_->at.end();
    if (rows == contents_->at.end()) continue;
    for (const Place& place : rows->second) {
      found.key_of_row.push_back(key);
      const Chunk& chunk = contents_->chunks[place.chunk];
      for (size_t i = 0; i < builders.size(); ++i)
        builders[i].AppendFrom(*chunk.column(wanted_columns_[i]), place.row);
    }
  }
  for (ColumnBuilder& builder : builders) found.columns.push_back(builder.Finish());
  return found;
}

}  // namespace caudal
