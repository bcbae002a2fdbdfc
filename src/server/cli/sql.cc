#include "server/cli/sql.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

#include "api/connector.h"
#include "fs/file_system.h"
#include "server/cli/console/script_runner.h"
#include "server/cli/usage/duration_argument.h"
#include "server/connectors.h"
#include "server/ops_tables.h"
#include "server/path_tables.h"
#include "server/program_files.h"
#include "server/state_place.h"
#include "sql/session.h"

namespace caudal {
namespace {

std::string ReadStandardInput() {
  std::string text;
  char bytes[65536];
  for (size_t count; (count = std::fread(bytes, 1, sizeof(bytes), stdin)) > 0;) text.append(bytes, count);
  return text;
}

Result<std::string> ReadScript(const std::string& statement) {
  if (statement == "-" || statement.empty()) return ReadStandardInput();
  std::error_code error;
  const bool one_word = statement.find_first_of(" \n\t") == std::string::npos;
  if (statement.ends_with(".sql") && (one_word || std::filesystem::exists(statement, error))) {
    if (!std::filesystem::exists(statement, error))
      return Status::User(fmt::format("there is no file '{}'", statement));
    return FileSystem::Local()->ReadAll(statement);
  }
  return statement;
}

// Ctrl-C ends a SELECT and shows what it has; a second one ends the program.
volatile std::sig_atomic_t interrupted = 0;

void CatchInterrupt() {
  struct sigaction action = {};
  action.sa_handler = [](int) { interrupted = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
}

}  // namespace

int RunSql(const SqlCommand& command, Console& console) {
  Engine::SelectOptions ends;
  ends.should_stop = [] { return interrupted != 0; };
  if (!command.deadline.empty()) {
    const Result<int64_t> deadline = ParseDurationArgument(command.deadline, "--deadline");
    if (!deadline.ok()) return console.Fail(deadline.status(), ExitCode::kUsage);
    ends.deadline_millis = std::max<int64_t>(*deadline, 1);
  }
  if (command.statement.empty() && isatty(STDIN_FILENO) != 0) {
    return console.Fail(Status::User("there is no statement").Hint("caudal sql \"SELECT …\""),
                        ExitCode::kUsage);
  }
  const Result<std::string> script = ReadScript(command.statement);
  if (!script.ok()) return console.Fail(script.status(), RefusalCode(script.status()));
  Catalog catalog(UserConnectors());
  catalog.SetSurroundings(ProgramFiles(), Env::Real());
  Status status = command.ops.empty() ? Status() : AddOpsTables(LocalStateFolder(command.ops), &catalog);
  std::vector<MixedColumn> mixed;
  if (status.ok()) status = AddPathTables(*script, ProgramFiles(), &catalog, &mixed);
  if (!status.ok()) return console.Fail(status, RefusalCode(status));
  sql::Session session(&catalog);
  CatchInterrupt();
  ScriptRunner runner(&console, std::move(ends));
  Status failed;  // of running
  std::vector<sql::Outcome> waiting;
  const auto run_waiting = [&] {
    for (const sql::Outcome& outcome : std::exchange(waiting, {})) {
      failed = runner.Run(outcome);
      if (!failed.ok()) return failed;
    }
    return Status();
  };
  // Nothing runs before the whole script is known to be right, unless it changes what is outside, which the
  // next statement must find changed.
  status = session.ExecuteEach(*script, "", [&](sql::Outcome outcome) {
    waiting.push_back(std::move(outcome));
    return catalog.externals().Names().empty() ? Status() : run_waiting();
  });
  if (status.ok()) status = run_waiting();
  if (!failed.ok()) return console.Fail(failed, runner.CodeOf(failed));
  if (!status.ok()) {
    const Status explained = ExplainTypes(status, mixed);
    return console.Fail(explained, RefusalCode(explained));
  }
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace caudal
