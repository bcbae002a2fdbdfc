#include "api/plan.h"

namespace caudal {

std::string_view PlanNode::label() const {
  static constexpr std::string_view kLabels[] = {"Scan",      "Values", "Calc",        "Window",
                                                 "Aggregate", "TopN",   "Deduplicate", "Materialize",
                                                 "Union",     "Sort",   "Lookup",      "Sink"};
  static_assert(std::size(kLabels) == std::variant_size_v<PlanPayload>);
  return kLabels[payload.index()];
}

}  // namespace caudal
