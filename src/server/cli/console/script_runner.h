// ScriptRunner: runs what a script asks for, statement by statement, and prints what it gives.
//
// One a command, one thread; the engine is made when the first query needs it.
#pragma once

#include <optional>

#include "server/cli/console/console.h"
#include "server/engine.h"
#include "sql/session.h"

namespace caudal {

class ScriptRunner {
 public:
  explicit ScriptRunner(Console* console) : console_(console) {}

  Status Run(const sql::Outcome& outcome);
  // What the error that Run gave last tells the shell.
  ExitCode CodeOf(const Status& status) const { return started_ ? FailureCode(status) : RefusalCode(status); }

 private:
  Status Run(const sql::StatementDone& done);
  Status Run(const sql::TextResult& result);
  Status Run(const sql::SelectQuery& query);
  Status Run(const sql::InsertQuery& query);
  Engine& engine();

  Console* console_;
  std::optional<Engine> engine_;
  bool started_ = false;  // the statement at hand was running
};

}  // namespace caudal
