#include "server/cli/lake/table_commands.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "server/cli/lake/table_command.h"

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
}

}  // namespace caudal
