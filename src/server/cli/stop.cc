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
#include "fs/file_system.h"
#include "ops/ops_store.h"
#include "run/supervise/state_lock.h"
#include "server/cli/console/row_printer.h"
#include "server/row_text.h"

namespace caudal {
namespace {

using Json = nlohmann::ordered_json;

constexpr auto kPoll = std::chrono::milliseconds(50);
constexpr int64_t kToldNanos = 4'000'000'000;  // a run tells its store each second what runs

// The supervisor's process; User error if nothing runs.
Result<pid_t> FindRun(const std::string& state_root) {
  ASSIGN_OR_RETURN(const bool held, StateLock::IsHeld(state_root));
  if (!held) return Status::User(fmt::format("nothing runs on state folder '{}'", state_root));
  ASSIGN_OR_RETURN(const std::string text, StateLock::ReadDescription(state_root));
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("pid") || !json["pid"].is_number_integer()) {
    return Status::Data(fmt::format("'{}/run.json' is damaged", state_root));
  }
  return json["pid"].get<pid_t>();
}

Result<pid_t> Signal(const std::string& state_root, int number) {
  ASSIGN_OR_RETURN(const pid_t process, FindRun(state_root));
  if (kill(process, number) != 0)
    return Status::External(fmt::format("process {}: {}", process, std::strerror(errno)));
  return process;
}

// How the run of `process` has ended, which is no longer there.
int TellEnd(const std::string& state_root, pid_t process, Console& console) {
  const Result<std::string> text = StateLock::ReadDescription(state_root);
  if (!text.ok()) return console.Fail(text.status(), RefusalCode(text.status()));
  const Json json = Json::parse(*text, nullptr, false);
  const bool same = json.is_object() && json.value("pid", Json()) == Json(process);
  Json ended = json.is_object() ? Json{{"code", 0}} : Json::object();  // another has begun
  if (same) ended = json.value("ended", Json::object());
  const Json code = ended.value("code", Json());
  if (!code.is_number_integer()) {
    return console.Fail(Status::External("the run ended without a word, as one that is killed does")
                            .Hint("the next run goes on at its last epoch"),
                        ExitCode::kInternal);
  }
  if (code == 0) {
    console.Out(console.json ? "{\"stopped\": true}\n" : "stopped\n");
    return static_cast<int>(ExitCode::kOk);
  }
  const Json error = ended.value("error", Json());
  const std::string why = error.is_string() ? ": " + error.get<std::string>() : "";
  return console.Fail(Status::External(fmt::format("the run ended with code {}{}", code.dump(), why))
                          .Hint(fmt::format("what it did not commit is read again by the next run; "
                                            "caudal status --state '{}' tells of each query",
                                            state_root)),
                      static_cast<ExitCode>(code.get<int>()));
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
    "SELECT query_id AS query, state, epoch, epochs_committed AS commits, rows_read, "
    "CAST(rows_per_s AS INTEGER) AS rows_per_s, watermark, backlog_files, observed_at, "
    "(SELECT freshness_p95_ms FROM epochs e WHERE e.query_id = q.query_id AND freshness_p95_ms IS NOT NULL "
    "ORDER BY generation DESC, epoch DESC LIMIT 1) AS freshness_p95_ms, "
    "error_text AS error FROM queries q ORDER BY 1";
constexpr std::string_view kFates =
    "SELECT query_id AS query, sink, CASE name WHEN '' THEN fate ELSE fate || '{' || name || '}' END AS "
    "fate, "
    "sum(rows) AS rows FROM fates GROUP BY 1, 2, 3 ORDER BY 1, 2, 4 DESC";

// Of the run that `queries` tells of.
constexpr std::string_view kWarnings =
    "SELECT w.query_id AS query, w.operator, w.text AS warning FROM warnings w JOIN queries q ON "
    "q.query_id = w.query_id AND q.run_id = w.run_id ORDER BY 1, w.rowid";

// Of sources that can tell, those furthest behind first.
constexpr std::string_view kSplits =
    "SELECT query_id AS query, split, lag_rows, lag_seconds, durable_lag_rows, durable_lag_seconds, gaps, "
    "watermark, CASE WHEN holds THEN 'holds it' WHEN idle THEN 'idle' END AS watermark_state "
    "FROM splits WHERE lag_rows IS NOT NULL OR holds OR idle ORDER BY 1, durable_lag_rows DESC, 2";
constexpr size_t kMostSplits = 20;  // in the table for people
constexpr std::string_view kLosses =
    "SELECT query_id AS query, split, first_lost, last_lost, reason, found_at FROM losses ORDER BY 6 DESC, "
    "1, 2";

constexpr std::string_view kClients =
    "SELECT query_id AS query, operator, name AS client, value FROM clients ORDER BY 1, 2, 3";

struct StoreRows {
  Json queries = Json::array(), fates = Json::array(), splits = Json::array(), losses = Json::array(),
       warnings = Json::array(), clients = Json::array();
};

// Nothing for a store that is not there yet, or that lacks a table as one of before does.
Status ReadStore(const std::string& path, StoreRows* rows) {
  ASSIGN_OR_RETURN(const bool exists, FileSystem::Local()->Exists(path));
  if (!exists) return Status();
  ASSIGN_OR_RETURN(const std::unique_ptr<Sqlite> store, Sqlite::Open(path, Sqlite::Mode::kReadOnly));
  RETURN_IF_ERROR(OpsStore::CheckVersion(store.get()));
  for (const auto& [sql, into] :
       {std::pair(kQueries, &rows->queries), std::pair(kFates, &rows->fates),
        std::pair(kSplits, &rows->splits), std::pair(kLosses, &rows->losses),
        std::pair(kWarnings, &rows->warnings), std::pair(kClients, &rows->clients)}) {
    Result<Json> read = ReadOps(store.get(), sql);
    if (read.ok()) {
      *into = std::move(read).value();
    } else if (read.status().domain() != Domain::kUser) {
      return read.status();
    }
  }
  return Status();
}

// What the store holds is of the last moment that a run wrote it: one that was killed did not say goodbye.
void MarkInterrupted(Json* queries) {
  for (Json& query : *queries) {
    if (query["state"] != "running" && query["state"] != "stopping" && query["state"] != "waiting") continue;
    query["state"] = "interrupted";
    query["rows_per_s"] = 0;
  }
}

// Of a run that goes on: what it has not told of yet is being started, and what ended well earlier has ended.
void MarkWaiting(const Json& run, Json* queries) {
  const Json started = run.is_object() ? run.value("started", Json()) : Json();
  for (Json& query : *queries) {
    const bool told = !started.is_string() || !query["observed_at"].is_string() ||
                      query["observed_at"].get<std::string>() >= started.get<std::string>();
    if (told || query["state"] == "finished" || query["state"] == "drained") continue;
    query["state"] = "waiting";
    query["rows_per_s"] = 0;
    query["error"] = nullptr;
  }
}

// Takes whole errors out of a table's cells, which keep the first line.
std::string TakeErrors(Json* queries) {
  std::string errors;
  for (Json& query : *queries) {
    if (!query["error"].is_string()) continue;
    const std::string error = query["error"];
    const size_t line_end = error.find('\n');
    if (line_end == std::string::npos) continue;
    errors += fmt::format("query {}: {}\n", query["query"].get<std::string>(), error);
    query["error"] = error.substr(0, line_end) + " …";
  }
  return errors;
}

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

// Waits for the run to tell that a query runs, whose epoch can begin.
Status AwaitRunning(const std::string& state_root) {
  const int64_t start = Env::Real()->SteadyNanos();
  for (;;) {
    RETURN_IF_ERROR(FindRun(state_root).status());
    ASSIGN_OR_RETURN(const std::string run, StateLock::ReadDescription(state_root));
    StoreRows rows;
    RETURN_IF_ERROR(ReadStore(OpsStore::PathIn(state_root), &rows));
    MarkWaiting(Json::parse(run, nullptr, false), &rows.queries);
    for (const Json& query : rows.queries) {
      if (query["state"] == "running" || query["state"] == "stopping") return Status();
    }
    if (Env::Real()->SteadyNanos() - start >= kToldNanos) {
      return Status::External("no query runs, so that no epoch can begin")
          .Hint(fmt::format("caudal status --state '{}' tells what each waits for", state_root));
    }
    std::this_thread::sleep_for(kPoll);
  }
}

}  // namespace

int Stop(const StopCommand& command, Console& console) {
  const Result<pid_t> process = Signal(command.state_root, command.drain ? SIGUSR1 : SIGTERM);
  if (!process.ok()) return console.Fail(process.status(), RefusalCode(process.status()));
  const int64_t start = Env::Real()->SteadyNanos();
  for (;;) {
    const Result<bool> held = StateLock::IsHeld(command.state_root);
    if (!held.ok()) return console.Fail(held.status(), ExitCode::kInternal);
    if (!*held) break;
    const int64_t seconds = (Env::Real()->SteadyNanos() - start) / 1'000'000'000;
    if (seconds >= command.timeout_seconds) {
      const Status late =
          Status::External(fmt::format("it has not stopped within {} s", command.timeout_seconds));
      return console.Fail(late, ExitCode::kInternal);
    }
    console.Progress(fmt::format("stop: waiting for the last epoch, {} s", seconds));
    std::this_thread::sleep_for(kPoll);
  }
  return TellEnd(command.state_root, *process, console);
}

int TriggerCheckpoint(const std::string& state_root, Console& console) {
  Status signalled = AwaitRunning(state_root);
  if (signalled.ok()) signalled = Signal(state_root, SIGUSR2).status();
  if (!signalled.ok()) return console.Fail(signalled, RefusalCode(signalled));
  console.Out(console.json ? "{\"triggered\": true}\n" : "an epoch begins\n");
  return static_cast<int>(ExitCode::kOk);
}

int ShowStatus(const std::string& state_root, Console& console) {
  const Result<std::string> description = StateLock::ReadDescription(state_root);
  if (!description.ok()) return console.Fail(description.status(), RefusalCode(description.status()));
  const Result<bool> held = StateLock::IsHeld(state_root);
  if (!held.ok()) return console.Fail(held.status(), RefusalCode(held.status()));
  const bool running = *held;
  StoreRows rows;
  auto& [queries, fates, splits, losses, warnings, clients] = rows;
  const Status read = ReadStore(OpsStore::PathIn(state_root), &rows);
  if (!read.ok()) {
    console.Remark(fmt::format("status: the operations store cannot be read: {}", read.ToString()),
                   Json{{"warning", "the operations store cannot be read: " + read.message()}}.dump());
  }
  const Json run = Json::parse(*description, nullptr, false);
  running ? MarkWaiting(run, &queries) : MarkInterrupted(&queries);
  for (Json& query : queries) query.erase("observed_at");
  if (console.json) {
    console.Out(Json{{"running", running},
                     {"run", run},
                     {"queries", queries},
                     {"fates", fates},
                     {"splits", splits},
                     {"losses", losses},
                     {"warnings", warnings},
                     {"clients", clients}}
                    .dump() +
                "\n");
    return static_cast<int>(ExitCode::kOk);
  }
  console.Out(fmt::format("{} on {}\n", running ? "running" : "stopped", state_root));
  const std::string errors = TakeErrors(&queries);
  if (splits.size() > kMostSplits) {
    splits.erase(splits.begin() + kMostSplits, splits.end());
  }
  console.Out(DrawObjects(queries) + errors + DrawObjects(fates) + DrawObjects(splits) + DrawObjects(losses) +
              DrawObjects(clients) + DrawObjects(warnings));
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace caudal
