// RestCatalog: a catalog behind Iceberg's REST protocol. The service keeps and writes the metadata; data
// files and manifests are the client's.
//
// Used by one thread at a time; blocks. A commit that the service answers with 409 is refused; one whose
// answer is lost, late, or any error of the service itself (5xx) is unknown: it may be done, now or later.
#pragma once

#include <string>
#include <vector>

#include "iceberg/catalog/catalog.h"
#include "iceberg/rest/rest_session.h"

namespace caudal::iceberg {

class RestCatalog : public Catalog {
 public:
  RestCatalog(RestOptions options, Env* env) : session_(std::move(options), env) {}

  Status CreateNamespace(const std::vector<std::string>& space) override;
  Result<std::vector<std::vector<std::string>>> ListNamespaces() override;
  Result<std::vector<std::string>> ListTables(const std::vector<std::string>& space) override;
  Result<LoadedTable> CreateTable(const TableName& name, const NewTable& table) override;
  Result<LoadedTable> LoadTable(const TableName& name) override;
  Status DropTable(const TableName& name) override;
  Status DropNamespace(const std::vector<std::string>& space) override;
  Status RenameTable(const TableName& name, const TableName& to) override;
  CommitAnswer Commit(const TableName& name, const TableCommit& commit) override;
  // What the service lets this client do with the table's files; it may be nothing.
  Result<TableGrant> AskForGrant(const TableName& name);

 private:
  // A namespace and a table as they stand in a path, the levels divided as the service wants it.
  Result<std::string> SpacePath(const std::vector<std::string>& space);
  Result<std::string> TablePath(const TableName& name);
  Status AddNamespaces(const std::vector<std::string>& parent, std::vector<std::vector<std::string>>* found);
  // Every page of a list: the items of `member`.
  Result<Json> GetAll(const std::string& path, const char* member);
  // Of a request that changes something and may be said again: OK if it is so now.
  Status ChangeOnce(const std::string& method, const std::string& path, const std::string& body,
                    int fine = 0);

  RestSession session_;
};

// The body of a commit.
std::string CommitBody(const TableName& name, const TableCommit& commit);

}  // namespace caudal::iceberg
