// The binders behind the table of aggregates, one for each file aggregates/*.cc.
#pragma once

#include "expr/aggregate_function.h"

namespace caudal {

using BoundAggregate = Result<std::unique_ptr<Aggregator>>;
using AggregateArgs = std::span<const Type>;

BoundAggregate BindCount(AggregateArgs args, bool distinct, bool retracting);
BoundAggregate BindSum(AggregateArgs args, bool distinct, bool retracting);
BoundAggregate BindAverage(AggregateArgs args, bool distinct, bool retracting);
BoundAggregate BindMin(AggregateArgs args, bool distinct, bool retracting);
BoundAggregate BindMax(AggregateArgs args, bool distinct, bool retracting);
BoundAggregate BindFirstValue(AggregateArgs args, bool distinct, bool retracting);
BoundAggregate BindLastValue(AggregateArgs args, bool distinct, bool retracting);
BoundAggregate BindApproxCountDistinct(AggregateArgs args, bool distinct, bool retracting);
BoundAggregate BindListAgg(AggregateArgs args, bool distinct, bool retracting);
BoundAggregate BindVarPop(AggregateArgs args, bool distinct, bool retracting);
BoundAggregate BindVarSamp(AggregateArgs args, bool distinct, bool retracting);
BoundAggregate BindStddevPop(AggregateArgs args, bool distinct, bool retracting);
BoundAggregate BindStddevSamp(AggregateArgs args, bool distinct, bool retracting);

// `inner` fed with each different value once; User error for a value with parts. REQUIRES: `inner` takes one
// argument of type `arg`.
BoundAggregate MakeDistinct(std::unique_ptr<Aggregator> inner, const Type& arg);

// The type of AVG and the variances: as the argument, but DECIMAL(38, max(6, scale)).
Type AverageType(const Type& arg);

}  // namespace caudal
