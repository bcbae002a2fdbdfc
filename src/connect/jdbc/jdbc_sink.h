// JdbcSink: rows into a database table, exactly once: upserts and deletes by primary key, or plain inserts.
//
// The epoch's folded rows become a segment file of the checkpoint (Prepare); Commit applies them in one
// transaction with a row of the ledger table, and does nothing when the ledger is at or past the epoch.
#pragma once

#include "api/connector.h"
#include "api/sink.h"
#include "connect/jdbc/jdbc_target.h"

namespace caudal {

class JdbcSink : public Sink {
 public:
  JdbcSink(JdbcTarget target, ConnectorContext context)
      : target_(std::move(target)), context_(std::move(context)) {}

  ChangelogKinds accepts() const override {
    return target_.key.empty() ? ChangelogKinds::InsertOnly() : ChangelogKinds::Upsert();
  }
  std::string_view guarantee() const override { return "exactly once"; }
  Status CheckTarget() const override;
  Result<std::unique_ptr<SinkWriter>> MakeWriter(int task) override;
  Result<std::unique_ptr<SinkCommitter>> MakeCommitter() override;

 private:
  JdbcTarget target_;
  ConnectorContext context_;
};

}  // namespace caudal
