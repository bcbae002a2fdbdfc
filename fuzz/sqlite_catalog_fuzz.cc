// The rows of a SQLite catalog, whatever another program has put there: each name is listed, found or
// refused, and each location is one or an error.
//
// The input is cut at its newlines into the columns of rows: namespace, name, location, type. A column that
// begins with '#' is a number, with '!' bytes, and NULL if it is '?'.
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "db/sqlite.h"
#include "fs/memory_file_system.h"
#include "iceberg/catalog/sqlite_catalog.h"

namespace caudal {
namespace {

constexpr int kColumns = 4;

std::string Literal(std::string_view text) {
  if (text == "?") return "NULL";
  const bool bytes = !text.empty() && text.front() == '!', number = !text.empty() && text.front() == '#';
  if (number) return std::to_string(std::atoll(std::string(text.substr(1)).c_str()));
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const unsigned char c : text.substr(bytes ? 1 : 0)) hex += {kDigits[c / 16], kDigits[c % 16]};
  return bytes ? "X'" + hex + "'" : "CAST(X'" + hex + "' AS TEXT)";
}

// The file, as another program writes it and as a catalog reads it.
class Lake {
 public:
  Lake() : memory_(&env_), files_(&memory_, &env_) {
    path_ = std::filesystem::temp_directory_path() / ("caudal-fuzz-" + std::to_string(getpid()) + ".db");
    auto catalog = iceberg::SqliteCatalog::Open({path_, "lake", "/w"}, &files_);
    auto other = Sqlite::Open(path_, Sqlite::Mode::kReadWrite);
    if (!catalog.ok() || !other.ok()) std::abort();
    catalog_ = std::move(catalog).value();
    other_ = std::move(other).value();
    if (!other_->Execute("PRAGMA synchronous = OFF").ok()) std::abort();
  }
  ~Lake() { std::filesystem::remove(path_); }

  void Fill(std::string_view rows) {
    std::string sql = "BEGIN; DELETE FROM iceberg_tables; ";
    std::string values[kColumns];
    for (int column = 0; !rows.empty();) {
      const size_t end = std::min(rows.find('\n'), rows.size());
      values[column++] = Literal(rows.substr(0, end));
      rows.remove_prefix(std::min(end + 1, rows.size()));
      if (column < kColumns) continue;
      column = 0;
      // The key takes no NULL: such a row is not there.
      sql += "INSERT OR IGNORE INTO iceberg_tables VALUES ('lake', " + values[0] + ", " + values[1] + ", " +
             values[2] + ", NULL, " + values[3] + "); ";
    }
    if (!other_->Execute(sql + "COMMIT").ok()) std::abort();
  }

  void Look() {
    const auto spaces = catalog_->ListNamespaces();
    if (!spaces.ok()) std::abort();
    for (const std::vector<std::string>& space : *spaces) {
      const auto tables = catalog_->ListTables(space);
      if (!tables.ok()) std::abort();
      for (const std::string& name : *tables) {
        const auto table = catalog_->LoadTable({space, name});
        if (table.ok() || table.status().message().empty()) std::abort();  // no file is there
      }
    }
  }

 private:
  ManualEnv env_{1, 1};
  MemoryFileSystem memory_;
  iceberg::TableFiles files_;
  std::string path_;
  std::unique_ptr<iceberg::SqliteCatalog> catalog_;
  std::unique_ptr<Sqlite> other_;
};

}  // namespace
}  // namespace caudal

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static caudal::Lake lake;
  lake.Fill({reinterpret_cast<const char*>(data), size});
  lake.Look();
  return 0;
}
