#include "sql/lookup/time_travel.h"

#include <fmt/format.h>

#include <algorithm>

#include "expr/evaluator.h"
#include "expr/scalar_function.h"
#include "sql/expression_binder.h"
#include "sql/table_name.h"

namespace caudal::sql {
namespace {

constexpr std::string_view kMomentOption = "as-of-timestamp";
constexpr int64_t kMicrosPerMilli = 1'000;

// The table itself: no view, and no name of a WITH.
Status CheckTable(const TableReference& reference, const Catalog& catalog, const BindContext& context) {
  const auto refused = [&](std::string_view what) {
    return ErrorAt(*context.source, reference.system_time_range,
                   fmt::format("FOR SYSTEM_TIME AS OF needs a table, and this is {}", what))
        .Hint("write it behind the table within");
  };
  const NamedTable* named = std::get_if<NamedTable>(&reference.node);
  if (named == nullptr) return refused("a query or a function");
  for (const VisibleTable* visible = context.tables; visible != nullptr; visible = visible->outer) {
    if (named->name.parts.size() == 1 && visible->table->name.text == named->name.parts[0].text)
      return refused("a table of WITH");
  }
  ASSIGN_OR_RETURN(const std::string name, TableName(named->name, catalog, *context.source, context.current));
  const Table* table = catalog.FindTable(name);
  if (table == nullptr) return catalog.FindView(name) == nullptr ? Status() : refused("a view");
  const Connector* connector = catalog.FindConnector(table->option("connector"));
  if (connector == nullptr) return Status();  // said where it is bound
  const auto options = connector->options();
  if (std::ranges::find(options, kMomentOption, &OptionSpec::name) != options.end()) return Status();
  return ErrorAt(*context.source, reference.system_time_range,
                 fmt::format("table '{}' has no older versions: connector '{}' keeps none", name,
                             connector->name()))
      .Hint("a table of connector 'iceberg' has; JOIN … FOR SYSTEM_TIME AS OF <processing time> looks up");
}

}  // namespace

Result<Option> MomentOf(const TableReference& reference, const Catalog& catalog, const BindContext& context) {
  RETURN_IF_ERROR(CheckTable(reference, catalog, context));
  const Scope nothing;
  ExpressionBinder binder(*context.source, nothing);
  ASSIGN_OR_RETURN(Expr moment, binder.Bind(*reference.system_time));
  const auto refused = [&](std::string what) {
    return ErrorAt(*context.source, reference.system_time->range, std::move(what))
        .Hint("write TIMESTAMP '2026-03-01 12:00:00', in the time zone of the session");
  };
  if (!moment.type.is_timestamp())
    return refused(fmt::format("FOR SYSTEM_TIME AS OF needs a TIMESTAMP, not {}", moment.type.ToString()));
  EvaluatorOptions options;
  const auto zone = catalog.settings().find("table.local-time-zone");
  if (zone != catalog.settings().end()) options.time_zone = zone->second;
  ASSIGN_OR_RETURN(moment, BindCast(std::move(moment), Type::TimestampLtz(6)));
  FoldConstants(&moment, options);
  const int64_t* micros =
      moment.kind == Expr::Kind::kLiteral ? std::get_if<int64_t>(&moment.literal.data) : nullptr;
  if (micros == nullptr) return refused("FOR SYSTEM_TIME AS OF needs a moment that is the same at every run");
  const int64_t millis = *micros / kMicrosPerMilli - (*micros % kMicrosPerMilli < 0 ? 1 : 0);
  Option option;
  option.key = kMomentOption;
  option.value = std::to_string(millis);
  option.key_range = reference.system_time_range;
  return option;
}

}  // namespace caudal::sql
