// DiskMap: keys and values in a temporary SQLite file that knows what has changed: what the disk-backed
// stores of the state tables' contract tests are made of. Each speaks the segments of its table, so that a
// store that spills can stand behind the same interface. For tests alone; disk_map_test.cc implements it.
#pragma once

#include <map>
#include <string>

struct sqlite3;

namespace caudal {

class DiskMap {
 public:
  using Rows = std::map<std::string, std::string>;

  DiskMap();
  ~DiskMap();
  DiskMap(const DiskMap&) = delete;
  DiskMap& operator=(const DiskMap&) = delete;

  void Put(const std::string& key, const std::string& value);
  void Erase(const std::string& key);
  // Whether `key` is there, and its value.
  bool Find(const std::string& key, std::string* value);

  Rows all();
  // Since ForgetChanges; of the erased ones the key alone.
  Rows changed();
  Rows erased();
  void ForgetChanges();

 private:
  void Run(const char* sql, const std::string& a = "", const std::string& b = "");
  Rows Select(const char* sql, const std::string& a = "");

  sqlite3* db_ = nullptr;
};

}  // namespace caudal
