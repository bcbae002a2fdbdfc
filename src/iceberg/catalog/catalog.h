// Catalog: which tables there are, where the newest metadata of each is, and the one swap that is a commit.
//
// Used by one thread at a time; blocks. Everything else about tables is in their files.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "iceberg/catalog/table_update.h"
#include "iceberg/metadata/table_metadata.h"

namespace caudal::iceberg {

struct TableName {
  std::vector<std::string> space;  // the namespace, at least one level
  std::string name;
  // "a.b.t"
  std::string ToString() const;
};

struct LoadedTable {
  std::string metadata_location;  // as the catalog has it
  TableMetadata metadata;
};

struct NewTable {
  int format_version = 2;
  Schema schema;
  PartitionSpec spec;
  std::string location;  // empty: the catalog's own choice
  std::map<std::string, std::string> properties;
};

// How a commit went. The three are handled in three ways, for ever: what is not certain is never a refusal.
enum class CommitOutcome {
  kDone,     // `table` is the table now
  kRefused,  // definitely not done, `status` says why (its retry: whether trying again can help)
  kUnknown,  // it may be done, now or later; nothing that it wrote may be removed
};

struct CommitAnswer {
  CommitOutcome outcome = CommitOutcome::kUnknown;
  Status status;  // OK if done
  LoadedTable table;
};

class Catalog {
 public:
  virtual ~Catalog() = default;

  // OK if it is there already.
  virtual Status CreateNamespace(const std::vector<std::string>& space) = 0;
  virtual Result<std::vector<std::vector<std::string>>> ListNamespaces() = 0;
  virtual Result<std::vector<std::string>> ListTables(const std::vector<std::string>& space) = 0;

  // User error if the namespace is not there, or the table is.
  virtual Result<LoadedTable> CreateTable(const TableName& name, const NewTable& table) = 0;
  // User error if there is no such table; the hint names one that differs by case alone.
  virtual Result<LoadedTable> LoadTable(const TableName& name) = 0;
  // User error if there is no such table. Its files stay.
  virtual Status DropTable(const TableName& name) = 0;
  // User error if there is no such namespace, or anything in it; if the table is not there, or another of the
  // new name is; or if this catalog has no way to do it.
  virtual Status DropNamespace(const std::vector<std::string>& space);
  virtual Status RenameTable(const TableName& name, const TableName& to);
  virtual CommitAnswer Commit(const TableName& name, const TableCommit& commit) = 0;
};

}  // namespace caudal::iceberg
