#include "server/cli/lake/table_commands.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "server/cli/lake/table_command.h"
#include "server/cli/usage/usage_error.h"

namespace caudal {
namespace {

using TableFunction = int (*)(const TableCommand&, Console&);
using RefFunction = int (*)(const RefCommand&, Console&);
constexpr const char* kProgram = "pipeline file or script that declares the tables or their catalog";

CLI::App* AddRefCommand(CLI::App& app, const auto& command, Action* action, const std::string& name,
                        const std::string& what, const std::string& examples, RefFunction function) {
  CLI::App* one = AddCommand(app, name, what, examples);
  AddProgram(one, kProgram, &command->on.program, &command->on.profile);
  one->callback([command, action, function] {
    if (!command->table.empty()) command->on.tables = {command->table};
    *action = [command, function](Console& console) { return function(*command, console); };
  });
  return one;
}

void AddTableOfRef(CLI::App* one, const auto& command, const std::string& what) {
  one->add_option("table", command->table, "which, as the program names it")->required();
  one->add_option("name", command->name, what)->required();
}

void AddCreateRef(CLI::App& app, const auto& command, Action* action) {
  const std::string& type = command->type;
  const bool branch = type == "branch";
  const std::string base = "  caudal table " + type + " create catalog.sql lake.shop.orders ";
  CLI::App* create = AddRefCommand(
      app, command, action, "create", "Make a " + type + ", at the head of 'main' or where else it is told.",
      branch ? base + "audit\n" + base + "rebuilt --empty\n" + base +
                   "march --from end-of-march --max-ref-age '30 d'"
             : base + "end-of-march\n" + base + "before-repair --snapshot 4711 --max-ref-age '90 d'",
      CreateTableRef);
  AddTableOfRef(create, command, "of the " + type);
  CLI::Option* from = create->add_option("--from", command->from, "begin at this branch or tag");
  CLI::Option* snapshot =
      create->add_option("--snapshot", command->snapshot_id, "begin at the snapshot of this id")
          ->excludes(from);
  create->add_option("--max-ref-age", command->max_ref_age,
                     "how old its head may grow until expiry drops the " + type +
                         "; default: history.expire.max-ref-age-ms of the table, or for ever");
  if (!branch) return;
  create->add_flag("--empty", command->empty, "begin without rows")->excludes(from)->excludes(snapshot);
  create->add_option("--max-snapshot-age", command->max_snapshot_age,
                     "how old its snapshots may grow until they expire; default: as the table says");
  create->add_option("--keep-last", command->keep_last, "snapshots that stay however old they are")
      ->check(NumberBetween(1, 1e9));
}

void AddRefs(CLI::App& table, const std::string& type, const std::string& what, Action* action) {
  const std::string base = "  caudal table " + type;
  CLI::App* refs =
      AddCommand(table, type, what,
                 base + " list pipeline.yaml\n" + base + " create catalog.sql lake.shop.orders " +
                     (type == "branch" ? "audit" : "end-of-march"));
  refs->require_subcommand(1);
  auto command = std::make_shared<RefCommand>();
  command->type = type;
  AddCreateRef(*refs, command, action);
  CLI::App* drop = AddRefCommand(
      *refs, command, action, "drop",
      "Drop a " + type + "; its snapshots go with the next expiry, unless another ref leads to them.",
      base + " drop catalog.sql lake.shop.orders " + (type == "branch" ? "audit" : "end-of-march"),
      DropTableRef);
  AddTableOfRef(drop, command, "of the " + type);
  CLI::App* list = AddRefCommand(
      *refs, command, action, "list", "Where each " + type + " is, and how long it is kept.",
      base + " list pipeline.yaml\n" + base + " list catalog.sql lake.shop.orders --json", ListTableRefs);
  list->add_option("table", command->on.tables,
                   "which, as the program names them; none = every Iceberg table that it declares or writes");
}

void AddFastForward(CLI::App& table, Action* action) {
  auto command = std::make_shared<RefCommand>();
  command->type = "branch";
  CLI::App* forward = AddRefCommand(
      table, command, action, "fast-forward",
      "Move a branch forward to the head of another that began at it, as after an audit; neither may move "
      "meanwhile.",
      "  caudal table fast-forward catalog.sql lake.shop.orders main --to audit", FastForwardTable);
  AddTableOfRef(forward, command, "of the branch that is moved");
  forward->add_option("--to", command->to, "the branch or tag where it goes")->required();
}

// Which files, and how: names and defaults as Spark's rewrite_data_files has them.
void AddCompactOptions(CLI::App* compact, TableCommand* command) {
  compact->add_option("--target-file-size", command->target_size,
                      "of new files; default: write.target-file-size-bytes of the table, or 512 MB");
  compact->add_option("--min-file-size", command->min_size,
                      "smaller files are rewritten; default: 75 % of the target");
  compact->add_option("--max-file-size", command->max_size,
                      "larger files are split; default: 180 % of the target");
  compact
      ->add_option("--min-input-files", command->min_input_files,
                   "small files of a partition that are worth it")
      ->capture_default_str()
      ->check(NumberBetween(1, 1e9));
  compact
      ->add_option("--delete-file-threshold", command->delete_files,
                   "files of deletes of one data file for which it is rewritten")
      ->capture_default_str()
      ->check(NumberBetween(1, 1e9));
  compact
      ->add_option("--delete-ratio-threshold", command->delete_ratio,
                   "share of its rows that are deleted for which it is rewritten")
      ->capture_default_str()
      ->check(NumberBetween(0, 1));
  compact->add_flag("--rewrite-all", command->rewrite_all, "every file, whatever its size");
  compact
      ->add_option("--max-commits", command->max_commits,
                   "of one table: what is done is committed in so many parts, and kept if the rest fails")
      ->capture_default_str()
      ->check(NumberBetween(1, 1e6));
  compact->add_option("--threads", command->threads, "groups of files at once; default: one a core")
      ->check(NumberBetween(1, 1024));
  compact->add_flag("--dry-run", command->dry, "only say what would be rewritten");
}

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
    AddProgram(one, kProgram, &command->program, &command->profile);
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
  CLI::App* compact = add(
      "compact",
      "Write small data files, and those with many deleted rows, anew as few whole ones; beside any writer.",
      "  caudal table compact pipeline.yaml --dry-run\n"
      "  caudal table compact catalog.sql lake.shop.orders --target-file-size 256MB --min-input-files 2",
      CompactTables);
  AddCompactOptions(compact, command.get());
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
  AddRefs(*table, "branch", "Make, drop and list branches: histories of their own, written by 'branch'.",
          action);
  AddRefs(*table, "tag", "Make, drop and list tags: names of snapshots.", action);
  AddFastForward(*table, action);
}

}  // namespace caudal
