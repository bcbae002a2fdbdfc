// JdbcSource: the rows of a database table, once: a bounded source of one split.
//
// Read in the order of rowids, or of the primary key where there are none, so that a position ("after rowid
// 4711") resumes exactly though the table grew; a view is read in its own order, and a position counts rows.
// What is no value of its column is a rejected record. A reader opens the table and reads it on a thread of
// its own, so what is wrong with the table shows in Next.
#pragma once

#include "api/connector.h"
#include "api/source.h"
#include "connect/jdbc/jdbc_target.h"

namespace caudal {

class JdbcSource : public Source {
 public:
  JdbcSource(JdbcTarget target, ReadRequest request, std::vector<std::string> names)
      : target_(std::move(target)), request_(std::move(request)), names_(std::move(names)) {}

  bool bounded() const override { return true; }
  std::unique_ptr<SplitEnumerator> MakeEnumerator() override;
  Result<std::unique_ptr<SplitReader>> Open(const Split& split, const Position& position) override;

 private:
  JdbcTarget target_;
  ReadRequest request_;
  std::vector<std::string> names_;  // of the columns read, by place in request_.schema
};

}  // namespace caudal
