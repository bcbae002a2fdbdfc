#include "db/sqlite_error.h"

#include <fmt/format.h>
#include <sqlite3.h>

namespace caudal {

Status SqliteError(int code, sqlite3* database, const std::string& path) {
  const std::string_view detail = database != nullptr ? sqlite3_errmsg(database) : sqlite3_errstr(code);
  const std::string text = fmt::format("sqlite database '{}': {}", path, detail);
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Status::External(text, Retry::kBackoff)
          .Hint("another process holds its lock; it is tried again");
    case SQLITE_FULL:
      return Status::External(text, Retry::kBackoff).Hint("free some space on its disk; it is tried again");
    case SQLITE_IOERR:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
    case SQLITE_AUTH:
      return Status::External(text, Retry::kBackoff)
          .Hint("check that the file and its folder exist and may be read and written");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return Status::Data(text).Hint("the file is damaged or is no SQLite database");
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_TOOBIG:
      return Status::Data(text);
    case SQLITE_NOMEM:
      return Status::External(text);
    case SQLITE_MISUSE:
    case SQLITE_RANGE:
      return Status::Internal(text);
    default:
      return Status::User(text);
  }
}

}  // namespace caudal
