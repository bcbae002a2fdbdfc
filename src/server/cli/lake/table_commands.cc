#include "server/cli/lake/table_commands.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "server/cli/lake/table_command.h"
#include "server/cli/usage/usage_error.h"

namespace caudal {
namespace {

using TableFunction = int (*)(const TableCommand&, Console&);

}  // namespace

void AddTable(CLI::App& app, Action* action) {
  CLI::App* table = AddCommand(app, "table", "Look after the Iceberg tables of a program.",
                               "  caudal table check pipeline.yaml\n"
                               "  caudal table check catalog.sql lake.shop.orders");
  table->require_subcommand(1);
  auto command = std::make_shared<TableCommand>();
  const auto add = [&](const std::string& name, const std::string& what, const std::string& examples,
                       TableFunction function) {
    CLI::App* one = AddCommand(*table, name, what, examples);
    AddProgram(one, "pipeline file or script that declares the tables or their catalog", &command->program,
               &command->profile);
    one->add_option(
        "table", command->tables,
        "which, as the program names them; none = every Iceberg table that it declares or writes");
    one->callback([command, action, function] {
      *action = [command, function](Console& console) { return function(*command, console); };
    });
    return one;
  };
  add("check", "Verify every promise of the format, down to the files; exit 4 when one is broken.",
      "  caudal table check pipeline.yaml\n"
      "  caudal table check catalog.sql lake.shop.orders --all    # every violation, not the first alone",
      CheckTables)
      ->add_flag("--all", command->all, "go on after the first violation");
  CLI::App* expire =
      add("expire",
          "Let old snapshots go, and the files that nothing else has; never the newest token of a pipeline.",
          "  caudal table expire pipeline.yaml --dry-run\n"
          "  caudal table expire catalog.sql lake.shop.orders --older-than '2 d' --keep-last 10",
          ExpireTables);
  expire->add_option("--older-than", command->older_than,
                     "how old; default: history.expire.max-snapshot-age-ms of the table, or 5 days");
  expire
      ->add_option("--keep-last", command->keep_last,
                   "of each branch, however old; default: history.expire.min-snapshots-to-keep, or 1")
      ->check(NumberBetween(1, 1e9));
  expire->add_flag("--dry-run", command->dry, "only say what would go");
  CLI::App* orphans = add("orphans", "List the files in tables' folders that nothing names, or remove them.",
                          "  caudal table orphans pipeline.yaml\n"
                          "  caudal table orphans catalog.sql lake.shop.orders --older-than '7 d' --remove",
                          FindTableOrphans);
  orphans->add_option("--older-than", command->older_than,
                      "how old, by the time of the last change; default: 3 days");
  orphans->add_flag("--remove", command->remove, "remove them; without it they are listed alone");
  add("rewrite-manifests", "Put many small manifests together, so that readers plan faster.",
      "  caudal table rewrite-manifests pipeline.yaml\n"
      "  caudal table rewrite-manifests catalog.sql lake.shop.orders --json",
      RewriteTableManifests);
}

}  // namespace caudal
