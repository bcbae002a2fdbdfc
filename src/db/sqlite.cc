#include "db/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db/sqlite_error.h"

namespace caudal {
namespace {

// A database with a write-ahead log is read by way of two files beside it. Where they are not, nobody has it
// open; and where they cannot be made either, nobody but who may write the folder can open it.
bool IsAtRest(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  return access(folder.c_str(), W_OK) != 0 && access((path + "-wal").c_str(), F_OK) != 0;
}

// SQLite's own form of a path with a question for the database behind it.
std::string AtRestUri(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    const bool plain = c != '%' && c != '?' && c != '#';
    uri += plain ? std::string(1, c) : fmt::format("%{:02x}", static_cast<unsigned char>(c));
  }
  return uri + "?immutable=1";
}

// A writer that was killed leaves a journal by which the next one to open the file undoes what it had begun.
// Who only reads may not, and gets no rows: so it is done for them, where it can be.
void UndoWhatAKillCutShort(const std::string& path) {
  struct stat journal = {};
  if (stat((path + "-journal").c_str(), &journal) != 0 || journal.st_size == 0) return;
  const Result<std::unique_ptr<Sqlite>> writer = Sqlite::Open(path, Sqlite::Mode::kReadWrite);
  if (writer.ok()) (void)(*writer)->QueryInteger("SELECT COUNT(*) FROM sqlite_master", 0).ok();
}

}  // namespace

Result<std::unique_ptr<Sqlite>> Sqlite::Open(const std::string& path, Mode mode, int busy_millis) {
  int flags = SQLITE_OPEN_NOMUTEX;
  if (mode == Mode::kReadOnly) flags |= SQLITE_OPEN_READONLY;
  if (mode == Mode::kReadWrite) flags |= SQLITE_OPEN_READWRITE;
  if (mode == Mode::kCreate) flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  std::string name = path;
  if (mode == Mode::kReadOnly) UndoWhatAKillCutShort(path);
  if (mode == Mode::kReadOnly && IsAtRest(path)) {
    flags |= SQLITE_OPEN_URI;
    name = AtRestUri(path);
  }
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &handle, flags, nullptr);
  std::unique_ptr<Sqlite> opened(new Sqlite(handle, path));  // closes the handle also when opening failed
  if (code != SQLITE_OK) return SqliteError(code, handle, path);
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, busy_millis);
  // Else a name in double quotes that is no column's is taken for a text: its own name as data.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr);
  return opened;
}

Sqlite::~Sqlite() { sqlite3_close_v2(handle_); }

Status Sqlite::Execute(const std::string& sql) {
  const int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? Status() : SqliteError(code, handle_, path_);
}

Result<SqliteStatement> Sqlite::Prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const char* rest = nullptr;
  const int code = sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, &rest);
  if (code != SQLITE_OK) return SqliteError(code, handle_, path_);
  if (statement == nullptr) return Status::User("the statement is empty");
  return SqliteStatement(statement, path_);
}

Status Sqlite::UseWriteAheadLog() {
  // The pragma answers with the mode that is in force: some file systems cannot do WAL, which is no fault.
  RETURN_IF_ERROR(Execute("PRAGMA journal_mode = WAL"));
  return Execute("PRAGMA synchronous = FULL");
}

Result<int64_t> Sqlite::QueryInteger(std::string_view sql, int64_t fallback) {
  ASSIGN_OR_RETURN(SqliteStatement statement, Prepare(sql));
  ASSIGN_OR_RETURN(const bool row, statement.Step());
  if (!row || statement.storage(0) == SqliteStatement::Storage::kNull) return fallback;
  return statement.integer(0);
}

bool Sqlite::has_moved() const {
  int moved = 0;
  return sqlite3_file_control(handle_, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0;
}

int64_t Sqlite::changes() const { return sqlite3_changes64(handle_); }

std::string QuoteSqliteName(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace caudal
