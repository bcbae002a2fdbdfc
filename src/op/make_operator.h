// MakeOperator: from what a plan says to the object that does it; the one place that knows every operator.
//
// Called once a task for each node of the chain; the caller owns the result and then calls Open. The plan
// outlives the operator. Scan, Values and Sink nodes are run/'s own and no operators. Internal error if the
// plan contradicts itself, User error for what an aggregate refuses.
#pragma once

#include <memory>

#include "api/operator.h"
#include "api/plan.h"

namespace caudal {

Result<std::unique_ptr<Operator>> MakeOperator(const Plan& plan, int node);

}  // namespace caudal
