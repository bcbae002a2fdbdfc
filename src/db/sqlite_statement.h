// SqliteStatement: a prepared statement: bind, step, read, reset, again and again.
//
// Belongs to the thread of its connection and must go before it. Parameters and columns count from 0. Text
// and bytes that are bound must stay until the next Reset; those that are read stay until the next Step or
// Reset.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

struct sqlite3_stmt;

namespace caudal {

class SqliteStatement {
 public:
  enum class Storage { kInteger, kReal, kText, kBlob, kNull };

  SqliteStatement(sqlite3_stmt* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  SqliteStatement(SqliteStatement&& other) noexcept;
  SqliteStatement& operator=(SqliteStatement&& other) noexcept;
  ~SqliteStatement();

  void BindInteger(int parameter, int64_t value);
  void BindReal(int parameter, double value);
  void BindText(int parameter, std::string_view value);
  void BindBlob(int parameter, std::string_view value);
  void BindNull(int parameter);

  // True: there is a row. False: done.
  Result<bool> Step();
  // Step, for a statement without rows, then Reset.
  Status Run();
  void Reset();  // parameters keep their values

  int column_count() const;
  std::string column_name(int column) const;
  std::string declared_type(int column) const;  // of the table's column; empty for an expression
  Storage storage(int column) const;            // of the value in the row at hand
  int64_t integer(int column) const;
  double real(int column) const;
  std::string_view text(int column) const;  // SQLite's text form of any value
  std::string_view blob(int column) const;

 private:
  sqlite3_stmt* handle_;
  std::string path_;
};

}  // namespace caudal
