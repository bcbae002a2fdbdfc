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
  // Makes the file and its tables if they are not there.
  static Result<std::unique_ptr<OpsStore>> Open(const std::string& state_root);

  // All rows in one transaction.
  Status Write(const std::vector<OpsRow>& rows);
  // Drops what is older than `millis` (wall clock) in the tables that grow.
  Status Expire(int64_t millis);

 private:
  explicit OpsStore(std::unique_ptr<Sqlite> database) : database_(std::move(database)) {}

  std::unique_ptr<Sqlite> database_;
};

}  // namespace caudal
