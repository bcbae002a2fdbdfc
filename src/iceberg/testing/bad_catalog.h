// A catalog in memory that behaves as a server on a bad network does, and tables to commit to.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "iceberg/catalog/catalog.h"
#include "iceberg/catalog/table_files.h"
#include "iceberg/manifest/manifest_list.h"
#include "iceberg/manifest/manifest_reader.h"

namespace caudal::iceberg {

inline const TableName kName{{"db"}, "t"};

inline NewTable Definition(int format_version) {
  NewTable table{.format_version = format_version};
  table.schema =
      ParseSchema(
          R"({"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id","required":true,"type":"long"},
                                {"id":2,"name":"s","required":false,"type":"string"}]})")
          .value();
  table.spec.fields = {{.source_ids = {1}, .field_id = 1000, .name = "id_bucket", .transform = "bucket[4]"}};
  table.properties = {{"commit.retry.num-retries", "20"}};
  return table;
}

inline DataFile File(const std::string& path, int64_t rows, int64_t bucket = 0) {
  return {
      .file_path = path, .partition = {Value(bucket)}, .record_count = rows, .file_size_in_bytes = 10 * rows};
}

// Every entry of every manifest of a snapshot.
inline std::vector<ManifestEntry> EntriesOf(const TableFiles& files, const Snapshot& snapshot) {
  std::vector<ManifestEntry> entries;
  const auto list = files.Read(snapshot.manifest_list);
  EXPECT_TRUE(list.ok()) << list.status().ToString();
  if (!list.ok()) return entries;
  const std::vector<ManifestFile> lines = ReadManifestList(*list, snapshot.manifest_list).value();
  for (const ManifestFile& line : lines) {
    const auto bytes = files.Read(line.manifest_path);
    EXPECT_TRUE(bytes.ok()) << bytes.status().ToString();
    if (!bytes.ok()) continue;
    auto reader = ManifestReader::Open(*bytes, line).value();
    while (auto entry = reader->Next().value()) entries.push_back(std::move(*entry));
  }
  return entries;
}

class BadCatalog : public Catalog {
 public:
  BadCatalog(const TableFiles* files, uint64_t seed) : files_(files), random_(seed) {}

  Status CreateNamespace(const std::vector<std::string>&) override { return {}; }
  Result<std::vector<std::vector<std::string>>> ListNamespaces() override {
    return std::vector<std::vector<std::string>>();
  }
  Result<std::vector<std::string>> ListTables(const std::vector<std::string>&) override {
    return std::vector<std::string>();
  }
  Status DropTable(const TableName&) override { return {}; }

  Result<LoadedTable> CreateTable(const TableName&, const NewTable& created) override {
    TableMetadata table{
        .format_version = created.format_version, .table_uuid = files_->NewUuid(), .location = "/w/t"};
    table.last_column_id = created.schema.HighestId();
    table.schemas = {created.schema};
    table.partition_specs = {created.spec};
    table.sort_orders.emplace_back();
    table.properties = created.properties;
    history_ = {table};
    return LoadedTable{"0", table};
  }

  Result<LoadedTable> LoadTable(const TableName&) override {
    if (Chance(10)) return Status::External("no answer", Retry::kBackoff);
    const size_t back = Chance(5) ? random_() % std::min<size_t>(history_.size(), 3) : 0;
    LoadedTable table{"", history_[history_.size() - 1 - back]};
    if (forget_tokens) {
      SnapshotList& snapshots = table.metadata.snapshots;
      for (size_t i = 0; i < snapshots.size(); ++i) snapshots.Change(i).summary.erase("caudal.pipeline");
    }
    return table;
  }

  CommitAnswer Commit(const TableName&, const TableCommit& commit) override {
    if (Chance(4)) Deliver();
    if (Chance(3) && meanwhile) std::exchange(meanwhile, nullptr)();
    const CommitAnswer lost{
        CommitOutcome::kUnknown, Status::External("connection reset", Retry::kBackoff), {}};
    if (Chance(5)) return lost;  // never arrived
    if (Chance(5)) return late_.push_back(commit), lost;
    const Status status = Take(commit);
    if (Chance(4)) return lost;
    if (!status.ok()) return {CommitOutcome::kRefused, status, {}};
    return {CommitOutcome::kDone, {}, {"", history_.back()}};
  }

  // Requests that were under way arrive.
  void Deliver() {
    for (const TableCommit& commit : std::exchange(late_, {})) (void)Take(commit).ok();
  }
  const TableMetadata& table() const { return history_.back(); }
  void ForgetOlder() { history_.erase(history_.begin(), history_.end() - 1); }  // nobody sees older states
  // Every snapshot but the head expires, long ago; without `parent` the head does not even say that there was
  // one.
  void ExpireAllButHead(bool parent = true) {
    TableMetadata table = history_.back();
    table.snapshots.EraseIf(
        [&](const Snapshot& one) { return one.snapshot_id != table.current_snapshot_id; });
    if (!parent) table.snapshots.Change(0).parent_snapshot_id.reset();
    history_ = {std::move(table)};
  }

  std::function<void()> meanwhile;  // what another writer does before the next request arrives, once
  bool forget_tokens = false;       // planted: the history does not tell what was committed
  bool ignore_head = false;         // planted: the head that was asserted is not compared
  std::function<void(TableCommit*, const TableMetadata&)> falsify;  // planted: what arrives is another commit

 private:
  bool Chance(int one_in) { return random_() % static_cast<uint64_t>(one_in) == 0; }

  Status Take(TableCommit commit) {
    if (ignore_head) {
      for (TableUpdate& update : commit.updates) {
        auto* add = std::get_if<AddSnapshot>(&update);
        if (add != nullptr) add->snapshot.sequence_number = history_.back().last_sequence_number + 1;
      }
    } else {
      RETURN_IF_ERROR(CheckRequirements(history_.back(), commit.requirements));
    }
    if (falsify) falsify(&commit, history_.back());
    ASSIGN_OR_RETURN(TableMetadata table, ApplyUpdates(history_.back(), commit.updates, 1));
    // What a catalog keeps is text.
    history_.push_back(ParseTableMetadata(TableMetadataText(table).value()).value());
    return {};
  }

  const TableFiles* files_;
  std::mt19937_64 random_;
  std::vector<TableMetadata> history_;
  std::vector<TableCommit> late_;
};

}  // namespace caudal::iceberg
