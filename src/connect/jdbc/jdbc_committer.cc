#include "connect/jdbc/jdbc_committer.h"

#include <fmt/format.h>

#include "connect/jdbc/jdbc_table.h"
#include "db/sqlite_transaction.h"

namespace caudal {
namespace {

constexpr int kBusyMillis = 1000;  // the coordinator repeats a commit without an answer
constexpr const char* kMakeLedger =
    "CREATE TABLE IF NOT EXISTS caudal_ledger (query TEXT NOT NULL, sink TEXT NOT NULL, "
    "generation INTEGER NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (query, sink)) WITHOUT ROWID";
constexpr std::string_view kReadLedger =
    "SELECT generation, number FROM caudal_ledger WHERE query = ? AND sink = ?";
constexpr std::string_view kWriteLedger =
    "INSERT INTO caudal_ledger VALUES (?, ?, ?, ?) ON CONFLICT (query, sink) "
    "DO UPDATE SET generation = excluded.generation, number = excluded.number";

// What an earlier caudal called a sink: a row of it tells of this sink's epochs until there is one of its
// own.
std::pair<std::string, std::string> FormerLedgerKey(const JdbcTarget& target,
                                                    const ConnectorContext& context) {
  return {context.query, target.declared};
}

std::pair<std::string, std::string> LedgerKey(const ConnectorContext& context) {
  return {context.query + "@" + context.identity, context.sink};
}

}  // namespace

Result<std::unique_ptr<SinkCommitter>> JdbcCommitter::Make(JdbcTarget target, ConnectorContext context) {
  std::unique_ptr<JdbcCommitter> committer(new JdbcCommitter(std::move(target), std::move(context)));
  Status status = committer->Connect();
  if (status.ok() && committer->target_.create_table)
    status = committer->database_->Execute(committer->target_.CreateStatement());
  if (status.ok()) status = CheckTable(committer->target_, committer->database_.get());
  if (!status.ok()) return std::move(status).At(committer->target_.frame());
  return std::unique_ptr<SinkCommitter>(std::move(committer));
}

Status JdbcCommitter::Connect() {
  if (database_ != nullptr) return Status();
  // As the folder of a table of files.
  const size_t slash = target_.path.rfind('/');
  if (target_.create_table && slash != std::string::npos && slash > 0)
    RETURN_IF_ERROR(FileSystem::Local()->MakeDirectories(target_.path.substr(0, slash)));
  ASSIGN_OR_RETURN(std::unique_ptr<Sqlite> database,
                   Sqlite::Open(target_.path, Sqlite::Mode::kCreate, kBusyMillis));
  RETURN_IF_ERROR(database->UseWriteAheadLog());
  // 64 MB of pages: an epoch of upserts walks over much of a table.
  RETURN_IF_ERROR(database->Execute("PRAGMA cache_size = -65536"));
  if (!context_.ephemeral) RETURN_IF_ERROR(database->Execute(kMakeLedger));
  database_ = std::move(database);
  return Status();
}

Result<Epoch> JdbcCommitter::LastCommitted() {
  if (context_.ephemeral) return Epoch();
  RETURN_IF_ERROR(Connect());
  ASSIGN_OR_RETURN(SqliteStatement read, database_->Prepare(kReadLedger));
  for (const auto& [query, sink] : {LedgerKey(context_), FormerLedgerKey(target_, context_)}) {
    read.BindText(0, query);
    read.BindText(1, sink);
    ASSIGN_OR_RETURN(const bool found, read.Step());
    if (found) return Epoch{read.integer(0), read.integer(1)};
    read.Reset();
  }
  return Epoch();
}

CommitResult JdbcCommitter::Commit(Epoch epoch, std::span<const Committable> committables) {
  bool lost = false;
  Status status = CommitInTransaction(epoch, committables, &lost);
  if (status.ok()) {
    RemoveSegments(context_.files, form_, committables);
    return {};
  }
  database_.reset();  // the next call starts from a fresh connection
  const CommitOutcome outcome = lost                                   ? CommitOutcome::kLost
                                : status.domain() == Domain::kExternal ? CommitOutcome::kUnknown
                                                                       : CommitOutcome::kRefused;
  return {outcome, std::move(status).At(target_.frame())};
}

Status JdbcCommitter::CommitInTransaction(Epoch epoch, std::span<const Committable> committables,
                                          bool* lost) {
  RETURN_IF_ERROR(Connect());
  RETURN_IF_ERROR(CheckInPlace());
  SqliteTransaction transaction(database_.get());
  RETURN_IF_ERROR(transaction.Begin());
  // Read under the write lock: no other process can commit in between.
  ASSIGN_OR_RETURN(const Epoch last, LastCommitted());
  if (last >= epoch) return Status();
  for (const Committable& committable : committables) {
    ASSIGN_OR_RETURN(const SegmentReference reference, SegmentReference::Parse(form_, committable.payload));
    RETURN_IF_ERROR(reference.CheckTarget(form_, "'url' and 'table-name'"));
    ASSIGN_OR_RETURN(SegmentRecords records, SegmentRecords::OfFile(context_.files, reference, lost));
    RETURN_IF_ERROR(ApplySegment(&records, reference, database_.get()));
  }
  if (!context_.ephemeral) RETURN_IF_ERROR(WriteLedger(epoch));
  RETURN_IF_ERROR(transaction.Commit());
  return CheckInPlace();
}

Status JdbcCommitter::CheckInPlace() const {
  if (!database_->has_moved()) return Status();
  return Status::User(fmt::format("'{}' was moved, removed or replaced while it was in use", target_.path))
      .Hint("put the former file back");
}

Status JdbcCommitter::WriteLedger(Epoch epoch) {
  ASSIGN_OR_RETURN(SqliteStatement write, database_->Prepare(kWriteLedger));
  const auto [query, sink] = LedgerKey(context_);
  write.BindText(0, query);
  write.BindText(1, sink);
  write.BindInteger(2, epoch.generation);
  write.BindInteger(3, epoch.number);
  return write.Run();
}

Status JdbcCommitter::RemoveLeftovers() {
  return RemoveAllSegments(context_.files, context_.segment_dir, form_);
}

}  // namespace caudal
