// OpsRow: one row on its way to a table of the operations store, cell by cell in the order of its columns.
//
// Plain data; belongs to whoever fills it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace caudal {

struct OpsRow {
  using Cell = std::variant<std::monostate, int64_t, double, std::string>;

  std::string_view table;  // of a name in OpsTables()
  std::vector<Cell> cells;
  bool only_new = false;  // a row of the same key stays as it is

  explicit OpsRow(std::string_view table) : table(table) {}
  OpsRow& Text(std::string_view value) { return Put(std::string(value)); }
  OpsRow& Integer(int64_t value) { return Put(value); }
  // What is not known (-1) is NULL.
  OpsRow& Known(int64_t value) { return value < 0 ? Null() : Put(value); }
  OpsRow& Real(double value) { return Put(value); }
  OpsRow& Null() { return Put(std::monostate()); }
  OpsRow& Time(int64_t millis);  // since 1970, as TIMESTAMP(3); NULL beyond what a time can be

 private:
  OpsRow& Put(Cell cell) {
    cells.push_back(std::move(cell));
    return *this;
  }
};

}  // namespace caudal
