#include "run/simulation/simulated_sink.h"

#include <fmt/format.h>

#include <cstring>

#include "base/fault_point.h"
#include "base/planted_fault.h"
#include "data/column_view.h"
#include "run/simulation/simulated_world.h"

namespace caudal {
namespace {

int64_t CellNumber(const Column& column, int32_t row) {
  if (column.IsNull(row)) return INT64_MIN;
  switch (column.type().physical()) {
    case Physical::kInt32:
      return ColumnView<int32_t>(column)[row];
    case Physical::kString:
      return Workload::ClassNumber(ColumnView<StringView>(column)[row].view());
    default:
      return ColumnView<int64_t>(column)[row];
  }
}

SimulatedRow RowOf(const Chunk& chunk, int32_t row) {
  SimulatedRow out{};
  for (int i = 0; i < std::min(4, chunk.column_count()); ++i) {
    out[static_cast<size_t>(i)] = CellNumber(*chunk.column(i), row);
    if (chunk.column(i)->type().is_timestamp()) out[static_cast<size_t>(i)] /= 1000;  // µs → ms
  }
  return out;
}

// Writes an epoch's rows to one file, durably.
class SealedRows : public SealedEpoch {
 public:
  SealedRows(FileSystem* files, std::string path, std::vector<SimulatedRow> rows)
      : files_(files), path_(std::move(path)), rows_(std::move(rows)) {}
  Result<Committable> Prepare() override {
    ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file, files_->Create(path_));
    RETURN_IF_ERROR(file->Append(RowBytes(rows_)));
    RETURN_IF_ERROR(file->Close());
    Committable committable;
    committable.payload = path_;
    committable.bytes = file->size();
    committable.rows_added = file->size() / static_cast<int64_t>(sizeof(SimulatedRow));
    return committable;
  }

 private:
  FileSystem* files_;
  std::string path_;
  std::vector<SimulatedRow> rows_;
};

class RowWriter : public SinkWriter {
 public:
  // `prefix`: of the files, unique to this writer.
  RowWriter(FileSystem* files, std::string prefix) : files_(files), prefix_(std::move(prefix)) {}
  Status Write(const Chunk& chunk, SinkRejects&) override {
    const RowSet rows = chunk.rows();
    for (int32_t i = 0; i < rows.count; ++i) rows_.push_back(RowOf(chunk, rows[i]));
    return Status();
  }
  Result<std::unique_ptr<SealedEpoch>> Seal(Epoch epoch) override {
    std::vector<SimulatedRow> rows = rows_;
    if (!PLANTED_FAULT(staged_rows_not_cleared)) rows_.clear();
    if (rows.empty()) return std::unique_ptr<SealedEpoch>();
    return std::unique_ptr<SealedEpoch>(
        std::make_unique<SealedRows>(files_, fmt::format("{}-{}", prefix_, epoch.number), std::move(rows)));
  }
  int64_t buffered_bytes() const override {
    return static_cast<int64_t>(rows_.size() * sizeof(SimulatedRow));
  }

 private:
  FileSystem* files_;
  std::string prefix_;
  std::vector<SimulatedRow> rows_;
};

CommitResult NoAnswer() {
  return {CommitOutcome::kUnknown, Status::External("the connection broke", Retry::kBackoff)};
}

class LedgerCommitter : public SinkCommitter {
 public:
  LedgerCommitter(SimulatedWorld* world, std::string table, std::string segments)
      : world_(world), table_(std::move(table)), segments_(std::move(segments)) {}
  Result<Epoch> LastCommitted() override { return world_->table(table_).ledger; }
  CommitResult Commit(Epoch epoch, std::span<const Committable> committables) override {
    if (world_->LosesAnswer()) return NoAnswer();
    bool lost = false;
    Status status = CommitInTransaction(epoch, committables, &lost);
    if (!status.ok()) return {lost ? CommitOutcome::kLost : CommitOutcome::kUnknown, std::move(status)};
    return world_->LosesAnswer() ? NoAnswer() : CommitResult{};
  }
  Status RemoveLeftovers() override {
    ASSIGN_OR_RETURN(const std::vector<FileInfo> files, world_->files().List(segments_));
    for (const FileInfo& file : files) RETURN_IF_ERROR(world_->files().Remove(file.path));
    return Status();
  }

 private:
  Status CommitInTransaction(Epoch epoch, std::span<const Committable> committables, bool* lost) {
    SimulatedWorld::Table& table = world_->table(table_);
    if (table.ledger >= epoch && !PLANTED_FAULT(commit_not_idempotent)) return Status();
    std::vector<SimulatedRow> rows;
    for (const Committable& one : committables) {
      Result<std::string> bytes = world_->files().ReadAll(one.payload);
      *lost = !bytes.ok();
      if (*lost) return bytes.status();
      AppendRows(*bytes, &rows);
    }
    FAULT_POINT(database_commit);
    table.rows.insert(table.rows.end(), rows.begin(), rows.end());
    table.ledger = std::max(table.ledger, epoch);
    return Status();
  }

