#include "run/plan_tables.h"

#include <fmt/format.h>

#include "base/secret.h"
#include "run/scan/scan_rows.h"

namespace caudal {
namespace {

ConnectorContext AskingContext(const JobOptions& options) {
  ConnectorContext context;
  context.env = options.env;
  context.files = options.files;
  context.ephemeral = true;
  return context;
}

Status CheckSink(const Table& table, const JobOptions& options) {
  ASSIGN_OR_RETURN(const Connector* connector, FindConnector(options, table));
  ASSIGN_OR_RETURN(const Table revealed, Revealed(table));
  ASSIGN_OR_RETURN(const std::unique_ptr<Sink> sink, connector->MakeSink(revealed, AskingContext(options)));
  return sink->CheckTarget();
}

Status CheckScan(const PlanNode& node, const Plan& plan, const JobSettings& settings,
                 const JobOptions& options) {
  const Table& table = node.as<ScanNode>()->table;
  RETURN_IF_ERROR(SourceOptionsOf(table, plan, settings).status());
  ASSIGN_OR_RETURN(const Connector* connector, FindConnector(options, table));
  ASSIGN_OR_RETURN(const Table revealed, Revealed(table));
  const ScanRows rows(node, plan.dead_letter ? &plan.dead_letter->table : nullptr, plan.batch, 0);
  return connector->MakeSource(revealed, rows.request(), AskingContext(options)).status();
}

Status CheckLookup(const LookupNode& lookup, const JobOptions& options) {
  ASSIGN_OR_RETURN(const Connector* connector, FindConnector(options, lookup.table));
  ASSIGN_OR_RETURN(const Table revealed, Revealed(lookup.table));
  return connector->MakeLookup(revealed, lookup.request(), AskingContext(options)).status();
}

}  // namespace

Result<const Connector*> FindConnector(const JobOptions& options, const Table& table) {
  const std::string_view name = table.option("connector");
  for (const Connector* connector : options.connectors) {
    if (connector->name() == name) return connector;
  }
  return Status::User(fmt::format("table '{}' has the unknown connector '{}'", table.name, name));
}

Result<Table> Revealed(Table table) {
  for (auto& [key, value] : table.options) {
    ASSIGN_OR_RETURN(value, Secrets::Expand(value));
  }
  return table;
}

Status CheckTables(const Plan& plan, const JobOptions& options) {
  ASSIGN_OR_RETURN(const JobSettings settings, JobSettings::From(plan));
  for (const PlanNode& node : plan.nodes) {
    if (const auto* sink = node.as<SinkNode>()) RETURN_IF_ERROR(CheckSink(sink->table, options));
    if (const auto* lookup = node.as<LookupNode>()) RETURN_IF_ERROR(CheckLookup(*lookup, options));
    if (node.as<ScanNode>() != nullptr) RETURN_IF_ERROR(CheckScan(node, plan, settings, options));
  }
  return plan.dead_letter ? CheckSink(plan.dead_letter->table, options) : Status();
}

}  // namespace caudal
