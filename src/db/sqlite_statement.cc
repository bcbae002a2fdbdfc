#include "db/sqlite_statement.h"

#include <sqlite3.h>

#include <utility>

#include "db/sqlite_error.h"

namespace caudal {

SqliteStatement::SqliteStatement(SqliteStatement&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), path_(std::move(other.path_)) {}

SqliteStatement& SqliteStatement::operator=(SqliteStatement&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(path_, other.path_);
  return *this;
}

SqliteStatement::~SqliteStatement() { sqlite3_finalize(handle_); }

// Binding fails only for a wrong number or a value too long, which the next Step reports.
void SqliteStatement::BindInteger(int parameter, int64_t value) {
  sqlite3_bind_int64(handle_, parameter + 1, value);
}
void SqliteStatement::BindReal(int parameter, double value) {
  sqlite3_bind_double(handle_, parameter + 1, value);
}
void SqliteStatement::BindText(int parameter, std::string_view value) {
  // A null pointer would be NULL, not the empty text.
  const char* data = value.empty() ? "" : value.data();
  sqlite3_bind_text(handle_, parameter + 1, data, static_cast<int>(value.size()), SQLITE_STATIC);
}
void SqliteStatement::BindBlob(int parameter, std::string_view value) {
  const char* data = value.empty() ? "" : value.data();
  sqlite3_bind_blob(handle_, parameter + 1, data, static_cast<int>(value.size()), SQLITE_STATIC);
}
void SqliteStatement::BindNull(int parameter) { sqlite3_bind_null(handle_, parameter + 1); }

Result<bool> SqliteStatement::Step() {
  const int code = sqlite3_step(handle_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  Status status = SqliteError(code, sqlite3_db_handle(handle_), path_);
  sqlite3_reset(handle_);
  return status;
}

Status SqliteStatement::Run() {
  Result<bool> stepped = Step();
  Reset();
  return std::move(stepped).status();
}

void SqliteStatement::Reset() { sqlite3_reset(handle_); }

int SqliteStatement::column_count() const { return sqlite3_column_count(handle_); }
std::string SqliteStatement::column_name(int column) const { return sqlite3_column_name(handle_, column); }
std::string SqliteStatement::declared_type(int column) const {
  const char* type = sqlite3_column_decltype(handle_, column);
  return type == nullptr ? "" : type;
}

SqliteStatement::Storage SqliteStatement::storage(int column) const {
  switch (sqlite3_column_type(handle_, column)) {
    case SQLITE_INTEGER:
      return Storage::kInteger;
    case SQLITE_FLOAT:
      return Storage::kReal;
    case SQLITE_TEXT:
      return Storage::kText;
    case SQLITE_BLOB:
      return Storage::kBlob;
    default:
      return Storage::kNull;
  }
}

int64_t SqliteStatement::integer(int column) const { return sqlite3_column_int64(handle_, column); }
double SqliteStatement::real(int column) const { return sqlite3_column_double(handle_, column); }

std::string_view SqliteStatement::text(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(handle_, column));
  return {data == nullptr ? "" : data, static_cast<size_t>(sqlite3_column_bytes(handle_, column))};
}

std::string_view SqliteStatement::blob(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(handle_, column));
  return {data == nullptr ? "" : data, static_cast<size_t>(sqlite3_column_bytes(handle_, column))};
}

}  // namespace caudal
