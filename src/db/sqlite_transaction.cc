#include "db/sqlite_transaction.h"

#include "base/fault_point.h"

namespace caudal {

SqliteTransaction::~SqliteTransaction() {
  // SQLite may have rolled back by itself; then this fails and there is nothing left to do.
  if (open_) static_cast<void>(database_->Execute("ROLLBACK").ok());
}

Status SqliteTransaction::Begin() {
  RETURN_IF_ERROR(database_->Execute("BEGIN IMMEDIATE"));
  open_ = true;
  return Status();
}

Status SqliteTransaction::Commit() {
  FAULT_POINT(database_commit);
  RETURN_IF_ERROR(database_->Execute("COMMIT"));
  open_ = false;
  return Status();
}

}  // namespace caudal
