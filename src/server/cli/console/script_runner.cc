#include "server/cli/console/script_runner.h"

#include <fmt/format.h>

#include "server/cli/console/row_printer.h"
#include "server/cli/console/skipped_rows.h"
#include "server/row_text.h"

namespace caudal {
namespace {

constexpr std::string_view kNullText = "<NULL>";  // of a TextResult

}  // namespace

Status ScriptRunner::Run(const sql::Outcome& outcome) {
  started_ = false;
  return std::visit([this](const auto& one) { return Run(one); }, outcome);
}

Engine& ScriptRunner::engine() {
  if (!engine_) engine_.emplace(Engine::Options{});
  return *engine_;
}

Status ScriptRunner::Run(const sql::StatementDone& done) {
  if (console_->json) {
    console_->Out(fmt::format("{{\"message\": {}}}\n", JsonQuoted(done.message)));
  } else {
    console_->Note(done.message);
  }
  return Status();
}

Status ScriptRunner::Run(const sql::TextResult& result) {
  if (console_->json) {
    for (const auto& row : result.rows) {
      std::string line;
      for (size_t i = 0; i < row.size(); ++i) {
        line += fmt::format("{}{}: {}", i == 0 ? "" : ", ", JsonQuoted(result.columns[i]),
                            row[i] == kNullText ? "null" : JsonQuoted(row[i]));
      }
      console_->Out("{" + line + "}\n");
    }
  } else if (result.columns.size() == 1) {
    for (const auto& row : result.rows) console_->Out(row[0] + "\n");  // EXPLAIN: a text, not a table
  } else {
    std::vector<std::vector<std::string>> rows = {result.columns};
    rows.insert(rows.end(), result.rows.begin(), result.rows.end());
    console_->Out(DrawTable(rows));
  }
  return Status();
}

Status ScriptRunner::Run(const sql::SelectQuery& query) {
  const PlanNode& last = query.plan.nodes.back();
  ASSIGN_OR_RETURN(RowText text,
                   RowText::Make(ResultTable(last.schema).schema(), EvaluatorOptionsOf(query.plan.settings)));
  RowPrinter printer(std::move(text), !last.kinds.insert_only(), console_);
  Engine::SelectOptions ends = ends_;
  if (!query.plan.batch) ends.on_second = [&printer] { printer.Flush(); };
  std::string told;
  ends.on_trouble = [&](const Status& trouble) { TellTrouble(trouble, &told); };
  ASSIGN_OR_RETURN(
      const JobProgress progress,
      engine().Select(
          query.plan, [&printer](const Chunk& chunk) { return printer.Add(chunk); }, ends, &started_));
  printer.Finish();
  return TellSkipped(query.plan, progress, console_);
}

// Once, when it begins, changes and ends. `told`: what was told last.
void ScriptRunner::TellTrouble(const Status& trouble, std::string* told) {
  if (trouble.ok() && !told->empty()) console_->Note("it goes on");
  if (!trouble.ok() && trouble.message() != *told)
    console_->Note("it waits and tries again: " + trouble.ToString());
  *told = trouble.ok() ? "" : trouble.message();
}

Status ScriptRunner::Run(const sql::InsertQuery& query) {
  std::string told;
  const auto tell = [&](const Status& trouble) { TellTrouble(trouble, &told); };
  ASSIGN_OR_RETURN(const JobProgress progress,
                   engine().Insert(query.plan, {ends_.should_stop, tell}, &started_));
  for (const OperatorProgress& node : progress.operators) {
    if (node.label != "Sink" || node.rows_in.empty()) continue;
    if (console_->json) {
      console_->Out(fmt::format("{{\"sink\": {}, \"rows\": {}}}\n", JsonQuoted(node.id), node.rows_in[0]));
    } else {
      console_->Note(fmt::format("{}: {} rows", node.id, GroupDigits(node.rows_in[0])));
    }
  }
  return TellSkipped(query.plan, progress, console_);
}

}  // namespace caudal
