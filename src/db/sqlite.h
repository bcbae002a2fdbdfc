// Sqlite: one connection to a SQLite file. SQLite's own calls and codes end in this folder.
//
// Used by one thread at a time. A busy, full or unreadable disk is External and may be repeated (kBackoff); a
// statement that SQLite does not understand is User; a broken constraint or a damaged file is Data.
// Statements made by Prepare must go before their connection.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "db/sqlite_statement.h"

struct sqlite3;

namespace caudal {

class Sqlite {
 public:
  enum class Mode {
    kReadOnly,   // the file must be there
    kReadWrite,  // the file must be there
    kCreate,     // made if missing
  };
  // Waits up to `busy_millis` for a lock that another process holds before it says busy.
  static Result<std::unique_ptr<Sqlite>> Open(const std::string& path, Mode mode, int busy_millis = 5000);
  ~Sqlite();
  Sqlite(const Sqlite&) = delete;
  Sqlite& operator=(const Sqlite&) = delete;

  // One or more statements that give no rows.
  Status Execute(const std::string& sql);
  Result<SqliteStatement> Prepare(std::string_view sql);
  // Readers never block the writer (WAL); every commit reaches the disk (synchronous = FULL).
  Status UseWriteAheadLog();
  // The first column of the first row as an integer; `fallback` if there is no row or it is NULL.
  Result<int64_t> QueryInteger(std::string_view sql, int64_t fallback);

  // Whether the file was moved, removed or replaced since it was opened: what is written now is lost.
  bool has_moved() const;
  int64_t changes() const;  // rows that the last statement changed
  const std::string& path() const { return path_; }

 private:
  Sqlite(sqlite3* handle, std::string path) : handle_(handle), path_(std::move(path)) {}

  sqlite3* handle_;
  std::string path_;
};

// A name as SQL writes it: in double quotes, those inside doubled.
std::string QuoteSqliteName(std::string_view name);

}  // namespace caudal
