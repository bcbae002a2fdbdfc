#include "server/cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <sstream>

#include "server/cli/checkpoint.h"
#include "server/cli/console/last_words.h"
#include "server/cli/digest.h"
#include "server/cli/dlq.h"
#include "server/cli/explain.h"
#include "server/cli/functions.h"
#include "server/cli/generate.h"
#include "server/cli/lake/table_commands.h"
#include "server/cli/rebuild/rebuild_command.h"
#include "server/cli/run.h"
#include "server/cli/sql.h"
#include "server/cli/stop.h"
#include "server/cli/usage/command.h"
#include "server/cli/usage/usage_error.h"
#include "server/cli/validate.h"
#include "server/cli/version.h"
#include "server/state_place.h"

namespace caudal {
namespace {

void AddDigest(CLI::App& app, Action* action) {
  CLI::App* digest =
      AddCommand(app, "digest", "Fingerprint of the lines on standard input, whatever their order.",
                 "  caudal sql 'SELECT transaction_id FROM `neobank-data/silver`' | caudal digest --header");
  auto header = std::make_shared<bool>(false);
  digest->add_flag("--header", *header, "leave the first line out");
  digest->callback(
      [header, action] { *action = [header](Console& console) { return PrintDigest(*header, console); }; });
}

void AddVersion(CLI::App& app, Action* action) {
  AddCommand(app, "version", "Print the version.", "  caudal version\n  caudal version --json")
      ->callback([action] { *action = PrintVersion; });
}

// `caudal help sql` is `caudal sql --help`, as people try it.
void AddHelp(CLI::App& app, Action* action) {
  CLI::App* help =
      AddCommand(app, "help", "Show how a command is used.", "  caudal help\n  caudal help checkpoint diff");
  auto words = std::make_shared<std::vector<std::string>>();
  help->add_option("command", *words, "whose help; none = all commands");
  help->callback([words, action, &app] {
    *action = [words, &app](Console& console) {
      const CLI::App* command = &app;
      std::string name = app.get_name();
      for (const std::string& word : *words) {
        const auto named =
            command->get_subcommands([&word](const CLI::App* one) { return one->get_name() == word; });
        command = named.empty() ? nullptr : named.front();
        name += " " + word;
        if (command != nullptr) continue;
        return console.Fail(Status::User(fmt::format("there is no command '{}'", fmt::join(*words, " ")))
                                .Hint("caudal --help lists them"),
                            ExitCode::kUsage);
      }
      // App::help would show the help of `help`, the command that was given.
      console.Out(app.get_formatter()->make_help(command, name, CLI::AppFormatMode::Normal));
      return static_cast<int>(ExitCode::kOk);
    };
  });
}

void AddGenerate(CLI::App& app, Action* action) {
  CLI::App* generate =
      AddCommand(app, "generate", "Send a demo stream and tell what must become of it.",
                 "  caudal generate neobank --events 1M --out data/in --expected data/expected.json\n"
                 "  caudal generate neobank --events 600k --rate 20000 --seed 7 --out data/in\n"
                 "  caudal generate neobank --events 1M --to kafka --bootstrap 127.0.0.1:9092 --topic "
                 "transactions --partitions 4");
  generate->require_subcommand(1);
  CLI::App* neobank =
      AddCommand(*generate, "neobank", "Card transactions of a bank, with repeats, late and broken rows.",
                 "  caudal generate neobank --events 5M --duplicates 1% --late 0.5% --malformed 0.1% "
                 "--out data/in --expected data/expected.json");
  auto command = std::make_shared<GenerateCommand>();
  const CLI::AsNumberWithUnit thousands(
      std::map<std::string, uint64_t>{{"k", 1000}, {"M", 1'000'000}, {"G", 1'000'000'000}},
      CLI::AsNumberWithUnit::CASE_SENSITIVE);
  neobank->add_option("--events", command->options.events, "how many rows")
      ->transform(thousands)
      ->capture_default_str();
  neobank->add_option("--rate", command->rate, "rows a second; 0 = as fast as possible")
      ->check(NumberBetween(0, 1e9))
      ->capture_default_str();
  neobank->add_option("--burst", command->burst, "rows sent at once before the pace begins")
      ->transform(thousands)
      ->check(NumberBetween(0, 1e10));
  neobank->add_option("--seed", command->options.seed, "the same seed gives the same bytes")
      ->check(NumberBetween(0, 9e18))
      ->capture_default_str();
  neobank->add_option("--duplicates", command->duplicates,
                      "share of rows sent again within the watermark (1%)");
  neobank->add_option("--late", command->late, "share of rows behind the watermark (0.5%)");
  neobank->add_option("--malformed", command->malformed, "share of rows that are no transaction (0.1%)");
  neobank->add_option("--accounts", command->options.accounts, "how many accounts")->capture_default_str();
  neobank
      ->add_option("--event-time-rate", command->options.events_per_second_of_event_time,
                   "rows in a second of event time")
      ->capture_default_str();
  CLI::Option* file_events =
      neobank->add_option("--file-events", command->options.file_events, "rows in a file")
          ->transform(thousands)
          ->capture_default_str();
  neobank->add_option("--to", command->to, "files or kafka")->capture_default_str();
  neobank->add_option("--out", command->folder, "folder where finished files appear by rename");
  neobank->add_option("--bootstrap", command->bootstrap, "Kafka's brokers, host:port");
  neobank->add_option("--topic", command->topic, "Kafka topic, empty as yet; records are keyed by account");
  neobank->add_option("--partitions", command->partitions, "create the topic with so many");
  neobank->add_option("--property", command->properties,
                      "of librdkafka, name=value; ${env:NAME} stands for a secret");
  neobank->add_option("--expected", command->expected, "file for the expected fates and totals (JSON)");
  neobank->add_option("--expected-tables", command->expected_tables, "folder for the expected tables (TSV)");
  neobank->callback([command, file_events, action] {
    command->file_events_given = file_events->count() > 0;
    *action = [command](Console& console) { return Generate(*command, console); };
  });
}

constexpr int kMostThreads = 256;
constexpr const char* kDefaultState = "caudal-state";

void AddState(CLI::App* command, std::string* state_root) {
  *state_root = kDefaultState;
  command->add_option("--state", *state_root, "state folder of the run")->capture_default_str();
}

// Those of one run.
void AddPrograms(CLI::App* command, std::vector<std::string>* programs, std::string* profile) {
  command->add_option("--profile", *profile, "of each pipeline file: which table definitions are taken");
  command->add_option("program", *programs, "pipeline files (.yaml) and SQL scripts")->required();
}

void AddRun(CLI::App& app, Action* action) {
  CLI::App* run = AddCommand(
      app, "run", "Run pipelines until they are stopped or their bounded input ends.",
      "  caudal run examples/neobank/pipeline.yaml --state state\n"
      "  caudal run examples/neobank/pipeline.yaml --profile kafka --state state\n"
      "  caudal run job.sql --state state --listen 127.0.0.1:9464\n"
      "  caudal run payments.yaml clicks.sql --state state --memory '4 GB'    # both in one process\n"
      "  caudal run job.sql --until-idle '3 s'    # end once the input rests; the next run goes on there");
  auto command = std::make_shared<RunCommand>();
  AddPrograms(run, &command->options.paths, &command->options.profile);
  AddState(run, &command->options.state_root);
  run->add_option("--listen", command->listen, "serve /metrics, /livez, /readyz and /status there; 0 = off");
  run->add_option("--until-idle", command->until_idle,
                  "end with a savepoint once no row has come for so long");
  run->add_flag("--drain", command->options.drain,
                "with --until-idle: close all windows at the end; the queries cannot go on");
  run->add_option("--threads", command->options.threads, "threads for tasks; 0 = one a core")
      ->check(NumberBetween(0, kMostThreads))
      ->capture_default_str();
  run->add_option("--memory", command->memory, "what all queries together may hold ('2 GB')");
  run->add_option("--set", command->set, "a setting of this run, key=value; wins over the script's SET")
      ->allow_extra_args(false);
  run->add_option("--allow-dropped", command->options.allow_dropped,
                  "operators whose state may go ('*' = any)")
      ->allow_extra_args(false);
  run->add_option("--allow-abandoned", command->options.allow_abandoned,
                  "queries of the state folder that no query takes up any more ('*' = any)")
      ->allow_extra_args(false);
  run->callback(
      [command, action] { *action = [command](Console& console) { return Run(*command, console); }; });
}

void AddRebuild(CLI::App& app, Action* action) {
  CLI::App* rebuild = AddCommand(
      app, "rebuild", "Make a table anew from the one before it, on a branch, and change over to it.",
      "  caudal rebuild examples/clickstream/clickstream.yaml silver --from bronze --state state\n"
      "  caudal rebuild examples/clickstream/clickstream.yaml silver --from bronze --state state --cut-over\n"
      "  caudal rebuild examples/clickstream/clickstream.yaml silver --state state --roll-back");
  auto command = std::make_shared<RebuildCommand>();
  AddProgram(rebuild, "pipeline file or script, as it is to be from now on", &command->program,
             &command->profile);
  rebuild->add_option("target", command->target, "what is rebuilt: a layer of the pipeline file, or a table")
      ->required();
  rebuild->add_option("--from", command->from, "the table that it is made of, its layer or its database");
  AddState(rebuild, &command->state_root);
  auto there = std::make_shared<bool>(false), back = std::make_shared<bool>(false),
       discard = std::make_shared<bool>(false);
  CLI::Option* cut_over = rebuild->add_flag(
      "--cut-over", *there, "read what came since, and put it in the place of the table and its query");
  CLI::Option* roll_back =
      rebuild->add_flag("--roll-back", *back, "put back what a cut-over left")->excludes(cut_over);
  rebuild->add_flag("--discard", *discard, "drop a rebuild that is not wanted")
      ->excludes(cut_over)
      ->excludes(roll_back);
  rebuild
      ->add_option("--until-idle", command->until_idle,
                   "how long its source must rest; longer than its 'monitor-interval'")
      ->capture_default_str();
  rebuild->add_option("--keep", command->keep, "how long a cut-over can be rolled back")
      ->capture_default_str();
  rebuild->add_flag(
      "--anyway", command->anyway,
      "cut over although others wrote to the table: what they wrote is not in what was rebuilt");
  rebuild->add_option("--set", command->set, "a setting, key=value; wins over the script's SET")
      ->allow_extra_args(false);
  rebuild->callback([command, there, back, discard, action] {
    using Step = RebuildCommand::Step;
    command->step = *there     ? Step::kCutOver
                    : *back    ? Step::kRollBack
                    : *discard ? Step::kDiscard
                               : Step::kReplay;
    *action = [command](Console& console) { return Rebuild(*command, console); };
  });
}

void AddValidateAndExplain(CLI::App& app, Action* action) {
  CLI::App* validate = AddCommand(app, "validate", "Check pipeline files and their SQL; start nothing.",
                                  "  caudal validate examples/neobank/pipeline.yaml\n"
                                  "  caudal validate examples/neobank/pipeline.yaml --profile kafka");
  auto paths = std::make_shared<std::vector<std::string>>();
  auto profile = std::make_shared<std::string>();
  AddPrograms(validate, paths.get(), profile.get());
  validate->callback([paths, profile, action] {
    *action = [paths, profile](Console& console) { return Validate(*paths, *profile, console); };
  });

  CLI::App* explain = AddCommand(app, "explain", "Show the plans of a pipeline, script or statement.",
                                 "  caudal explain examples/neobank/pipeline.yaml\n"
                                 "  caudal explain job.sql --changelog");
  auto command = std::make_shared<ExplainCommand>();
  AddProgram(explain, "pipeline file, script, or the statement itself", &command->path, &command->profile);
  explain->add_flag("--changelog", command->changelog, "with the changelog mode of each node");
  explain->callback(
      [command, action] { *action = [command](Console& console) { return Explain(*command, console); }; });
}

void AddSql(CLI::App& app, Action* action) {
  CLI::App* sql =
      AddCommand(app, "sql", "Run a statement or script here and now, on files and databases.",
                 "  caudal sql 'SELECT status, COUNT(*) FROM `data/in/a.ndjson` GROUP BY status'\n"
                 "  caudal sql 'SELECT SUM(amount) FROM `data/silver`' --json\n"
                 "  caudal sql 'SELECT COUNT(*) FROM `./silver`'    # a folder is known by its slash\n"
                 "  caudal sql report.sql        caudal sql - < report.sql");
  auto command = std::make_shared<SqlCommand>();
  sql->add_option("statement", command->statement, "the SQL, a file *.sql, or - for standard input");
  sql->add_option("--ops", command->ops, "state folder whose ops.* tables may be read");
  sql->add_option("--deadline", command->deadline, "end each SELECT after so long, e.g. '10 s'");
  sql->callback(
      [command, action] { *action = [command](Console& console) { return RunSql(*command, console); }; });

  CLI::App* functions = AddCommand(
      app, "functions", "Print the reference of functions.",
      "  caudal functions\n  caudal functions DATE\n  caudal functions --markdown > docs/functions.md");
  auto wanted = std::make_shared<FunctionsCommand>();
  functions->add_option("name", wanted->name, "only functions whose name contains it");
  functions->add_flag("--markdown", wanted->markdown, "all of them, as the page docs/functions.md");
  functions->callback([wanted, action] {
    *action = [wanted](Console& console) { return PrintFunctions(*wanted, console); };
  });
}

void AddStopAndStatus(CLI::App& app, Action* action) {
  CLI::App* stop = AddCommand(
      app, "stop", "Stop a run after a last epoch.",
      "  caudal stop --state state               # a savepoint: the next run goes on exactly there\n"
      "  caudal stop --state state --drain       # close all windows and end for good");
  auto command = std::make_shared<StopCommand>();
  AddState(stop, &command->state_root);
  CLI::Option* drain =
      stop->add_flag("--drain", command->drain, "close all windows; the queries cannot go on");
  auto savepoint = std::make_shared<bool>(false);
  stop->add_flag("--savepoint", *savepoint, "stop so that the next run goes on exactly there (the default)")
      ->excludes(drain);
  stop->add_option("--timeout", command->timeout_seconds, "seconds to wait")
      ->check(NumberBetween(0, 1e9))
      ->capture_default_str();
  // The callback keeps what the flags are read into.
  stop->callback([command, savepoint, action] {
    command->state_root = LocalStateFolder(command->state_root);
    *action = [command](Console& console) { return Stop(*command, console); };
  });

  CLI::App* status = AddCommand(app, "status", "Show what runs on a state folder, with its fates.",
                                "  caudal status --state state\n  caudal status --state state --json");
  auto state_root = std::make_shared<std::string>();
  AddState(status, state_root.get());
  status->callback([state_root, action] {
    *action = [state_root](Console& console) { return ShowStatus(LocalStateFolder(*state_root), console); };
  });
}

void AddOps(CLI::App& app, Action* action) {
  CLI::App* ops = AddCommand(app, "ops", "Look into the operations store.",
                             "  caudal ops query 'SELECT * FROM ops.streaming_progress' --state state\n"
                             "  caudal ops query 'SELECT fate, name, `rows` FROM ops.fates' --json");
  ops->require_subcommand(1);
  CLI::App* query = AddCommand(
      *ops, "query", "Run a statement over ops.*.",
      "  caudal ops query 'SELECT query_id, epoch, freshness_p95_ms FROM ops.epochs' --state state");
  auto command = std::make_shared<SqlCommand>();
  query->add_option("statement", command->statement, "the SQL")->required();
  AddState(query, &command->ops);
  query->callback(
      [command, action] { *action = [command](Console& console) { return RunSql(*command, console); }; });
}

void AddCheckpoint(CLI::App& app, Action* action) {
  CLI::App* checkpoint =
      AddCommand(app, "checkpoint", "Look into the checkpoints of a state folder.",
                 "  caudal checkpoint ls --state state\n  caudal checkpoint verify --state state\n"
                 "  caudal checkpoint diff new.sql --state state");
  checkpoint->require_subcommand(1);
  using Function = int (*)(const CheckpointCommand&, Console&);
  const auto add = [&](const char* name, const char* what, Function function) {
    const std::string program = function == DiffCheckpoint ? " new.sql" : "";
    CLI::App* one = AddCommand(*checkpoint, name, what,
                               "  caudal checkpoint " + std::string(name) + program + " --state state");
    auto command = std::make_shared<CheckpointCommand>();
    AddState(one, &command->state_root);
    one->add_option("--query", command->query, "only this query");
    if (function == DiffCheckpoint)
      AddProgram(one, "pipeline file or script", &command->program, &command->profile);
    one->callback([command, function, action] {
      *action = [command, function](Console& console) { return function(*command, console); };
    });
  };
  add("ls", "List the epochs.", ListCheckpoints);
  add("show", "Show the newest epoch of each query.", ShowCheckpoint);
  add("verify", "Read everything and check it; exit 4 when it is damaged.", VerifyCheckpoints);
  add("diff", "Say what a start of this program would keep, add and refuse.", DiffCheckpoint);
  CLI::App* trigger = AddCommand(*checkpoint, "trigger", "Ask the run for an epoch now.",
                                 "  caudal checkpoint trigger --state state");
  auto state_root = std::make_shared<std::string>();
  AddState(trigger, state_root.get());
  trigger->callback([state_root, action] {
    *action = [state_root](Console& console) {
      return TriggerCheckpoint(LocalStateFolder(*state_root), console);
    };
  });
}

// Which dead letters a command is about.
void AddSelection(CLI::App* command, DlqCommand* dlq) {
  LetterSelection& selection = dlq->selection;
  command->add_option(
      "--class", selection.error_class,
      "malformed, tombstone, contract, expression, sink, late, out-of-order-file, file-changed, "
      "stray-file or unreadable-file");
  command->add_option("--query", selection.query, "pipeline/query");
  command->add_option("--topic", selection.topic, "the records' topic");
  command->add_option("--partition", selection.partition, "of that topic");
  command->add_option("--from-offset", selection.from_offset, "the first offset");
  command->add_option("--to-offset", selection.to_offset, "the last offset");
  command->add_option("--since", dlq->since, "kept aside at this time (UTC) or later");
  command->add_option("--until", dlq->until, "kept aside before this time (UTC)");
}

using DlqFunction = int (*)(const DlqCommand&, Console&);

void AddDlq(CLI::App& app, Action* action) {
  CLI::App* dlq =
      AddCommand(app, "dlq", "Look at the rows that were kept aside, and deal with them.",
                 "  caudal dlq ls examples/neobank/pipeline.yaml\n"
                 "  caudal dlq show examples/neobank/pipeline.yaml --class malformed\n"
                 "  caudal dlq replay examples/neobank/pipeline.yaml --profile kafka --class contract");
  dlq->require_subcommand(1);
  auto command = std::make_shared<DlqCommand>();
  const auto add = [&](const std::string& name, const std::string& what, const std::string& examples,
                       DlqFunction function) {
    CLI::App* one = AddCommand(*dlq, name, what, examples);
    AddProgram(one, "pipeline file or script", &command->program, &command->profile);
    if (name != "ls") AddSelection(one, command.get());
    one->callback([command, action, function] {
      *action = [command, function](Console& console) { return function(*command, console); };
    });
    return one;
  };
  add("ls", "Count them by class.", "  caudal dlq ls pipeline.yaml", ListDeadLetters);
  add("show", "Print them.",
      "  caudal dlq show pipeline.yaml --class late --limit 5\n"
      "  caudal dlq show pipeline.yaml --topic clicks --partition 3 --from-offset 1000 --to-offset 1100",
      ShowDeadLetters)
      ->add_option("--limit", command->limit, "at most so many")
      ->check(NumberBetween(0, 1e9))
      ->capture_default_str();
  add("stats", "Count them by class, topic, partition and time, and what was done about them.",
      "  caudal dlq stats pipeline.yaml\n  caudal dlq stats pipeline.yaml --by hour --since "
      "'2026-03-01 12:00'",
      CountDeadLetters)
      ->add_option("--by", command->by, "hour or day: also by the time they were kept aside")
      ->check(CLI::IsMember({"hour", "day"}));
  CLI::App* replay =
      add("replay", "Send their records once more to where they came from, each once.",
          "  caudal dlq replay pipeline.yaml --class contract --dry-run\n"
          "  caudal dlq replay pipeline.yaml --class contract      # again: nothing is left to do\n"
          "  caudal dlq replay pipeline.yaml --all --reason 'producer fixed in 1.4'",
          ReplayDeadLetters);
  CLI::App* discard =
      add("discard", "Note that nothing is to be done about them; they stay where they are.",
          "  caudal dlq discard pipeline.yaml --class malformed --until '2026-03-02' --reason 'test traffic'",
          DiscardDeadLetters);
  for (CLI::App* one : {replay, discard}) {
    one->add_flag("--all", command->all, "all of them");
    one->add_flag("--dry-run", command->dry, "only say how many it would be");
  }
  replay->add_option("--reason", command->reason, "is noted with it");
  discard->add_option("--reason", command->reason, "is noted with it")->required();
}

// Parses the words and does what they ask for.
int Obey(int argc, char** argv, Console& console) {
  CLI::App app("caudal runs streaming pipelines, written in Flink's SQL, into a lakehouse.", "caudal");
  app.set_version_flag("--version", fmt::format("caudal {}", CAUDAL_VERSION), "print the version");
  app.require_subcommand(0, 1);
  app.fallthrough();
  app.add_flag("--json", console.json, "print results and errors as JSON");
  app.footer(
      "Exit codes: 0 ok, 1 usage, 2 data or SLO, 3 refused before start, 4 verification failed, 5 internal.\n"
      "caudal COMMAND --help shows examples.");
  Action action;
  AddRebuild(app, &action);
  AddRun(app, &action);
  AddValidateAndExplain(app, &action);
  AddSql(app, &action);
  AddGenerate(app, &action);
  AddStopAndStatus(app, &action);
  AddOps(app, &action);
  AddCheckpoint(app, &action);
  AddDlq(app, &action);
  AddTable(app, &action);
  AddDigest(app, &action);
  AddVersion(app, &action);
  AddHelp(app, &action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help, --version
      std::ostringstream text;
      const int code = app.exit(error, text, text);
      console.Out(text.str());
      return code;
    }
    const std::span<char* const> words(argv + 1, static_cast<size_t>(argc - 1));
    Status wrong = FindUnknownWord(app, words).value_or(Status::User(error.what()));
    return console.Fail(std::move(wrong).Hint("caudal --help, or caudal COMMAND --help"), ExitCode::kUsage);
  }
  if (!action && console.json)
    return console.Fail(Status::User("there is no command").Hint("caudal --help lists them"),
                        ExitCode::kUsage);
  if (!action) {
    std::fputs(app.help().c_str(), stderr);
    return static_cast<int>(ExitCode::kUsage);
  }
  return action(console);
}

}  // namespace

int RunCommandLine(int argc, char** argv) {
  Console console(stdout, stderr);
  SayLastWords(&console);
  return console.Finish(Obey(argc, argv, console));
}

}  // namespace caudal
