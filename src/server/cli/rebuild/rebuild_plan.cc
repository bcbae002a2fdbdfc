#include "server/cli/rebuild/rebuild_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>

#include "fs/file_path.h"
#include "iceberg/commit/pipeline_token.h"
#include "run/job.h"
#include "server/cli/rebuild/cut_over_journal.h"

namespace caudal {
namespace {

constexpr std::string_view kIceberg = "iceberg";
constexpr std::string_view kKafka = "kafka";
constexpr std::string_view kFromTheFirstRow[] = {"filesystem", "datagen", "jdbc"};

// What the command line calls it: its name, its layer, or a part of its name.
bool IsMeant(const std::string& table, const std::string& meant, const Program& program) {
  if (table == meant) return true;
  if (const auto& file = program.text().file) {
    const auto layer = file->targets.find(meant);
    if (layer != file->targets.end()) return layer->second.name == table;
  }
  return ("." + table + ".").find("." + meant + ".") != std::string::npos;
}

std::vector<const SinkNode*> SinksIn(const Plan& plan) {
  std::vector<const SinkNode*> sinks;
  for (const PlanNode& node : plan.nodes) {
    if (const auto* sink = node.as<SinkNode>()) sinks.push_back(sink);
  }
  return sinks;
}

std::vector<const ScanNode*> ScansIn(const Plan& plan) {
  std::vector<const ScanNode*> scans;
  for (const PlanNode& node : plan.nodes) {
    if (const auto* scan = node.as<ScanNode>()) scans.push_back(scan);
  }
  return scans;
}

Status CannotBe(const std::string& target, const std::string& why) {
  return Status::User(fmt::format("'{}' cannot be rebuilt: {}", target, why));
}

Status CheckSink(const Plan& plan, const Table& table, const std::string& target) {
  const std::string connector(table.option("connector"));
  if (connector != kIceberg) {
    return CannotBe(target,
                    fmt::format("it is a table of connector '{}', which has no branches to write to and "
                                "to change over to",
                                connector))
        .Hint("rebuild it by hand: run its query into another table under another --state folder");
  }
  if (SinksIn(plan).size() > 1) {
    return CannotBe(target, fmt::format("query '{}' writes other tables too, which would be written twice",
                                        plan.query))
        .Hint("give it an INSERT INTO of its own");
  }
  if (plan.dead_letter) {
    return CannotBe(target, fmt::format("query '{}' keeps dead letters in '{}', which would get them twice",
                                        plan.query, plan.dead_letter->table.name))
        .Hint("rebuild with 'caudal.errors' = 'skip', or with another dead-letter table");
  }
  return Status();
}

Status CheckScan(const Table& table, const std::string& target) {
  const std::string connector(table.option("connector"));
  if (std::ranges::find(kFromTheFirstRow, connector) != std::end(kFromTheFirstRow)) return Status();
  if (connector == kKafka) {
    if (table.option("scan.startup.mode") == "earliest-offset") return Status();
    return CannotBe(target, fmt::format("table '{}' is not read from its first row on", LakeName(table)))
        .Hint(
            "set its 'scan.startup.mode' to 'earliest-offset': queries that have a checkpoint go on where "
            "they "
            "are");
  }
  if (connector != kIceberg) {
    return CannotBe(target, fmt::format("connector '{}' of table '{}' is not known to begin at the first row",
                                        connector, LakeName(table)));
  }
  if (table.option("streaming") != "true") return Status();
  const std::string_view strategy = table.option("starting-strategy");
  if (strategy == "INCREMENTAL_FROM_EARLIEST_SNAPSHOT" || strategy == "TABLE_SCAN_THEN_INCREMENTAL")
    return Status();
  return CannotBe(target, fmt::format("table '{}' is not read from its first row on", LakeName(table)))
      .Hint(
          "set its 'starting-strategy' to TABLE_SCAN_THEN_INCREMENTAL: queries that have a checkpoint go on "
          "where they are");
}

Status CheckScans(const Plan& plan, const std::string& target, const std::string& from,
                  const Program& program) {
  for (const ScanNode* scan : ScansIn(plan)) {
    const std::string name = LakeName(scan->table);
    if (!IsMeant(name, from, program) && scan->table.name != from) {
      return CannotBe(target, fmt::format("query '{}' reads '{}', which is not '{}'", plan.query, name, from))
          .Hint("--from names the one table that it is made of");
    }
    RETURN_IF_ERROR(CheckScan(scan->table, target));
  }
  return Status();
}

Result<Plan> QueryOf(const Program& program, const std::string& target, std::string* table) {
  std::string known, lake_name;
  std::optional<Plan> found;
  for (Plan& plan : program.Queries()) {
    bool writes = false;
    for (const SinkNode* sink : SinksIn(plan)) {
      const std::string name = LakeName(sink->table);
      known += (known.empty() ? "'" : ", '") + name + "'";
      if (!IsMeant(name, target, program) && sink->table.name != target) continue;
      if (found && name != lake_name) {
        return Status::User(
                   fmt::format("'{}' is more than one table: '{}' and '{}'", target, lake_name, name))
            .Hint("name the one that is meant");
      }
      if (found && plan.query != found->query) {
        return CannotBe(target,
                        fmt::format("queries '{}' and '{}' write '{}': what the one wrote is not in what "
                                    "the other is rebuilt from",
                                    found->query, plan.query, name))
            .Hint("rebuild it by hand: both of them, into another table");
      }
      *table = sink->table.name;
      lake_name = name;
      writes = true;
    }
    if (writes) found = std::move(plan);
  }
  if (found) return *std::move(found);
  return Status::User(fmt::format("no query of '{}' writes '{}'", program.text().name, target))
      .Hint(known.empty() ? "it writes nothing" : "it writes " + known);
}

}  // namespace

std::string LakeName(const Table& table) {
  if (table.option("connector") != kIceberg) return table.name;
  const std::string_view name = table.option("catalog-table", table.name);
  return fmt::format("{}.{}.{}", table.option("catalog-name"),
                     table.option("catalog-database", "default_database"), name);
}

Status RebuildPlan::CheckAlone(const iceberg::TableMetadata& table) const {
  const iceberg::SnapshotRef* head = table.FindRef(branch);
  int64_t others = 0;
  std::string by;
  std::set<int64_t> seen;
  for (std::optional<int64_t> id; head != nullptr;) {
    id = id ? id : head->snapshot_id;
    const iceberg::Snapshot* one = table.FindSnapshot(*id);
    if (one == nullptr || !seen.insert(*id).second) break;
    const auto operation = one->summary.find("operation");
    const auto token = iceberg::TokenOf(*one);
    const bool rows = operation == one->summary.end() || operation->second != "replace";
    if (rows && (!token || !token->pipeline.starts_with(shown + "@"))) {
      ++others;
      by = token ? token->pipeline.substr(0, token->pipeline.find('@')) : "another program";
    }
    id = one->parent_snapshot_id;
    if (!id) break;
  }
  if (others == 0) return Status();
  return Status::User(
             fmt::format("'{}' of table '{}' has {} commits of others, as of '{}': what they wrote is not "
                         "in what was rebuilt",
                         branch, target.shown, others, by))
      .Hint("say it with --anyway if it may go: --roll-back brings it back");
}

Result<RebuildPlan> RebuildPlan::Make(const Program& program, const std::string& target,
                                      const std::string& from, const std::string& state_root) {
  if (!SchemeOf(state_root).empty()) {
    return CannotBe(target,
                    fmt::format("checkpoints in '{}' cannot be renamed, as a cut-over must", state_root))
        .Hint("--state must be a folder of this machine");
  }
  std::string table_name;
  ASSIGN_OR_RETURN(const Plan plan, QueryOf(program, target, &table_name));
  const Table& table = SinksIn(plan).front()->table;
  RETURN_IF_ERROR(CheckSink(plan, table, target));
  if (!from.empty()) RETURN_IF_ERROR(CheckScans(plan, target, from, program));
  RebuildPlan rebuild;
  rebuild.query = plan.query;
  rebuild.shown = program.text().name + "/" + plan.query;
  ASSIGN_OR_RETURN(std::vector<LakeTable> tables, OpenLakeTables(program, {table_name}));
  rebuild.target = std::move(tables.front());
  rebuild.branch = table.option("branch", "main");
  if (rebuild.branch.empty()) rebuild.branch = "main";
  rebuild.rebuilt = "rebuild-" + plan.query;
  rebuild.kept = "before-rebuild-" + plan.query;
  for (const Plan& other : program.Queries()) {
    for (const ScanNode* scan : ScansIn(other)) {
      if (LakeName(scan->table) == LakeName(table) && scan->table.option("streaming") == "true")
        rebuild.readers.push_back(other.query);
    }
  }
  const auto folder = [&](const std::string& root) {
    return Job::FolderOf(root, program.text().name, plan.query);
  };
  rebuild.live = folder(state_root);
  rebuild.made_root = state_root + "/.rebuild";
  rebuild.made = folder(rebuild.made_root);
  rebuild.left = folder(state_root + "/.rebuild-left");
  rebuild.undone = folder(state_root + "/.rebuild-undone");
  rebuild.journal = CutOverJournalIn(state_root);
  return rebuild;
}

}  // namespace caudal