  SimulatedWorld* world_;
  std::string table_;
  std::string segments_;
};

class FilesCommitter : public SinkCommitter {
 public:
  explicit FilesCommitter(SimulatedWorld* world) : world_(world) {}
  Result<Epoch> LastCommitted() override { return Epoch{}; }
  CommitResult Commit(Epoch, std::span<const Committable> committables) override {
    MemoryFileSystem& files = world_->files();
    for (const Committable& one : committables) {
      const std::string visible =
          kSimulatedFolder + "/part-" + one.payload.substr(kSimulatedFolder.size() + 2);
      if (*files.Exists(visible)) continue;
      if (!*files.Exists(one.payload)) return {CommitOutcome::kLost, Status::Data(one.payload + " is gone")};
      Status status = files.Rename(one.payload, visible);
      if (!status.ok()) return {CommitOutcome::kUnknown, std::move(status)};
    }
    return world_->LosesAnswer() ? NoAnswer() : CommitResult{};
  }
  Status RemoveLeftovers() override {
    ASSIGN_OR_RETURN(const std::vector<FileInfo> files, world_->files().List(kSimulatedFolder));
    for (const FileInfo& file : files) {
      if (!file.path.starts_with(kSimulatedFolder + "/.")) continue;
      RETURN_IF_ERROR(world_->files().Remove(file.path));
    }
    return Status();
  }

 private:
  SimulatedWorld* world_;
};

class LedgerSink : public Sink {
 public:
  LedgerSink(SimulatedWorld* world, std::string table, const ConnectorContext& context)
      : world_(world), table_(std::move(table)), context_(context) {}
  ChangelogKinds accepts() const override { return ChangelogKinds::InsertOnly(); }
  std::string_view guarantee() const override { return "exactly once"; }
  Result<std::unique_ptr<SinkWriter>> MakeWriter(int task) override {
    return std::unique_ptr<SinkWriter>(std::make_unique<RowWriter>(
        context_.files, fmt::format("{}/rows-{}-{}", context_.segment_dir, context_.generation, task)));
  }
  Result<std::unique_ptr<SinkCommitter>> MakeCommitter() override {
    return std::unique_ptr<SinkCommitter>(
        std::make_unique<LedgerCommitter>(world_, table_, context_.segment_dir));
  }

 private:
  SimulatedWorld* world_;
  std::string table_;
  ConnectorContext context_;
};

class FilesSink : public Sink {
 public:
  FilesSink(SimulatedWorld* world, const ConnectorContext& context) : world_(world), context_(context) {}
  ChangelogKinds accepts() const override { return ChangelogKinds::InsertOnly(); }
  std::string_view guarantee() const override { return "exactly once"; }
  Result<std::unique_ptr<SinkWriter>> MakeWriter(int task) override {
    RETURN_IF_ERROR(context_.files->MakeDirectories(kSimulatedFolder));
    return std::unique_ptr<SinkWriter>(std::make_unique<RowWriter>(
        context_.files, fmt::format("{}/.{}-{}", kSimulatedFolder, context_.generation, task)));
  }
  Result<std::unique_ptr<SinkCommitter>> MakeCommitter() override {
    return std::unique_ptr<SinkCommitter>(std::make_unique<FilesCommitter>(world_));
  }

 private:
  SimulatedWorld* world_;
  ConnectorContext context_;
};

}  // namespace

std::string RowBytes(const std::vector<SimulatedRow>& rows) {
  return std::string(reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(SimulatedRow));
}

void AppendRows(std::string_view bytes, std::vector<SimulatedRow>* rows) {
  for (; bytes.size() >= sizeof(SimulatedRow); bytes.remove_prefix(sizeof(SimulatedRow))) {
    std::memcpy(rows->emplace_back().data(), bytes.data(), sizeof(SimulatedRow));
  }
}

Result<std::unique_ptr<Sink>> SimulatedLedgerConnector::MakeSink(const Table& table,
                                                                 const ConnectorContext& context) const {
  return std::unique_ptr<Sink>(std::make_unique<LedgerSink>(world_, table.name, context));
}

Result<std::unique_ptr<Sink>> SimulatedFilesConnector::MakeSink(const Table&,
                                                                const ConnectorContext& context) const {
  return std::unique_ptr<Sink>(std::make_unique<FilesSink>(world_, context));
}

}  // namespace caudal
