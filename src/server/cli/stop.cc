#include "server/cli/stop.h"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/env.h"
#include "db/sqlite.h"
#include "ops/ops_store.h"
#include "run/supervise/state_lock.h"
#include "server/cli/console/row_printer.h"
#include "server/row_text.h"

namespace caudal {
namespace {

using Json = nlohmann::ordered_json;

constexpr auto kPoll = std::chrono::milliseconds(50);

// The supervisor's process; User error if nothing runs.
Result<pid_t> FindRun(const std::string& state_root) {
  if (!StateLock::IsHeld(state_root))
    return Status::User(fmt::format("nothing runs on state folder '{}'", state_root));
  ASSIGN_OR_RETURN(const std::string text, StateLock::ReadDescription(state_root));
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("pid") || !json["pid"].is_number_integer()) {
    return Status::Data(fmt::format("'{}/run.json' is damaged", state_root));
  }
  return json["pid"].get<pid_t>();
}

Status Signal(const std::string& state_root, int number) {
  ASSIGN_OR_RETURN(const pid_t process, FindRun(state_root));
  if (kill(process, number) != 0)
    return Status::External(fmt::format("process {}: {}", process, std::strerror(errno)));
  return Status();
}

Json Cell(const SqliteStatement& statement, int column) {
  switch (statement.storage(column)) {
    case SqliteStatement::Storage::kNull:
      return nullptr;
    case SqliteStatement::Storage::kInteger:
      return statement.integer(column);
    case SqliteStatement::Storage::kReal:
      return statement.real(column);
    default:
      return std::string(statement.text(column));
  }
}

// Rows of a statement over the operations store, an object each.
Result<Json> ReadOps(Sqlite* database, std::string_view sql) {
  ASSIGN_OR_RETURN(SqliteStatement statement, database->Prepare(sql));
  Json rows = Json::array();
  while (true) {
    ASSIGN_OR_RETURN(const bool more, statement.Step());
    if (!more) return rows;
    Json row;
    for (int i = 0; i < statement.column_count(); ++i) row[statement.column_name(i)] = Cell(statement, i);
    rows.push_back(std::move(row));
  }
}

constexpr std::string_view kQueries =
    "SELECT q.query_id AS query, q.state, q.epoch, q.epochs_committed AS commits, "
    "CAST(coalesce(p.input_rps, 0) AS INTEGER) AS rows_per_s, p.watermark, p.backlog_files, "
    "p.freshness_p95_ms, "
    "q.error_text AS error FROM queries q LEFT JOIN streaming_progress p ON p.rowid = "
    "(SELECT max(rowid) FROM streaming_progress WHERE query_id = q.query_id) ORDER BY 1";
constexpr std::string_view kFates =
    "SELECT query_id AS query, sink, CASE name WHEN '' THEN fate ELSE fate || '{' || name || '}' END AS "
    "fate, "
    "sum(rows) AS rows FROM fates GROUP BY 1, 2, 3 ORDER BY 1, 2, 4 DESC";

// As a table; nothing for no rows.
std::string DrawObjects(const Json& rows) {
  if (rows.empty()) return "";
  std::vector<std::vector<std::string>> lines(1);
  for (const auto& [name, cell] : rows[0].items()) lines[0].push_back(name);
  for (const Json& row : rows) {
    std::vector<std::string>& line = lines.emplace_back();
    for (const Json& cell : row) {
      line.push_back(cell.is_null() ? "" : cell.is_string() ? cell.get<std::string>() : cell.dump());
    }
  }
  return DrawTable(lines);
}

}  // namespace

int Stop(const StopCommand& command, Console& console) {
  const Status signalled = Signal(command.state_root, command.drain ? SIGUSR1 : SIGTERM);
  if (!signalled.ok()) return console.Fail(signalled, RefusalCode(signalled));
  const int64_t start = Env::Real()->SteadyNanos();
  while (StateLock::IsHeld(command.state_root)) {
    const int64_t seconds = (Env::Real()->SteadyNanos() - start) / 1'000'000'000;
    if (seconds >= command.timeout_seconds) {
      const Status late =
          Status::External(fmt::format("it has not stopped within {} s", command.timeout_seconds));
      return console.Fail(late, ExitCode::kInternal);
    }
    console.Progress(fmt::format("stop: waiting for the last epoch, {} s", seconds));
    std::this_thread::sleep_for(kPoll);
  }
  console.Out(console.json ? "{\"stopped\": true}\n" : "stopped\n");
  return static_cast<int>(ExitCode::kOk);
}

int TriggerCheckpoint(const std::string& state_root, Console& console) {
  const Status signalled = Signal(state_root, SIGUSR2);
  if (!signalled.ok()) return console.Fail(signalled, RefusalCode(signalled));
  console.Out(console.json ? "{\"triggered\": true}\n" : "an epoch begins\n");
  return static_cast<int>(ExitCode::kOk);
}

int ShowStatus(const std::string& state_root, Console& console) {
  const Result<std::string> description = StateLock::ReadDescription(state_root);
  if (!description.ok()) return console.Fail(description.status(), RefusalCode(description.status()));
  const bool running = StateLock::IsHeld(state_root);
  Json queries = Json::array(), fates = Json::array();
  Result<std::unique_ptr<Sqlite>> store = Sqlite::Open(OpsStore::PathIn(state_root), Sqlite::Mode::kReadOnly);
  if (store.ok()) {
    Result<Json> rows = ReadOps(store->get(), kQueries);
    if (rows.ok()) queries = std::move(rows).value();
    rows = ReadOps(store->get(), kFates);
    if (rows.ok()) fates = std::move(rows).value();
  }
  if (console.json) {
    console.Out(Json{{"running", running},
                     {"run", Json::parse(*description, nullptr, false)},
                     {"queries", queries},
                     {"fates", fates}}
                    .dump() +
                "\n");
    return static_cast<int>(ExitCode::kOk);
  }
  console.Out(fmt::format("{} on {}\n", running ? "running" : "stopped", state_root));
  console.Out(DrawObjects(queries) + DrawObjects(fates));
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace caudal
