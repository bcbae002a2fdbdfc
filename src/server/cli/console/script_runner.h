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
  // `ends`: how a SELECT may end early.
  ScriptRunner(Console* console, Engine::SelectOptions ends) : console_(console), ends_(std::move(ends)) {}

  Status Run(const sql::Outcome& outcome);
  // What the error that Run gave last tells the shell.
  ExitCode CodeOf(const Status& status) const { return started_ ? FailureCode(status) : RefusalCode(status); }

 private:
  Status Run(const sql::StatementDone& done);
  Status Run(const sql::TextResult& result);
  Status Run(const sql::SelectQuery& query);
  Status Run(const sql::InsertQuery& query);
  void TellTrouble(const Status& trouble, std::string* told);
  Engine& engine();

  Console* console_;
  Engine::SelectOptions ends_;
  std::optional<Engine> engine_;
  bool started_ = false;  // the statement at hand was running
};

}  // namespace caudal
