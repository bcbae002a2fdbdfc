#include "connect/iceberg/scan/stream_scan.h"

#include <fmt/format.h>

#include <charconv>

#include "connect/iceberg/scan/changed_files.h"
#include "iceberg/scan/appended_files.h"
#include "iceberg/scan/snapshot_changes.h"

namespace caudal {
namespace {

using Start = StreamOptions::Start;

struct Strategy {
  std::string_view name;
  Start start;
};
// As Iceberg's connector for Flink names them.
constexpr Strategy kStrategies[] = {{"TABLE_SCAN_THEN_INCREMENTAL", Start::kTableScan},
                                    {"INCREMENTAL_FROM_LATEST_SNAPSHOT", Start::kLatest},
                                    {"INCREMENTAL_FROM_EARLIEST_SNAPSHOT", Start::kEarliest},
                                    {"INCREMENTAL_FROM_SNAPSHOT_ID", Start::kSnapshotId},
                                    {"INCREMENTAL_FROM_SNAPSHOT_TIMESTAMP", Start::kTimestamp}};

constexpr std::string_view kChangelogOption = "streaming-changelog";

bool IsTrue(const Table& table, std::string_view option) {
  const std::string_view value = table.option(option, "false");
  return value == "true" || value == "TRUE";
}

Status NumberOption(const Table& table, std::string_view option, int64_t* number) {
  const std::string_view text = table.option(option);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  if (error == std::errc() && end == text.data() + text.size() && !text.empty()) return Status();
  return Status::User(fmt::format("table '{}': '{}' = '{}' is no number", table.name, option, text));
}

// The oldest ancestor of the head that the metadata still has and `wanted` takes; null if it takes none.
template <typename Wanted>
const iceberg::Snapshot* Oldest(const iceberg::TableMetadata& table, int64_t head, const Wanted& wanted) {
  const iceberg::Snapshot* oldest = nullptr;
  const iceberg::Snapshot* at = table.FindSnapshot(head);
  for (size_t steps = 0; at != nullptr && steps <= table.snapshots.size(); ++steps) {
    if (wanted(*at)) oldest = at;
    at = at->parent_snapshot_id ? table.FindSnapshot(*at->parent_snapshot_id) : nullptr;
  }
  return oldest;
}

// What a read as a changelog cannot have beside it.
Status CheckChangelog(const Table& table, const StreamOptions& options) {
  if (!options.changelog) return Status();
  for (const std::string_view option :
       {"streaming-skip-overwrite-snapshots", "streaming-skip-delete-snapshots"}) {
    if (!IsTrue(table, option)) continue;
    return Status::User(fmt::format("table '{}': '{}' passes over what '{}' reads", table.name, option,
                                    kChangelogOption))
        .Hint("leave one of them out");
  }
  const std::string_view splits = table.option("caudal.source.splits", "1");
  if (splits == "1") return Status();
  return Status::User(fmt::format("table '{}': 'caudal.source.splits' = '{}' would tear the changes of one "
                                  "row apart, which '{}' reads in their order",
                                  table.name, splits, kChangelogOption))
      .Hint("leave 'caudal.source.splits' out");
}

}  // namespace

ChangelogKinds StreamOptions::kinds(const Table& table) const {
  if (!streaming || !changelog) return ChangelogKinds::InsertOnly();
  return table.primary_key.empty() ? ChangelogKinds(ChangelogKinds::kI | ChangelogKinds::kD)
                                   : ChangelogKinds::All();
}

Result<StreamOptions> StreamOptions::From(const Table& table) {
  StreamOptions options;
  options.streaming = IsTrue(table, "streaming");
  options.skips_overwrites = IsTrue(table, "streaming-skip-overwrite-snapshots");
  options.skips_deletes = IsTrue(table, "streaming-skip-delete-snapshots");
  ASSIGN_OR_RETURN(options.monitor_millis, ParseDurationMillis(table.option("monitor-interval", "60 s")));
  options.changelog = IsTrue(table, kChangelogOption);
  // Changes of rows that were never read are of little use.
  const std::string_view wanted =
      table.option("starting-strategy",
                   options.changelog ? "TABLE_SCAN_THEN_INCREMENTAL" : "INCREMENTAL_FROM_LATEST_SNAPSHOT");
  const auto strategy = std::ranges::find(kStrategies, wanted, &Strategy::name);
  if (strategy == std::end(kStrategies)) {
    std::string known;
    for (const Strategy& each : kStrategies)
      known += fmt::format("{}{}", known.empty() ? "" : ", ", each.name);
    return Status::User(fmt::format("table '{}': unknown 'starting-strategy' '{}'", table.name, wanted))
        .Hint("there are " + known);
  }
  options.start = strategy->start;
  if (options.start == Start::kSnapshotId)
    RETURN_IF_ERROR(NumberOption(table, "start-snapshot-id", &options.start_snapshot_id));
  if (options.start == Start::kTimestamp)
    RETURN_IF_ERROR(NumberOption(table, "start-snapshot-timestamp", &options.start_millis));
  const auto needs = [&](std::string_view option, Start start, std::string_view strategy_name) -> Status {
    if (table.option(option).empty() || options.start == start) return Status();
    return Status::User(fmt::format("table '{}': '{}' has no effect", table.name, option))
        .Hint(fmt::format("add 'starting-strategy' = '{}'", strategy_name));
  };
  RETURN_IF_ERROR(needs("start-snapshot-id", Start::kSnapshotId, "INCREMENTAL_FROM_SNAPSHOT_ID"));
  RETURN_IF_ERROR(
      needs("start-snapshot-timestamp", Start::kTimestamp, "INCREMENTAL_FROM_SNAPSHOT_TIMESTAMP"));
  for (const std::string_view option : {"snapshot-id", "as-of-timestamp", "tag"}) {
    if (!options.streaming || table.option(option).empty()) continue;
    return Status::User(
               fmt::format("table '{}': '{}' names one snapshot, and 'streaming' reads all that come",
                           table.name, option))
        .Hint("'start-snapshot-id' says where to begin");
  }
  RETURN_IF_ERROR(CheckChangelog(table, options));
  for (const std::string_view option : {"starting-strategy", "monitor-interval", "streaming-changelog"}) {
    if (options.streaming || table.option(option).empty()) continue;
    return Status::User(fmt::format("table '{}': '{}' has no effect", table.name, option))
        .Hint("add 'streaming' = 'true'");
  }
  return options;
}

Result<ScanShare> StreamOptions::StartIn(const iceberg::TableMetadata& table,
                                         const ChosenSnapshot& head) const {
  ScanShare share{table.table_uuid, head, 0, 1, ScanShare::Mode::kAdded};
  if (start == Start::kTableScan) share.mode = ScanShare::Mode::kAllThenAdded;
  if (!head.snapshot_id || start == Start::kTableScan || start == Start::kLatest) return share;
  const iceberg::Snapshot* first = Oldest(table, *head.snapshot_id, [this](const iceberg::Snapshot& each) {
    return start == Start::kEarliest ||
           (start == Start::kSnapshotId && each.snapshot_id == start_snapshot_id) ||
           (start == Start::kTimestamp && each.timestamp_ms >= start_millis);
  });
  if (first != nullptr) {
    share.snapshot.snapshot_id = first->snapshot_id;
    return share;
  }
  return Status::User(
             start == Start::kSnapshotId
                 ? fmt::format("snapshot {} is none of the branch's that are still there", start_snapshot_id)
                 : fmt::format("the table has no snapshot of {} ms since 1970 or later", start_millis))
      .Hint("the table's $snapshots lists which there are");
}

Result<std::unique_ptr<ScanRows>> StreamScan::Open(const ScanRequest& request, const SnapshotChoice& choice,
                                                   const StreamOptions& stream, const ScanShare& share,
                                                   const ScanPosition& from) {
  std::unique_ptr<StreamScan> scan(new StreamScan(request, choice, stream, share, from));
  ASSIGN_OR_RETURN(scan->lake_, IcebergLake::Open(request.options, request.files, request.env));
  ASSIGN_OR_RETURN(iceberg::LoadedTable table, scan->lake_->catalog().LoadTable(request.options.name));
  scan->table_ = std::move(table.metadata);
  RETURN_IF_ERROR(IcebergScan::Bind(request, share, scan->table_, &scan->around_));
  if (!from.snapshot && share.snapshot.snapshot_id) scan->waiting_.push_back(*share.snapshot.snapshot_id);
  if (from.snapshot && !from.done) RETURN_IF_ERROR(scan->Begin(*from.snapshot));
  return std::unique_ptr<ScanRows>(std::move(scan));
}

bool StreamScan::IsFirst(int64_t snapshot_id) const {
  return share_.mode == ScanShare::Mode::kAllThenAdded && share_.snapshot.snapshot_id == snapshot_id;
}

std::vector<ScanColumn> StreamScan::KeyColumns() const {
  std::vector<ScanColumn> key;
  for (const int column : request_.declared.primary_key) {
    const TableColumn& declared = request_.declared.columns[static_cast<size_t>(column)];
    key.push_back({ScanColumn::From::kField, declared.name, declared.type, {}});
  }
  BindScanColumns(*table_.FindSchema(share_.snapshot.schema_id), &key);
  return key;
}

Status StreamScan::Refresh() {
  ASSIGN_OR_RETURN(iceberg::LoadedTable table, lake_->catalog().LoadTable(request_.options.name));
  if (table.metadata.table_uuid != share_.table_uuid)
    return IcebergScan::Bind(request_, share_, table.metadata, &around_);
  planned_ = nullptr;  // refers to the table
  table_ = std::move(table.metadata);
  ASSIGN_OR_RETURN(const ChosenSnapshot head, ChosenSnapshot::Of(choice_, table_));
  if (!head.snapshot_id || head.snapshot_id == position_.snapshot) return Status();
  ASSIGN_OR_RETURN(const auto later, iceberg::SnapshotsAfter(table_, position_.snapshot, *head.snapshot_id));
  for (const iceberg::Snapshot* snapshot : later) waiting_.push_back(snapshot->snapshot_id);
  return Status();
}

Status StreamScan::Begin(int64_t snapshot_id) {
  const iceberg::Snapshot* snapshot = table_.FindSnapshot(snapshot_id);
  if (snapshot == nullptr) {
    return Status::User(fmt::format("snapshot {}, which was to be read, is gone", snapshot_id))
        .Hint(
            "it expired; start with another state folder, which reads the table as 'starting-strategy' says");
  }
  planned_ = nullptr;
  if (IsFirst(snapshot_id)) {
    ASSIGN_OR_RETURN(iceberg::ScanPlan plan, PlanScan(lake_->files(), table_, *snapshot));
    planned_ = std::make_unique<PlannedFiles>(&around_, &table_, std::move(plan));
    return Status();
  }
  const auto said = snapshot->summary.find("operation");
  const std::string operation = said == snapshot->summary.end() ? "append" : said->second;
  if (operation == "replace") return Status();
  if (stream_.changelog) {
    ASSIGN_OR_RETURN(iceberg::SnapshotChanges changes,
                     iceberg::ReadChanges(lake_->files(), table_, *snapshot));
    ASSIGN_OR_RETURN(planned_, ChangedFiles::Make(&around_, &table_, std::move(changes), KeyColumns()));
    return Status();
  }
  if (operation == "overwrite" && stream_.skips_overwrites) return Status();
  if (operation == "delete" && stream_.skips_deletes) return Status();
  if (operation != "append") {
    return Status::User(
               fmt::format("snapshot {} takes rows away ('{}'), which a streaming read does not follow "
                           "unless it is told to",
                           snapshot_id, operation))
        .Hint(fmt::format("'{}' = 'true' reads it as updates and deletes; 'streaming-skip-{}-snapshots' = "
                          "'true' passes over it, with the rows that it adds",
                          kChangelogOption, operation));
  }
  ASSIGN_OR_RETURN(iceberg::ScanPlan plan, iceberg::AppendedFiles(lake_->files(), *snapshot));
  planned_ = std::make_unique<PlannedFiles>(&around_, &table_, std::move(plan));
  return Status();
}

Result<SourceRows> StreamScan::Next() {
  bool refreshed = false;
  while (true) {
    if (planned_ != nullptr) {
      ASSIGN_OR_RETURN(SourceRows rows, planned_->Next(&position_));
      if (!rows.chunk.empty()) return rows;
      planned_ = nullptr;
    }
    if (position_.snapshot) position_ = {0, 0, position_.snapshot, true};
    if (waiting_.empty()) {
      if (refreshed) return SourceRows();
      RETURN_IF_ERROR(Refresh());
      refreshed = true;
      if (waiting_.empty()) return SourceRows();
    }
    const int64_t next = waiting_.front();
    RETURN_IF_ERROR(Begin(next));
    waiting_.pop_front();
    position_ = {0, 0, next, false};
  }
}

}  // namespace caudal
