#include "state/testing/disk_map.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

namespace caudal {
namespace {

sqlite3_stmt* Prepare(sqlite3* db, const char* sql, const std::string& a, const std::string& b) {
  sqlite3_stmt* statement = nullptr;
  EXPECT_EQ(sqlite3_prepare_v2(db, sql, -1, &statement, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
  const int parameters = sqlite3_bind_parameter_count(statement);
  auto bind = [statement](int at, const std::string& bytes) {
    sqlite3_bind_blob(statement, at, bytes.data(), static_cast<int>(bytes.size()), SQLITE_TRANSIENT);
  };
  if (parameters > 0) bind(1, a);
  if (parameters > 1) bind(2, b);
  return statement;
}

}  // namespace

DiskMap::DiskMap() {
  EXPECT_EQ(sqlite3_open("", &db_), SQLITE_OK);  // a temporary file of its own
  Run("CREATE TABLE rows (key BLOB PRIMARY KEY, value BLOB, changed INTEGER)");
  Run("CREATE TABLE erased (key BLOB PRIMARY KEY)");
}

DiskMap::~DiskMap() { sqlite3_close(db_); }

void DiskMap::Put(const std::string& key, const std::string& value) {
  Run("INSERT OR REPLACE INTO rows VALUES (?1, ?2, 1)", key, value);
}

void DiskMap::Erase(const std::string& key) {
  Run("INSERT OR REPLACE INTO erased SELECT key FROM rows WHERE key = ?1", key);
  Run("DELETE FROM rows WHERE key = ?1", key);
}

bool DiskMap::Find(const std::string& key, std::string* value) {
  const Rows found = Select("SELECT key, value FROM rows WHERE key = ?1", key);
  if (found.empty()) return false;
  *value = found.begin()->second;
  return true;
}

DiskMap::Rows DiskMap::all() { return Select("SELECT key, value FROM rows"); }
DiskMap::Rows DiskMap::changed() { return Select("SELECT key, value FROM rows WHERE changed"); }
DiskMap::Rows DiskMap::erased() { return Select("SELECT key, '' FROM erased"); }

void DiskMap::ForgetChanges() {
  Run("UPDATE rows SET changed = 0");
  Run("DELETE FROM erased");
}

void DiskMap::Run(const char* sql, const std::string& a, const std::string& b) {
  sqlite3_stmt* statement = Prepare(db_, sql, a, b);
  EXPECT_EQ(sqlite3_step(statement), SQLITE_DONE) << sqlite3_errmsg(db_);
  sqlite3_finalize(statement);
}

DiskMap::Rows DiskMap::Select(const char* sql, const std::string& a) {
  Rows found;
  sqlite3_stmt* statement = Prepare(db_, sql, a, "");
  auto text = [statement](int column) {
    const char* bytes = static_cast<const char*>(sqlite3_column_blob(statement, column));
    return std::string(bytes == nullptr ? "" : bytes,
                       static_cast<size_t>(sqlite3_column_bytes(statement, column)));
  };
  while (sqlite3_step(statement) == SQLITE_ROW) found.emplace(text(0), text(1));
  sqlite3_finalize(statement);
  return found;
}

TEST(DiskMap, KnowsWhatHasChanged) {
  DiskMap map;
  map.Put("a", "1");
  map.Put(std::string("b\0c", 3), "");
  EXPECT_EQ(map.changed(), map.all());
  map.ForgetChanges();
  map.Put("a", "2");
  map.Erase("no such key");
  map.Erase(std::string("b\0c", 3));
  EXPECT_EQ(map.changed(), (DiskMap::Rows{{"a", "2"}}));
  EXPECT_EQ(map.erased(), (DiskMap::Rows{{std::string("b\0c", 3), ""}}));
  EXPECT_EQ(map.all(), map.changed());
}

}  // namespace caudal
