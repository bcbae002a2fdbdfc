#include "server/cli/dlq.h"

#include <fmt/format.h>

#include <algorithm>

#include "server/cli/console/script_runner.h"
#include "server/program.h"

namespace caudal {
namespace {

bool HasColumn(const Table& table, std::string_view name) {
  return std::any_of(table.columns.begin(), table.columns.end(),
                     [&](const TableColumn& column) { return column.name == name; });
}

// The dead-letter tables of the program's queries, each once.
Result<std::vector<Table>> FindTables(const Program& program) {
  std::vector<Table> tables;
  for (const Plan& plan : program.Queries()) {
    if (!plan.dead_letter) continue;
    const Table& table = plan.dead_letter->table;
    const bool known = std::any_of(tables.begin(), tables.end(),
                                   [&](const Table& other) { return other.name == table.name; });
    if (!known) tables.push_back(table);
  }
  if (!tables.empty()) return tables;
  return Status::User(fmt::format("no query of '{}' has a dead-letter table", program.text().name))
      .Hint("name one in the source: 'caudal.errors' = 'dead-letter', 'caudal.dead-letter' = '<table>'");
}

int Query(Program* program, const std::string& select, Console& console) {
  sql::Session session(program->mutable_catalog());
  const Result<std::vector<sql::Outcome>> outcomes = session.Execute(select);
  if (!outcomes.ok()) return console.Fail(outcomes.status(), RefusalCode(outcomes.status()));
  ScriptRunner runner(&console, {});
  for (const sql::Outcome& outcome : *outcomes) {
    const Status status = runner.Run(outcome);
    if (!status.ok()) return console.Fail(status, runner.CodeOf(status));
  }
  return static_cast<int>(ExitCode::kOk);
}

// Runs the SELECT that `make` gives for each dead-letter table.
template <typename Make>
int Show(const DlqCommand& command, Console& console, Make make) {
  Result<ProgramText> text = ReadProgram(command.program);
  if (!text.ok()) return console.Fail(text.status(), RefusalCode(text.status()));
  const Result<std::unique_ptr<Program>> program = Program::Plan(std::move(text).value());
  if (!program.ok()) return console.Fail(program.status(), RefusalCode(program.status()));
  const Result<std::vector<Table>> tables = FindTables(**program);
  if (!tables.ok()) return console.Fail(tables.status(), RefusalCode(tables.status()));
  for (const Table& table : *tables) {
    const int code = Query(program->get(), make(table), console);
    if (code != static_cast<int>(ExitCode::kOk)) return code;
  }
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace

int ListDeadLetters(const DlqCommand& command, Console& console) {
  return Show(command, console, [](const Table& table) {
    std::string by;  // two queries may share a table
    for (const char* column : {"query", "error_class"}) {
      if (HasColumn(table, column)) by += (by.empty() ? "" : ", ") + fmt::format("`{}`", column);
    }
    if (by.empty()) return fmt::format("SELECT COUNT(*) AS `rows` FROM `{}`", table.name);
    return fmt::format("SELECT {0}, COUNT(*) AS `rows` FROM `{1}` GROUP BY {0} ORDER BY {0}", by, table.name);
  });
}

int ShowDeadLetters(const DlqCommand& command, Console& console) {
  return Show(command, console, [&command](const Table& table) {
    std::string where;
    if (!command.error_class.empty()) {
      std::string quoted;
      for (const char c : command.error_class) quoted += c == '\'' ? std::string("''") : std::string(1, c);
      where = fmt::format(" WHERE error_class = '{}'", quoted);
    }
    return fmt::format("SELECT * FROM `{}`{} LIMIT {}", table.name, where, command.limit);
  });
}

}  // namespace caudal
