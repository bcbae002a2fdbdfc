#include "connect/iceberg/scan/iceberg_scan.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

namespace caudal {
namespace {

using Json = nlohmann::json;

// The whole text as a number; nothing if it is none.
std::optional<int64_t> NumberOf(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

Status NoSuchSnapshot(std::string what) {
  return Status::User(std::move(what)).Hint("the metadata lists which there are; old ones expire");
}

Result<const iceberg::Snapshot*> ByRef(const iceberg::TableMetadata& table, const std::string& name,
                                       const char* type) {
  const iceberg::SnapshotRef* ref = table.FindRef(name);
  if (ref == nullptr || ref->type != type) {
    return NoSuchSnapshot(fmt::format("the table has no {} '{}'", type, name));
  }
  return table.FindSnapshot(ref->snapshot_id);
}

// The snapshot that was current then.
Result<const iceberg::Snapshot*> ByTime(const iceberg::TableMetadata& table, const std::string& text) {
  const std::optional<int64_t> millis = NumberOf(text);
  if (!millis) return Status::User(fmt::format("'as-of-timestamp': '{}' is no number of milliseconds", text));
  const iceberg::SnapshotLogEntry* found = nullptr;
  for (const iceberg::SnapshotLogEntry& entry : table.snapshot_log) {
    if (entry.timestamp_ms <= *millis) found = &entry;
  }
  const iceberg::Snapshot* snapshot = found == nullptr ? nullptr : table.FindSnapshot(found->snapshot_id);
  if (snapshot == nullptr) {
    return NoSuchSnapshot(fmt::format("the table has no snapshot of {} ms since 1970 or before", *millis));
  }
  return snapshot;
}

}  // namespace

Result<SnapshotChoice> SnapshotChoice::From(const Table& table) {
  SnapshotChoice choice;
  choice.snapshot_id = table.option("snapshot-id");
  choice.as_of_millis = table.option("as-of-timestamp");
  choice.branch = table.option("branch");
  choice.tag = table.option("tag");
  int named = 0;
  for (const std::string* one : {&choice.snapshot_id, &choice.as_of_millis, &choice.branch, &choice.tag}) {
    named += one->empty() ? 0 : 1;
  }
  if (named <= 1) return choice;
  return Status::User(fmt::format("table '{}' names a snapshot in {} ways", table.name, named))
      .Hint("keep one of 'snapshot-id', 'as-of-timestamp', 'branch' and 'tag'");
}

Result<ChosenSnapshot> ChosenSnapshot::Of(const SnapshotChoice& choice, const iceberg::TableMetadata& table) {
  const iceberg::Snapshot* snapshot = nullptr;
  bool historic = true;
  if (!choice.snapshot_id.empty()) {
    const std::optional<int64_t> id = NumberOf(choice.snapshot_id);
    snapshot = id ? table.FindSnapshot(*id) : nullptr;
    if (snapshot == nullptr) {
      return NoSuchSnapshot(fmt::format("the table has no snapshot '{}'", choice.snapshot_id));
    }
  } else if (!choice.as_of_millis.empty()) {
    ASSIGN_OR_RETURN(snapshot, ByTime(table, choice.as_of_millis));
  } else if (!choice.tag.empty()) {
    ASSIGN_OR_RETURN(snapshot, ByRef(table, choice.tag, "tag"));
  } else {
    historic = false;
    if (!choice.branch.empty() && choice.branch != "main") {
      ASSIGN_OR_RETURN(snapshot, ByRef(table, choice.branch, "branch"));
    } else if (table.current_snapshot_id) {
      snapshot = table.FindSnapshot(*table.current_snapshot_id);
    }
  }
  // A branch is read as the table is now, a snapshot of before as it was.
  ChosenSnapshot chosen{std::nullopt, table.current_schema_id};
  if (snapshot == nullptr) return chosen;
  chosen.snapshot_id = snapshot->snapshot_id;
  if (historic && snapshot->schema_id) chosen.schema_id = *snapshot->schema_id;
  if (table.FindSchema(chosen.schema_id) != nullptr) return chosen;
  return Status::Data(
      fmt::format("the schema {} of snapshot {} is not there", chosen.schema_id, snapshot->snapshot_id));
}

std::string ScanShare::ToText() const {
  const std::string_view grows = mode == Mode::kAllThenAdded ? "+" : mode == Mode::kAdded ? "++" : "";
  return fmt::format("{}@{}:{}#{}/{}{}", table_uuid,
                     snapshot.snapshot_id ? std::to_string(*snapshot.snapshot_id) : "none",
                     snapshot.schema_id, share, shares, grows);
}

std::optional<ScanShare> ScanShare::Parse(std::string_view text) {
  Mode mode = Mode::kOnce;
  for (const Mode more : {Mode::kAllThenAdded, Mode::kAdded}) {
    if (!text.ends_with('+')) break;
    text.remove_suffix(1);
    mode = more;
  }
  const size_t at = text.find('@'), colon = text.find(':'), hash = text.find('#'), slash = text.find('/');
  if (at == std::string_view::npos || colon == std::string_view::npos || hash == std::string_view::npos ||
      slash == std::string_view::npos || !(at < colon && colon < hash && hash < slash)) {
    return std::nullopt;
  }
  const std::string_view id = text.substr(at + 1, colon - at - 1);
  const auto schema = NumberOf(text.substr(colon + 1, hash - colon - 1));
  const auto share = NumberOf(text.substr(hash + 1, slash - hash - 1));
  const auto shares = NumberOf(text.substr(slash + 1));
  const auto snapshot = NumberOf(id);
  if (!schema || !share || !shares || *shares < 1 || (!snapshot && id != "none")) return std::nullopt;
  return ScanShare{std::string(text.substr(0, at)),
                   {snapshot, static_cast<int32_t>(*schema)},
                   static_cast<int>(*share),
                   static_cast<int>(*shares),
                   mode};
}

Position ScanPosition::ToText(const std::string& share) const {
  Json json{{"share", share}, {"files", files}, {"rows", rows}};
  if (snapshot) json["snapshot"] = *snapshot;
  if (done) json["done"] = true;
  return json.dump();
}

Result<ScanPosition> ScanPosition::Parse(const Position& text, const std::string& share) {
  if (text.empty()) return ScanPosition();
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || json.value("share", Json()) != share) {
    return Status::User(fmt::format("the checkpoint's position '{}' is not one of '{}'", text, share))
        .Hint("start with another state folder");
  }
  ScanPosition position{json.value("files", int64_t{0}), json.value("rows", int64_t{0})};
  if (json.contains("snapshot")) position.snapshot = json.value("snapshot", int64_t{0});
  position.done = json.value("done", false);
  return position;
}

Status CheckColumnsOf(const ScanRequest& request, const iceberg::TableMetadata& table,
                      const iceberg::Schema& schema) {
  if (schema.schema_id == table.current_schema_id) return CheckScanColumns(request.declared, schema);
  return CheckAskedColumns(request.declared, request.columns, schema);
}

Status IcebergScan::Bind(const ScanRequest& request, const ScanShare& share,
                         const iceberg::TableMetadata& table, ScanSurroundings* around) {
  if (table.table_uuid != share.table_uuid) {
    return Status::User(fmt::format("the table has the uuid {}, and {} was being read", table.table_uuid,
                                    share.table_uuid))
        .Hint("it was dropped and made again: start with another state folder");
  }
  const iceberg::Schema* schema = table.FindSchema(share.snapshot.schema_id);
  if (schema == nullptr) {
    return Status::Data(fmt::format("the table's schema {} is gone", share.snapshot.schema_id));
  }
  RETURN_IF_ERROR(CheckColumnsOf(request, table, *schema));
  around->files = request.files;
  around->columns = request.columns;
  around->filter = FileFilter(request.filters, request.declared, *schema);
  around->share = share.share;
  around->shares = share.shares;
  BindScanColumns(*schema, &around->columns);
  return Status();
}

Result<std::unique_ptr<ScanRows>> IcebergScan::Open(const ScanRequest& request, const ScanShare& share,
                                                    const ScanPosition& from) {
  ASSIGN_OR_RETURN(const auto lake, IcebergLake::Open(request.options, request.files, request.env));
  ASSIGN_OR_RETURN(iceberg::LoadedTable table, lake->catalog().LoadTable(request.options.name));
  std::unique_ptr<IcebergScan> scan(new IcebergScan(from));
  scan->table_ = std::move(table.metadata);
  RETURN_IF_ERROR(Bind(request, share, scan->table_, &scan->around_));
  if (!share.snapshot.snapshot_id) return std::unique_ptr<ScanRows>(std::move(scan));
  const iceberg::Snapshot* snapshot = scan->table_.FindSnapshot(*share.snapshot.snapshot_id);
  if (snapshot == nullptr) {
    return NoSuchSnapshot(
        fmt::format("snapshot {}, which was being read, is gone", *share.snapshot.snapshot_id));
  }
  ASSIGN_OR_RETURN(iceberg::ScanPlan plan, PlanScan(lake->files(), scan->table_, *snapshot));
  scan->planned_ = std::make_unique<PlannedFiles>(&scan->around_, &scan->table_, std::move(plan));
  return std::unique_ptr<ScanRows>(std::move(scan));
}

Result<SourceRows> IcebergScan::Next() {
  return planned_ == nullptr ? Result<SourceRows>(SourceRows()) : planned_->Next(&position_);
}

}  // namespace caudal
