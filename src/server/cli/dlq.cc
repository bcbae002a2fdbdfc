#include "server/cli/dlq.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/env.h"
#include "data/text/time_text.h"
#include "fs/file_system.h"
#include "run/plan_tables.h"
#include "server/cli/console/row_printer.h"
#include "server/cli/console/script_runner.h"
#include "server/cli/dead_letters/letter_report.h"
#include "server/cli/dead_letters/letter_store.h"
#include "server/cli/dead_letters/topic_letters.h"
#include "server/program.h"
#include "server/program_files.h"

namespace caudal {
namespace {

bool HasColumn(const Table& table, std::string_view name) {
  return std::any_of(table.columns.begin(), table.columns.end(),
                     [&](const TableColumn& column) { return column.name == name; });
}

// Of the rows that may be kept aside; docs/settings.md says what each means.
constexpr std::string_view kClasses[] = {"malformed",  "tombstone",      "contract",          "expression",
                                         "sink",       "late",           "out-of-order-file", "file-changed",
                                         "stray-file", "unreadable-file"};

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

bool IsTopic(const Table& table) { return table.option("connector") == "kafka"; }

// What the table keeps its rows in, as it is told, if that is not there because none was ever kept; else
// empty.
Result<std::string> MissingStore(const Table& table) {
  if (IsTopic(table)) return TopicLetters::MissingTopic(table);
  std::string path(table.option("path"));
  constexpr std::string_view kSqlite = "jdbc:sqlite:", kFile = "file://";
  if (table.option("url").starts_with(kSqlite)) path = table.option("url").substr(kSqlite.size());
  if (path.starts_with(kFile)) path.erase(0, kFile.size());
  if (path.empty()) return path;
  ASSIGN_OR_RETURN(const Table revealed, Revealed(table));
  ASSIGN_OR_RETURN(FileSystem* const files, FilesOfTable(revealed));
  ASSIGN_OR_RETURN(const bool exists, files->Exists(path));
  return exists ? std::string() : fmt::format("'{}'", path);
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

// What `each` gives for each dead-letter table that is there.
template <typename Each>
int ForEachTable(const DlqCommand& command, Console& console, Each each) {
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
      console.Note(fmt::format("no row has been kept aside yet: {} is not there", *missing));
      continue;
    }
    const int code = each(program->get(), table);
    if (code != static_cast<int>(ExitCode::kOk)) return code;
  }
  return static_cast<int>(ExitCode::kOk);
}

int64_t NowMillis() { return Env::Real()->NowMillis(); }

// The selection with its times read. User error for what no letter can have.
Result<LetterSelection> SelectionOf(const DlqCommand& command) {
  LetterSelection selection = command.selection;
  RETURN_IF_ERROR(CheckClass(selection.error_class));
  for (const auto& [option, text, millis] :
       {std::tuple("--since", &command.since, &selection.since_millis),
        std::tuple("--until", &command.until, &selection.until_millis)}) {
    if (text->empty()) continue;
    int64_t ticks = 0;
    if (!ParseTimestamp(*text, 3, &ticks)) {
      return Status::User(fmt::format("{}: '{}' is no time", option, *text))
          .Hint("write it in UTC, as in '2026-03-01 12:00:00'");
    }
    *millis = ticks / (TicksPerSecond(3) / 1000);
  }
  return selection;
}

Status Print(const Result<LetterLines>& lines, Console* console) {
  RETURN_IF_ERROR(lines.status());
  ASSIGN_OR_RETURN(RowText text, RowText::Make(lines->schema, {}));
  RowPrinter printer(std::move(text), /*changes=*/false, console);
  if (!lines->rows.empty()) RETURN_IF_ERROR(printer.Add(lines->rows));
  printer.Finish();
  return Status();
}

void TellHandled(const HandledLetters& handled, Mark::What what, bool dry, Console* console) {
  if (console->json) {
    const nlohmann::ordered_json json = {
        {"letters", handled.letters},
        {dry ? fmt::format("would_be_{}", MarkName(what)) : MarkName(what), handled.records},
        {"replayed_before", handled.replayed},
        {"discarded_before", handled.discarded}};
    console->Out(json.dump() + "\n");
    return;
  }
  std::string line = fmt::format("{} dead letters: {} records {}{}", GroupDigits(handled.letters),
                                 GroupDigits(handled.records), dry ? "would be " : "", MarkName(what));
  if (handled.replayed > 0)
    line += fmt::format(", {} had been replayed before", GroupDigits(handled.replayed));
  if (handled.discarded > 0)
    line += fmt::format(", {} had been discarded before", GroupDigits(handled.discarded));
  if (handled.letters == 0) line = "no dead letter is so";
  console->Out(line + "\n");
}

// Runs `report` over the letters of each table.
int Report(const DlqCommand& command, Console& console,
           const std::function<Status(LetterStore*, const LetterSelection&)>& report) {
  const Result<LetterSelection> selection = SelectionOf(command);
  if (!selection.ok()) return console.Fail(selection.status(), ExitCode::kUsage);
  return ForEachTable(command, console, [&](Program* program, const Table& table) {
    const Result<std::unique_ptr<LetterStore>> store = LetterStore::Open(program, table);
    if (!store.ok()) return console.Fail(store.status(), RefusalCode(store.status()));
    const Status status = report(store->get(), *selection);
    return status.ok() ? static_cast<int>(ExitCode::kOk) : console.Fail(status, RefusalCode(status));
  });
}

int Handle(const DlqCommand& command, Mark mark, Console& console) {
  const bool all = command.selection.empty() && command.since.empty() && command.until.empty();
  if (all != command.all) {
    return console.Fail(
        Status::User(all ? "which dead letters?" : "--all and a selection are not both possible")
            .Hint("select by --class, --query, --topic, --partition, --from-offset, --to-offset, --since and "
                  "--until, "
                  "or take --all"),
        ExitCode::kUsage);
  }
  mark.at_millis = NowMillis();
  return Report(command, console, [&](LetterStore* store, const LetterSelection& selection) -> Status {
    ASSIGN_OR_RETURN(const HandledLetters handled, store->Handle(selection, mark, command.dry));
    TellHandled(handled, mark.what, command.dry, &console);
    return Status();
  });
}

}  // namespace

