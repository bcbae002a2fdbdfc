// SqliteTransaction: BEGIN IMMEDIATE … COMMIT as a scope; without Commit everything is rolled back.
//
// Belongs to the thread of its connection, which must outlive it; one at a time.
#pragma once

#include "base/status.h"
#include "db/sqlite.h"

namespace caudal {

class SqliteTransaction {
 public:
  explicit SqliteTransaction(Sqlite* database) : database_(database) {}
  ~SqliteTransaction();
  SqliteTransaction(const SqliteTransaction&) = delete;
  SqliteTransaction& operator=(const SqliteTransaction&) = delete;

  Status Begin();  // takes the write lock, so that a busy database is known before any work
  Status Commit();

 private:
  Sqlite* database_;
  bool open_ = false;
};

}  // namespace caudal
