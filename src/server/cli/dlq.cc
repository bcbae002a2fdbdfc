#include "server/cli/dlq.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "fs/file_system.h"
#include "server/cli/console/script_runner.h"
#include "server/program.h"

namespace caudal {
namespace {

bool HasColumn(const Table& table, std::string_view name) {
  return std::any_of(table.columns.begin(), table.columns.end(),
                     [&](const TableColumn& column) { return column.name == name; });
}

// Of the rows that may be kept aside; docs/settings.md says what each means.
constexpr std::string_view kClasses[] = {"malformed",    "contract",   "expression",
                                         "sink",         "late",       "out-of-order-file",
                                         "file-changed", "stray-file", "unreadable-file"};

std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  return quoted + "'";
}

Status CheckClass(const std::string& error_class) {
  if (error_class.empty() ||
      std::find(std::begin(kClasses), std::end(kClasses), error_class) != std::end(kClasses))
    return Status();
  return Status::User(fmt::format("--class: '{}' is no class of rows that are kept aside", error_class))
      .Hint(fmt::format("the classes are '{}'", fmt::join(kClasses, "', '")));
}

// Where the table keeps its rows, if that is not there because none was ever kept; else empty.
Result<std::string> MissingStore(const Table& table) {
  std::string path(table.option("path"));
  constexpr std::string_view kSqlite = "jdbc:sqlite:", kFile = "file://";
  if (table.option("url").starts_with(kSqlite)) path = table.option("url").substr(kSqlite.size());
  if (path.starts_with(kFile)) path.erase(0, kFile.size());
  if (path.empty()) return path;
  ASSIGN_OR_RETURN(const bool exists, FileSystem::Local()->Exists(path));
  return exists ? std::string() : path;
}

// Pipelines may share a table; empty for one that does not say whose its rows are.
std::string OfProgram(const Table& table, const Program& program) {
  if (!HasColumn(table, "query")) return "";
  return fmt::format("POSITION({} IN `query`) = 1", Quoted(program.text().name + "/"));
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
  Result<ProgramText> text = ReadProgram(command.program, command.profile);
  if (!text.ok()) return console.Fail(text.status(), RefusalCode(text.status()));
  const Result<std::unique_ptr<Program>> program = Program::Plan(std::move(text).value());
  if (!program.ok()) return console.Fail(program.status(), RefusalCode(program.status()));
  const Result<std::vector<Table>> tables = FindTables(**program);
  if (!tables.ok()) return console.Fail(tables.status(), RefusalCode(tables.status()));
  for (const Table& table : *tables) {
    const Result<std::string> missing = MissingStore(table);
    if (!missing.ok()) return console.Fail(missing.status(), RefusalCode(missing.status()));
    if (!missing->empty()) {
      console.Note(fmt::format("no row has been kept aside yet: '{}' is not there", *missing));
      continue;
    }
    const int code = Query(program->get(), make(table, OfProgram(table, **program)), console);
    if (code != static_cast<int>(ExitCode::kOk)) return code;
  }
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace

int ListDeadLetters(const DlqCommand& command, Console& console) {
  return Show(command, console, [](const Table& table, const std::string& ours) {
    const std::string where = ours.empty() ? "" : " WHERE " + ours;
    std::string by;  // two queries may share a table
    for (const char* column : {"query", "error_class"}) {
      if (HasColumn(table, column)) by += (by.empty() ? "" : ", ") + fmt::format("`{}`", column);
    }
    if (by.empty()) return fmt::format("SELECT COUNT(*) AS `rows` FROM `{}`{}", table.name, where);
    return fmt::format("SELECT {0}, COUNT(*) AS `rows` FROM `{1}`{2} GROUP BY {0} ORDER BY {0}", by,
                       table.name, where);
  });
}

int ShowDeadLetters(const DlqCommand& command, Console& console) {
  const Status known = CheckClass(command.error_class);
  if (!known.ok()) return console.Fail(known, ExitCode::kUsage);
  return Show(command, console, [&command](const Table& table, const std::string& ours) {
    std::string where = ours.empty() ? "" : " WHERE " + ours;
    if (!command.error_class.empty())
      where +=
          fmt::format("{}error_class = {}", where.empty() ? " WHERE " : " AND ", Quoted(command.error_class));
    return fmt::format("SELECT * FROM `{}`{} LIMIT {}", table.name, where, command.limit);
  });
}

}  // namespace caudal
