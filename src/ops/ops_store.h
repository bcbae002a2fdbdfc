// OpsStore: the operations store, <state>/ops.db: what queries did, for people, dashboards and `caudal ops`.
//
// Never needed to run or restart a query: losing it loses history alone. One thread; off the hot path.
// Readers open the file themselves and are never blocked (WAL).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "db/sqlite.h"
#include "ops/ops_row.h"

namespace caudal {

class OpsStore {
 public:
  static std::string PathIn(const std::string& state_root) { return state_root + "/ops.db"; }
  // The form of the tables, kept as the file's user_version: 0 was written before there were versions. A
  // file whose tables have another form gets that of today; a form that an older caudal must not touch is a
  // new version.
  static constexpr int64_t kVersion = 1;

  // Makes the file and its tables if they are not there; brings an older file to kVersion. User error for a
  // file that a newer caudal made.
  static Result<std::unique_ptr<OpsStore>> Open(const std::string& state_root);
  // The check alone, for those who read.
  static Status CheckVersion(Sqlite* database);

  // All rows in one transaction.
  Status Write(const std::vector<OpsRow>& rows);
  // Drops what is older than `millis` (wall clock) in the tables that grow.
  Status Expire(int64_t millis);

 private:
  explicit OpsStore(std::unique_ptr<Sqlite> database) : database_(std::move(database)) {}

  std::unique_ptr<Sqlite> database_;
};

}  // namespace caudal
