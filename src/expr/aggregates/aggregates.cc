// The table of aggregates: the one visible list.
#include "base/check.h"
#include "expr/aggregates/bind.h"

namespace caudal {
namespace {

const AggregateFunction kAggregates[] = {
    {"COUNT", "How many rows, or how many values that are not NULL.",
     "SELECT COUNT(*), COUNT(a) FROM (VALUES (1), (CAST(NULL AS INT))) AS t(a)", "2, 1", BindCount},
    {"SUM", "The sum; NULL of nothing; integers wrap, a decimal beyond 38 digits is NULL.",
     "SELECT SUM(a) FROM (VALUES (1), (2)) AS t(a)", "3", BindSum},
    {"AVG",
     "The mean, of the argument's type: of integers cut toward zero, of decimals with at least 6 digits.",
     "SELECT AVG(a) FROM (VALUES (1), (2)) AS t(a)", "1", BindAverage},
    {"MIN", "The smallest value.", "SELECT MIN(a) FROM (VALUES ('b'), ('a')) AS t(a)", "a", BindMin},
    {"MAX", "The largest value.", "SELECT MAX(a) FROM (VALUES (1.5), (2.5)) AS t(a)", "2.5", BindMax},
    {"FIRST_VALUE", "The first value that is not NULL.",
     "SELECT FIRST_VALUE(a) FROM (VALUES (7), (8)) AS t(a)", "7", BindFirstValue},
    {"LAST_VALUE", "The last value that is not NULL.", "SELECT LAST_VALUE(a) FROM (VALUES (7), (8)) AS t(a)",
     "8", BindLastValue},
    {"APPROX_COUNT_DISTINCT", "How many different values, within 1.6 % (standard error); exact up to 256.",
     "SELECT APPROX_COUNT_DISTINCT(a) FROM (VALUES (1), (1), (2)) AS t(a)", "2", BindApproxCountDistinct},
    {"LISTAGG", "The texts in the order in which they came, joined by ',' or the second argument.",
     "SELECT LISTAGG(a, '-') FROM (VALUES ('x'), ('y')) AS t(a)", "x-y", BindListAgg},
    {"VAR_POP", "The population variance.", "SELECT VAR_POP(a) FROM (VALUES (1E0), (3E0)) AS t(a)", "1.0",
     BindVarPop},
    {"VAR_SAMP", "The sample variance; NULL of one value.",
     "SELECT VAR_SAMP(a) FROM (VALUES (1E0), (3E0)) AS t(a)", "2.0", BindVarSamp},
    {"STDDEV_POP", "The population standard deviation.",
     "SELECT STDDEV_POP(a) FROM (VALUES (1E0), (3E0)) AS t(a)", "1.0", BindStddevPop},
    {"STDDEV_SAMP", "The sample standard deviation; NULL of one value.",
     "SELECT STDDEV_SAMP(a) FROM (VALUES (1E0), (9E0)) AS t(a)", "5.656854249492381", BindStddevSamp},
};

}  // namespace

void Aggregator::Retract(char* const*, std::span<const ColumnPtr>, RowSet) const { CHECK(can_retract()); }

void Aggregator::Assign(char* into, const char* from) const {
  Destroy(into);
  Init(into);
  Merge(into, from);
}

std::span<const AggregateFunction> AggregateFunctions() { return kAggregates; }

const AggregateFunction* FindAggregateFunction(std::string_view name) {
  if (name == "VARIANCE") name = "VAR_SAMP";
  if (name == "STDDEV") name = "STDDEV_SAMP";
  for (const AggregateFunction& function : kAggregates) {
    if (function.name == name) return &function;
  }
  return nullptr;
}

}  // namespace caudal
