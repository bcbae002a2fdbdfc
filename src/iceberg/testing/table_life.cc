#include "iceberg/testing/table_life.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "iceberg/deletes/deletion_vector.h"
#include "iceberg/deletes/position_deletes.h"
#include "iceberg/index/kept_rows.h"
#include "iceberg/maintenance/expire.h"
#include "iceberg/maintenance/orphans.h"

namespace caudal::iceberg {
namespace {

constexpr int kKeys = 12, kRowsOfAnEpoch = 4, kEpochs = 8;

std::string LastNameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

// Where former rows of an epoch's keys are, by an index as a sink has it.
class TableLife::Keys : public RowDeletes {
 public:
  Keys(TableLife* life, KeyIndex* index, const std::vector<Row>& rows, const std::string& path)
      : life_(life), index_(index) {
    for (size_t i = 0; i < rows.size(); ++i)
      entries_.push_back({HashKey(std::to_string(rows[i].key), 7), 0, static_cast<uint32_t>(i)});
    std::sort(entries_.begin(), entries_.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
    data_files_ = {path};
  }

  Result<DeletedRows> Find(const TableMetadata& table, const Snapshot* head) override {
    RETURN_IF_ERROR(Advance(table, head));
    std::vector<KeyHash> keys;
    for (const IndexEntry& entry : entries_) keys.push_back(entry.key);
    DeletedRows rows;
    RETURN_IF_ERROR(index_->Find(
        keys, [&](size_t, const std::string& file, uint32_t position) { rows[file].Add(position); }));
    return rows;
  }

  void Note(const AppendOutcome& outcome) {
    const auto stamp = index_->stamp();
    if (outcome.snapshot_id == 0 || !stamp || stamp->snapshot_id != outcome.parent_id) return;
    (void)index_->Add(entries_, data_files_).ok();
    (void)index_->Seal({outcome.snapshot_id, outcome.sequence_number}).ok();
  }

 private:
  Status Advance(const TableMetadata& table, const Snapshot* head) {
    KeyIndex::Stamp wanted;
    if (head != nullptr) wanted = {head->snapshot_id, head->sequence_number};
    const auto from = index_->stamp();
    if (from && from->snapshot_id == wanted.snapshot_id) return {};
    if (from && from->sequence_number > table.last_sequence_number)
      return Status::External("older than the index", Retry::kBackoff);
    if (head == nullptr) {
      RETURN_IF_ERROR(index_->Clear());
      return index_->Seal(wanted);
    }
    ASSIGN_OR_RETURN(std::vector<LiveFileRows> live, life_->Live(table, *head));
    const bool follows = from && KeepsRows(table, *head, from->snapshot_id);
    if (follows && life_->plants_.keep_index) return index_->Seal(wanted);
    if (follows && from->snapshot_id != 0) {
      ASSIGN_OR_RETURN(const auto former, life_->Live(table, *table.FindSnapshot(from->snapshot_id)));
      std::erase_if(live, [&](const LiveFileRows& one) {
        return std::any_of(former.begin(), former.end(),
                           [&](const auto& old) { return old.path == one.path; });
      });
      ++life_->followed_;
    } else if (!follows) {
      RETURN_IF_ERROR(index_->Clear());
    }
    RETURN_IF_ERROR(Add(live));
    return index_->Seal(wanted);
  }

  Status Add(const std::vector<LiveFileRows>& live) {
    std::map<KeyHash, IndexEntry> found;
    std::vector<std::string> paths;
    for (const LiveFileRows& file : live) {
      const auto number = static_cast<uint32_t>(paths.size());
      paths.push_back(file.path);
      const std::vector<Row>& rows = life_->contents_.at(file.path);
      for (int64_t i = 0; i < file.records; ++i) {
        if (std::binary_search(file.gone.begin(), file.gone.end(), i)) continue;
        const KeyHash key = HashKey(std::to_string(rows[static_cast<size_t>(i)].key), 7);
        found[key] = {key, number, static_cast<uint32_t>(i)};
      }
    }
    std::vector<IndexEntry> entries;
    for (const auto& [key, entry] : found) entries.push_back(entry);
    return entries.empty() ? Status() : index_->Add(entries, paths);
  }

  TableLife* life_;
  KeyIndex* index_;
  std::vector<IndexEntry> entries_;
  std::vector<std::string> data_files_;
};

TableLife::TableLife(uint64_t seed, int format_version, const LifePlants& plants)
    : plants_(plants),
      env_(1'700'000'000'000'000, seed),
      memory_(&env_),
      files_(&memory_, &env_),
      catalog_(&files_, seed),
      random_(seed + 1) {
  NewTable definition = Definition(format_version);
  definition.properties["commit.manifest.min-count-to-merge"] = std::to_string(2 + seed % 7);
  definition.properties["commit.retry.num-retries"] = std::to_string(random_() % 4);
  (void)catalog_.CreateTable(kName, definition).ok();
  for (size_t i = 0; i < indexes_.size(); ++i)
    indexes_[i] = KeyIndex::Open(&memory_, "/index" + std::to_string(i), "t").value();
  catalog_.ignore_head = plants.ignore_head;
  catalog_.forget_tokens = plants.forget_tokens;
  catalog_.falsify = [this](TableCommit* commit, const TableMetadata& table) { See(commit, table); };
}

std::string TableLife::Run() {
  for (int epoch = 0; epoch < kEpochs && wrong_.empty(); ++epoch) {
    catalog_.meanwhile = [this] { Meanwhile(); };
    Upsert(0);
    if (catalog_.meanwhile) std::exchange(catalog_.meanwhile, nullptr)();
    if (random_() % 3 == 0) Compact();
    if (random_() % 4 == 0) Collect();
    env_.Advance(1'000'000);
  }
  catalog_.Deliver();
  return wrong_.empty() ? Check() : wrong_;
}

void TableLife::Meanwhile() {
  if (random_() % 2 == 0) Upsert(1);
  if (random_() % 2 == 0) Compact();
  if (random_() % 3 == 0) Expire();
  if (random_() % 4 == 0) Collect();
}

DataFile TableLife::NewFile(const std::string& name, const std::vector<Row>& rows, int64_t bucket) {
  const std::string path = "/w/t/data/" + name + "-" + std::to_string(files_made_++);
  (void)files_.Write(path, "x").ok();
  contents_[path] = rows;
  return File(path, static_cast<int64_t>(rows.size()), bucket);
}

void TableLife::Upsert(int pipeline) {
  // A writer commits one epoch after the other.
  bool& busy = busy_[static_cast<size_t>(pipeline)];
  if (std::exchange(busy, true)) return;
  CommitNext(pipeline);
  busy = false;
}

void TableLife::CommitNext(int pipeline) {
  const int epoch = next_epoch_[static_cast<size_t>(pipeline)]++;
  std::set<int> keys;
  while (keys.size() < kRowsOfAnEpoch) keys.insert(static_cast<int>(random_() % kKeys));
  std::vector<Row> rows;
  for (const int key : keys) rows.push_back({key, pipeline, epoch});
  keys_of_[{pipeline, epoch}] = keys;
  const DataFile file = NewFile("p" + std::to_string(pipeline), rows, epoch % 2);
  const auto append = PrepareAppend(files_, catalog_.table(), 0, {file});
  if (!append.ok()) return void(wrong_ = append.status().ToString());
  if (random_() % 4 == 0) Collect();
  const PipelineToken token{"p" + std::to_string(pipeline), 1, epoch, "{}"};
  HeadFiles fresh;
  for (int tries = 0; wrong_.empty(); ++tries) {
    if (random_() % 4 == 0) catalog_.Deliver();
    Keys search(this, indexes_[static_cast<size_t>(pipeline)].get(), rows, file.file_path);
    HeadFiles* known = random_() % 3 == 0 ? &fresh : &known_;  // a restart remembers nothing
    const auto outcome = CommitRowDelta(&catalog_, files_, kName, *append, &search, known, token, {});
    if (outcome.ok() && outcome->result != AppendResult::kSuperseded) search.Note(*outcome);
    if (outcome.ok() && random_() % 5 != 0) return;
    if (!outcome.ok() && outcome.status().retry() != Retry::kBackoff)
      return void(wrong_ = outcome.status().ToString());
    if (tries == 200) return void(wrong_ = "no end");
    // Before it is repeated, others may have rewritten what it did, and taken the snapshot away.
    if (pipeline == 0 && random_() % 2 == 0) Compact();
    if (pipeline == 0 && random_() % 2 == 0) Expire();
  }
}

Result<std::vector<TableLife::LiveFileRows>> TableLife::Live(const TableMetadata& table,
                                                             const Snapshot& head) const {
  ASSIGN_OR_RETURN(const ScanPlan plan, PlanScan(files_, table, head));
  std::vector<LiveFileRows> live;
  for (const ScanFile& file : plan.files) {
    const DataFile& data = file.data.file;
    PositionSet gone;
    for (const size_t number : file.deletes) {
      const DataFile& deletes = plan.deletes[number].file;
      if (deletes.is_deletion_vector()) {
        ASSIGN_OR_RETURN(const PositionSet vector, ReadDeletionVector(files_.file_system(), deletes));
        gone.AddAll(vector);
      } else {
        RETURN_IF_ERROR(AddDeletedPositions(files_.file_system(), deletes, data.file_path, &gone));
      }
    }
    live.push_back(
        {data.file_path, data.record_count, gone.ToVector(), std::get<int64_t>(data.partition[0].data)});
  }
  return live;
}

// The live rows as one file or two, in their order or in another.
FileReplacement TableLife::Rewrite(const std::vector<LiveFileRows>& files) {
  FileReplacement made;
  std::vector<Row> rows;
  for (const LiveFileRows& file : files) {
    made.from.push_back({file.path, file.records, file.gone});
    for (int64_t i = 0; i < file.records; ++i) {
      if (!std::binary_search(file.gone.begin(), file.gone.end(), i))
        rows.push_back(contents_.at(file.path)[static_cast<size_t>(i)]);
    }
  }
  if (random_() % 2 == 0) {
    std::vector<uint32_t> order(rows.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random_);
    std::vector<Row> sorted(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) sorted[order[i]] = rows[i];
    rows = std::move(sorted);
    made.order = std::move(order);
  }
  const size_t cut = rows.size() > 2 && random_() % 2 == 0 ? rows.size() / 2 : rows.size();
  const auto middle = rows.begin() + static_cast<std::ptrdiff_t>(cut);
  if (cut > 0) made.to.push_back(NewFile("c", {rows.begin(), middle}, files[0].bucket));
  if (middle != rows.end()) made.to.push_back(NewFile("c", {middle, rows.end()}, files[0].bucket));
  return made;
}

void TableLife::Compact() {
  const auto loaded = catalog_.LoadTable(kName);
  if (!loaded.ok() || !loaded->metadata.current_snapshot_id) return;
  const TableMetadata& table = loaded->metadata;
  const Snapshot& head = *table.FindSnapshot(*table.current_snapshot_id);
  auto live = Live(table, head);
  if (!live.ok()) return;
  const auto bucket = static_cast<int64_t>(random_() % 2);
  std::erase_if(*live, [&](const LiveFileRows& one) { return one.bucket != bucket || random_() % 4 == 0; });
  if (live->empty()) return;
  std::vector<FileReplacement> groups = {Rewrite(*live)};
  if (random_() % 3 == 0) Upsert(1);
  // Planted: as if the rows had been read only now, so that newer deletes are not looked for.
  groups[0].sequence_number =
      plants_.lose_moved ? catalog_.table().last_sequence_number : head.sequence_number;
  groups[0].snapshot_id = head.snapshot_id;
  ReplaceOptions options;
  options.attempts = 1 + static_cast<int64_t>(random_() % 4);
  const auto outcome =
      ReplaceFiles(&catalog_, files_, kName, table.table_uuid, groups, &known_to_compactor_, options);
  if (outcome.ok()) {
    compacted_ += outcome->committed[0] ? 1 : 0;
    moved_ += outcome->moved_deletes;
  } else if (outcome.status().retry() != Retry::kBackoff) {
    wrong_ = "compaction: " + outcome.status().ToString();
  }
}

void TableLife::Expire() {
  ExpireOptions options;
  options.policy = {.max_snapshot_age_ms = 0,
                    .min_snapshots_to_keep = 1 + static_cast<int64_t>(random_() % 3)};
  const auto report = ExpireSnapshots(&catalog_, files_, kName, options);
  if (!report.ok()) {
    if (report.status().retry() != Retry::kBackoff) wrong_ = "expiry: " + report.status().ToString();
    return;
  }
  expired_ += static_cast<int64_t>(report->plan.snapshots.size());
  // Whoever looks from now on sees it: a reader of older metadata would miss files.
  if (!report->plan.snapshots.empty()) catalog_.ForgetOlder();
}

void TableLife::Collect() {
  OrphanOptions options;
  options.min_age_ms = 0;
  options.in_flight = [this](const TableMetadata&, const std::string&) { return !plants_.collect_in_flight; };
  const auto report = FindOrphans(&catalog_, files_, kName, options);
  if (!report.ok()) return;
  for (const OrphanFile& one : report->orphans) (void)memory_.Remove(one.path).ok();
}

void TableLife::See(TableCommit* commit, const TableMetadata& table) {
  bool expires = false;
  for (const TableUpdate& update : commit->updates) {
    expires = expires || std::holds_alternative<RemoveSnapshots>(update);
    const auto* add = std::get_if<AddSnapshot>(&update);
    const auto token = add == nullptr ? std::nullopt : TokenOf(add->snapshot);
    if (token) taken_.emplace_back(token->pipeline == "p1", static_cast<int>(token->epoch));
  }
  if (!plants_.expire_tokens || !expires) return;
  commit->updates.clear();
  std::vector<int64_t> all;
  for (const Snapshot& snapshot : table.snapshots) {
    if (snapshot.snapshot_id != table.current_snapshot_id) all.push_back(snapshot.snapshot_id);
  }
  for (const auto& [name, ref] : table.refs) {
    if (name != "main") commit->updates.push_back(RemoveSnapshotRef{name});
  }
  commit->updates.push_back(RemoveSnapshots{all});
}

std::string TableLife::Check() const {
  // Who wrote each key last, as the catalog took the epochs.
  std::map<int, std::pair<int, int>> owner;
  std::set<std::pair<int, int>> epochs;
  for (const auto& epoch : taken_) {
    if (!epochs.insert(epoch).second) return "an epoch was taken twice";
    for (const int key : keys_of_.at(epoch)) owner[key] = epoch;
  }
  if (epochs.size() != keys_of_.size()) return "epochs are missing";
  const TableMetadata& table = catalog_.table();
  const auto live = Live(table, *table.FindSnapshot(*table.current_snapshot_id));
  if (!live.ok()) return live.status().ToString();
  std::map<int, std::pair<int, int>> found;
  for (const LiveFileRows& file : *live) {
    for (int64_t i = 0; i < file.records; ++i) {
      if (std::binary_search(file.gone.begin(), file.gone.end(), i)) continue;
      const Row& row = contents_.at(file.path)[static_cast<size_t>(i)];
      if (!found.emplace(row.key, std::pair(row.pipeline, row.epoch)).second) return "a key is there twice";
    }
  }
  if (found != owner) return "a key is not as the last commit left it";
  return CheckFiles(table);
}

std::string TableLife::CheckFiles(const TableMetadata& table) const {
  for (const Snapshot& snapshot : table.snapshots) {
    const auto plan = PlanScan(files_, table, snapshot);
    if (!plan.ok()) return "a snapshot cannot be read: " + plan.status().ToString();
    for (const ScanFile& file : plan->files) {
      if (!files_.Read(file.data.file.file_path).ok())
        return "a live file is gone: " + LastNameOf(file.data.file.file_path);
    }
    for (const LiveFile& file : plan->deletes) {
      if (!files_.Read(file.file.file_path).ok()) return "a live file of deletes is gone";
      // A vector whose data file is gone is of nothing.
      const auto is_its = [&](const ScanFile& data) {
        return data.data.file.file_path == file.file.referenced_data_file;
      };
      if (file.file.referenced_data_file && std::none_of(plan->files.begin(), plan->files.end(), is_its))
        return "deletes of a file that is gone are live";
    }
  }
  return "";
}

}  // namespace caudal::iceberg
