// Window bounds from the arguments of TUMBLE, HOP and SESSION, in a GROUP BY or as table functions.
#pragma once

#include "api/plan_node.h"
#include "base/status.h"
#include "expr/expr.h"
#include "sql/parse/source_text.h"
#include "sql/query_binder.h"
#include "sql/scope.h"

namespace caudal::sql {

// Milliseconds of a constant INTERVAL DAY TO SECOND. `what` is for the message: "the size of TUMBLE".
Result<int64_t> IntervalMillis(const Expr& expr, SourceRange range, const SourceText& source,
                               std::string_view what);

// User error unless the column is the input's time attribute.
Status RequireTimeAttribute(const PlanBuilder& builder, const Relation& input, int column, SourceRange range,
                            const SourceText& source, std::string_view function);

// Size and slide must be positive; the column is the time attribute of the input.
Result<WindowSpec> MakeWindow(const Relation& input, int time_column, int64_t size, int64_t slide,
                              int64_t offset, SourceRange range, const SourceText& source);

// The same with a gap in place of size and slide.
Result<WindowSpec> MakeSession(const Relation& input, int time_column, int64_t gap, SourceRange range,
                               const SourceText& source);

// User error unless GROUP BY has `keys`, beside the bounds of the session, in whose place it stands: exactly
// the columns of its PARTITION BY. `filtered`: rows of a session were left out.
Status CheckSessionGroups(const WindowColumns& window, const std::vector<Expr>& keys, bool filtered,
                          SourceRange range, const SourceText& source);
// What may be done with the rows of SESSION else.
Status NoSessionRows(SourceRange range, const SourceText& source);

}  // namespace caudal::sql
