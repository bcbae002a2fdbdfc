#include "sql/physical/optimize.h"

#include <fmt/format.h>

#include <charconv>

#include "sql/physical/changelog_rules.h"
#include "sql/physical/exchanges.h"
#include "sql/physical/filter/scan_filters.h"
#include "sql/physical/hidden_columns.h"
#include "sql/physical/merge_calcs.h"
#include "sql/physical/newest_window.h"
#include "sql/physical/prune_columns.h"

namespace caudal::sql {
namespace {

constexpr int kMaxParallelism = 128;  // the number of key groups

Result<int> Parallelism(const Plan& plan) {
  for (std::string_view key : {"table.exec.resource.default-parallelism", "parallelism.default"}) {
    const std::string_view text = plan.setting(key);
    if (text.empty()) continue;
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && value >= 1 && value <= kMaxParallelism)
      return value;
    if (text == "-1") continue;  // Flink's word for: not set
    return Status::User(fmt::format("setting '{}' must be 1 to {}, not '{}'", key, kMaxParallelism, text));
  }
  return 1;
}

// The one dead-letter table of the query, named by its sources.
Status FindDeadLetter(const Draft& draft, const Catalog& catalog, const FailAt& fail, Plan* plan) {
  for (const PlanNode& node : draft.nodes) {
    const ScanNode* scan = node.as<ScanNode>();
    if (scan == nullptr) continue;
    const std::string_view name = scan->table.option("caudal.dead-letter");
    if (name.empty()) continue;
    const Table* table = catalog.FindTable(name);
    if (table == nullptr) {
      return fail(node.position,
                  fmt::format("table '{}' names an unknown dead-letter table '{}'", scan->table.name, name));
    }
    if (plan->dead_letter && plan->dead_letter->table.name != table->name) {
      return fail(node.position, fmt::format("a query has one dead-letter table: '{}' or '{}'",
                                             plan->dead_letter->table.name, name));
    }
    plan->dead_letter = DeadLetter{*table};
  }
  return Status();
}

}  // namespace

Result<Plan> Optimize(Draft draft, std::string query, const Catalog& catalog, bool batch,
                      const FailAt& fail) {
  Plan plan;
  plan.query = std::move(query);
  plan.settings = catalog.settings();
  plan.batch = batch;
  ASSIGN_OR_RETURN(plan.parallelism, Parallelism(plan));
  ASSIGN_OR_RETURN(draft, MergeCalcs(draft, fail));
  ASSIGN_OR_RETURN(draft, MergeCalcs(PruneColumns(draft), fail));
  RETURN_IF_ERROR(FindDeadLetter(draft, catalog, fail, &plan));
  ASSIGN_OR_RETURN(draft, InferChangelog(draft, catalog, plan.dead_letter.has_value(), fail));
  FindNewestWindows(&draft);
  draft = AddHiddenColumns(draft, plan.dead_letter ? &plan.dead_letter->table : nullptr);
  FindScanFilters(&draft, batch, plan.settings);
  PlaceExchanges(draft, plan.parallelism);
  AssignIds(draft);
  plan.nodes = std::move(draft.nodes);
  return plan;
}

}  // namespace caudal::sql