int ListDeadLetters(const DlqCommand& command, Console& console) {
  return ForEachTable(command, console, [&](Program* program, const Table& table) {
    if (IsTopic(table)) {
      const Result<std::unique_ptr<LetterStore>> store = LetterStore::Open(program, table);
      if (!store.ok()) return console.Fail(store.status(), RefusalCode(store.status()));
      const Status status = Print(ListLetters(store->get()), &console);
      return status.ok() ? static_cast<int>(ExitCode::kOk) : console.Fail(status, RefusalCode(status));
    }
    const std::string ours = OfProgram(table, *program);
    const std::string where = ours.empty() ? "" : " WHERE " + ours;
    std::string by;  // two queries may share a table
    for (const char* column : {"query", "error_class"}) {
      if (HasColumn(table, column)) by += (by.empty() ? "" : ", ") + fmt::format("`{}`", column);
    }
    const std::string counts =
        by.empty() ? fmt::format("SELECT COUNT(*) AS `rows` FROM `{}`{}", table.name, where)
                   : fmt::format("SELECT {0}, COUNT(*) AS `rows` FROM `{1}`{2} GROUP BY {0} ORDER BY {0}", by,
                                 table.name, where);
    return Query(program, counts, console);
  });
}

int ShowDeadLetters(const DlqCommand& command, Console& console) {
  const Result<LetterSelection> selection = SelectionOf(command);
  if (!selection.ok()) return console.Fail(selection.status(), ExitCode::kUsage);
  LetterSelection others = *selection;
  others.error_class.clear();
  return ForEachTable(command, console, [&](Program* program, const Table& table) {
    if (IsTopic(table) || !others.empty()) {
      const Result<std::unique_ptr<LetterStore>> store = LetterStore::Open(program, table);
      if (!store.ok()) return console.Fail(store.status(), RefusalCode(store.status()));
      const Status status = Print(ShowLetters(store->get(), *selection, command.limit), &console);
      return status.ok() ? static_cast<int>(ExitCode::kOk) : console.Fail(status, RefusalCode(status));
    }
    std::string where = OfProgram(table, *program);
    if (!selection->error_class.empty())
      where +=
          fmt::format("{}error_class = {}", where.empty() ? "" : " AND ", Quoted(selection->error_class));
    return Query(program,
                 fmt::format("SELECT * FROM `{}`{} LIMIT {}", table.name,
                             where.empty() ? "" : " WHERE " + where, command.limit),
                 console);
  });
}

int CountDeadLetters(const DlqCommand& command, Console& console) {
  return Report(command, console, [&](LetterStore* store, const LetterSelection& selection) {
    return Print(CountLetters(store, selection, command.by), &console);
  });
}

int ReplayDeadLetters(const DlqCommand& command, Console& console) {
  return Handle(command, {.what = Mark::What::kReplayed, .reason = command.reason}, console);
}

int DiscardDeadLetters(const DlqCommand& command, Console& console) {
  if (command.reason.find_first_not_of(" \t\n\r") == std::string::npos) {
    return console.Fail(
        Status::User("--reason is empty")
            .Hint("say why nothing is to be done: whoever finds the note later asks just that"),
        ExitCode::kUsage);
  }
  return Handle(command, {.what = Mark::What::kDiscarded, .reason = command.reason}, console);
}

}  // namespace caudal
