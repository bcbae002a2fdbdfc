// Between: a catalog between its users and a SmallTable's, which counts commits, lets others in before one,
// and loses answers.
//
// Owned by its test; one thread. The table outlives it.
#pragma once

#include <functional>

#include "iceberg/testing/small_table.h"

namespace caudal::iceberg {

class Between : public Catalog {
 public:
  explicit Between(SmallTable* small) : small_(small) {}
  Status CreateNamespace(const std::vector<std::string>&) override { return {}; }
  Result<std::vector<std::vector<std::string>>> ListNamespaces() override {
    return std::vector<std::vector<std::string>>();
  }
  Result<std::vector<std::string>> ListTables(const std::vector<std::string>&) override {
    return std::vector<std::string>();
  }
  Result<LoadedTable> CreateTable(const TableName&, const NewTable&) override { return Status::User("no"); }
  Status DropTable(const TableName&) override { return {}; }
  Result<LoadedTable> LoadTable(const TableName& name) override { return small_->catalog_->LoadTable(name); }
  CommitAnswer Commit(const TableName& name, const TableCommit& commit) override {
    ++commits;
    if (before) before();
    CommitAnswer answer = small_->catalog_->Commit(name, commit);
    if (!loses) return answer;
    return {CommitOutcome::kUnknown, Status::External("connection reset", Retry::kBackoff), {}};
  }

  int commits = 0;
  bool loses = false;
  std::function<void()> before;

 private:
  SmallTable* small_;
};

}  // namespace caudal::iceberg
