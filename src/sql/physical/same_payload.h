// Whether two plan nodes would do the same work on the same input: what sharing and plan diff ask.
#pragma once

#include "api/plan.h"

namespace caudal::sql {

bool SamePayload(const PlanPayload& left, const PlanPayload& right);

}  // namespace caudal::sql
