// Session: turns SQL text into what is to be done: changes of the catalog, texts to show, plans to run.
//
// The one entrance to sql/ for server/ and drill/. It owns nothing that runs: a Plan is handed to run/ by the
// caller. One thread. The catalog outlives the session.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/catalog.h"
#include "api/plan.h"
#include "base/status.h"

namespace caudal::sql {

struct StatementDone {
  std::string message;  // "table 'clicks' created"
};
// SHOW, DESCRIBE, EXPLAIN: a small result of texts.
struct TextResult {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};
// A bare SELECT: the plan's one Sink node is missing; its last node's rows are the result. Batch unless
// 'execution.runtime-mode' was SET to 'streaming'.
struct SelectQuery {
  Plan plan;
};
// INSERT INTO, or EXECUTE STATEMENT SET: one query with one or more Sink nodes.
struct InsertQuery {
  Plan plan;
};
using Outcome = std::variant<StatementDone, TextResult, SelectQuery, InsertQuery>;

class Session {
 public:
  explicit Session(Catalog* catalog) : catalog_(catalog) {}

  // Executes the statements of a script in order, up to the first that fails; messages have line and column
  // in `script` and show the line with a caret.
  Result<std::vector<Outcome>> Execute(std::string_view script, std::string file = "");
  // The same, but each outcome is handed over before the next statement is looked at, which may depend on
  // what became of it; an error of `take` ends the script.
  using TakeOutcome = std::function<Status(Outcome)>;
  Status ExecuteEach(std::string_view script, std::string file, const TakeOutcome& take);

 private:
  Catalog* catalog_;
};

}  // namespace caudal::sql
