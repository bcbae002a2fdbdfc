// JdbcCommitter: makes an epoch's segments visible, in one transaction with the ledger.
//
// The ledger, caudal_ledger(query, sink, generation, number), lies beside the tables, so that one transaction
// holds both; its rows are told apart by the checkpoint's identity and the sink's id. A job that nothing goes
// on with keeps none. One thread; the connection is opened when it is first needed and again after an error.
#pragma once

#include <memory>
#include <span>

#include "api/connector.h"
#include "api/sink.h"
#include "connect/jdbc/jdbc_segment.h"
#include "connect/jdbc/jdbc_target.h"
#include "db/sqlite.h"

namespace caudal {

class JdbcCommitter : public SinkCommitter {
 public:
  // Makes the ledger and, if asked to, the table; refuses (User) a table that
  // rows do not fit.
  static Result<std::unique_ptr<SinkCommitter>> Make(JdbcTarget target, ConnectorContext context);

  Result<Epoch> LastCommitted() override;
  std::string ledger(std::span<const Committable>) const override {
    return context_.ephemeral ? "" : "table 'caudal_ledger' of '" + target_.path + "'";
  }
  CommitResult Commit(Epoch epoch, std::span<const Committable> committables) override;
  // Every segment of the sink: called when the manifest's epoch has been committed again.
  Status RemoveLeftovers() override;

 private:
  JdbcCommitter(JdbcTarget target, ConnectorContext context)
      : target_(std::move(target)), form_(JdbcSegmentForm(target_)), context_(std::move(context)) {}

  Status Connect();
  Status CommitInTransaction(Epoch epoch, std::span<const Committable> committables, bool* lost);
  Status WriteLedger(Epoch epoch);
  // User error when the database is no longer where it was opened.
  Status CheckInPlace() const;

  JdbcTarget target_;
  SegmentForm form_;
  ConnectorContext context_;
  std::unique_ptr<Sqlite> database_;
};

}  // namespace caudal
