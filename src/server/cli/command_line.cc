#include "server/cli/command_line.h"

#include <CLI/CLI.hpp>

#include "server/cli/generate.h"
#include "server/cli/version.h"

namespace caudal {
namespace {

// What the chosen command does once everything is parsed.
using Action = std::function<int(Console&)>;

CLI::App* AddCommand(CLI::App& app, const std::string& name, const std::string& what,
                     const std::string& examples) {
  CLI::App* command = app.add_subcommand(name, what);
  command->footer("Examples:\n" + examples);
  return command;
}

void AddVersion(CLI::App& app, Action* action) {
  AddCommand(app, "version", "Print the version.", "  caudal version\n  caudal version --json")
      ->callback([action] { *action = PrintVersion; });
}

void AddGenerate(CLI::App& app, Action* action) {
  CLI::App* generate =
      AddCommand(app, "generate", "Send a demo stream and tell what must become of it.",
                 "  caudal generate neobank --events 1M --out data/in --expected data/expected.json\n"
                 "  caudal generate neobank --events 600k --rate 20000 --seed 7 --out data/in");
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
      ->capture_default_str();
  neobank->add_option("--seed", command->options.seed, "the same seed gives the same bytes")
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
  neobank->add_option("--out", command->folder, "folder where finished files appear by rename");
  neobank->add_option("--expected", command->expected, "file for the expected fates and totals (JSON)");
  neobank->add_option("--expected-tables", command->expected_tables, "folder for the expected tables (TSV)");
  neobank->callback([command, file_events, action] {
    command->file_events_given = file_events->count() > 0;
    *action = [command](Console& console) { return Generate(*command, console); };
  });
}

}  // namespace

int RunCommandLine(int argc, char** argv) {
  Console console(stdout, stderr);
  CLI::App app("caudal runs streaming pipelines, written in Flink's SQL, into a lakehouse.", "caudal");
  app.require_subcommand(0, 1);
  app.fallthrough();
  app.add_flag("--json", console.json, "print results and errors as JSON");
  app.footer(
      "Exit codes: 0 ok, 1 usage, 2 data or SLO, 3 refused before start, 4 verification failed, 5 internal.\n"
      "caudal COMMAND --help shows examples.");
  Action action;
  AddGenerate(app, &action);
  AddVersion(app, &action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help
    return console.Fail(Status::User(error.what()).Hint("caudal --help, or caudal COMMAND --help"),
                        ExitCode::kUsage);
  }
  if (!action) {
    std::fputs(app.help().c_str(), stderr);
    return static_cast<int>(ExitCode::kUsage);
  }
  return action(console);
}

}  // namespace caudal
