#include "sql/window_spec.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/physical/changelog_rules.h"

namespace caudal::sql {

Result<int64_t> IntervalMillis(const Expr& expr, SourceRange range, const SourceText& source,
                               std::string_view what) {
  if (expr.type.id() == TypeId::kIntervalYearMonth) {
    return ErrorAt(source, range,
                   fmt::format("{} must not be in months or years: their length varies", what));
  }
  const int64_t* millis = std::get_if<int64_t>(&expr.literal.data);
  if (expr.kind != Expr::Kind::kLiteral || expr.type.id() != TypeId::kIntervalDayTime || millis == nullptr) {
    return ErrorAt(source, range, fmt::format("{} must be a constant interval", what))
        .Hint("write INTERVAL '5' MINUTE");
  }
  return *millis;
}

Status RequireTimeAttribute(const PlanBuilder& builder, const Relation& input, int column, SourceRange range,
                            const SourceText& source, std::string_view function) {
  const int time = builder.node(input.node).time_column;
  if (column >= 0 && column == time) return Status();
  if (column >= 0 && IsProcessingTime(builder.nodes(), builder.node(input.node), column)) {
    return NotBuiltAt(source, range, fmt::format("{} on processing time", function))
        .Hint("take the time of the event from the row, and declare it with WATERMARK FOR");
  }
  std::string name = column >= 0 ? input.scope.columns[column].name : std::string(source.Slice(range));
  Status status =
      ErrorAt(source, range, fmt::format("{} needs a time attribute, and '{}' is none", function, name));
  if (time >= 0 && time < input.scope.columns.size()) {
    return std::move(status).Hint(
        fmt::format("the time attribute here is '{}'", input.scope.columns[time].name));
  }
  return std::move(status).Hint(
      "declare one with WATERMARK FOR in CREATE TABLE; joins and aggregates lose it");
}

Result<WindowSpec> MakeWindow(const Relation& input, int time_column, int64_t size, int64_t slide,
                              int64_t offset, SourceRange range, const SourceText& source) {
  if (size <= 0 || slide <= 0) return ErrorAt(source, range, "size and slide of a window must be positive");
  WindowSpec window;
  window.size = size;
  window.slide = slide;
  window.offset = offset;
  window.time_column = time_column;
  window.local_time_zone = input.scope.columns[time_column].type.id() == TypeId::kTimestampLtz;
  return window;
}

Result<WindowSpec> MakeSession(const Relation& input, int time_column, int64_t gap, SourceRange range,
                               const SourceText& source) {
  if (gap <= 0) return ErrorAt(source, range, "the gap of a session must be positive");
  ASSIGN_OR_RETURN(WindowSpec window, MakeWindow(input, time_column, gap, gap, 0, range, source));
  window.slide = 0;
  return window;
}

Status CheckSessionGroups(const WindowColumns& window, const std::vector<Expr>& keys, bool filtered,
                          SourceRange range, const SourceText& source) {
  if (filtered) {
    return NotBuiltAt(source, range, "WHERE over SESSION")
        .Hint(
            "rows that are left out would still hold a session together; to leave them out before, put the "
            "condition into the query: SESSION((SELECT … WHERE …) PARTITION BY …)");
  }
  std::vector<int> columns;
  bool computed = false;
  for (const Expr& key : keys) {
    computed |= key.kind != Expr::Kind::kColumn;
    const bool bound = key.column == window.start || key.column == window.end || key.column == window.time;
    if (!bound && std::ranges::find(columns, key.column) == columns.end()) columns.push_back(key.column);
  }
  if (!computed && std::ranges::is_permutation(columns, window.partition)) return Status();
  return ErrorAt(source, range,
                 "beside window_start and window_end, GROUP BY of sessions takes the columns of SESSION's "
                 "PARTITION BY, all and no others")
      .Hint(
          "sessions are made of the rows of each partition: SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), "
          "INTERVAL '5' MINUTE)");
}

Status NoSessionRows(SourceRange range, const SourceText& source) {
  return NotBuiltAt(source, range, "reading the rows of SESSION without GROUP BY window_start, window_end");
}

}  // namespace caudal::sql
