// CutOver: a table's branch and its query's checkpoint changed over together: to what was rebuilt, or back.
//
//   journal written → branch moved in the catalog → checkpoints renamed → journal removed
//
// Whoever dies in between leaves the journal, which says all that is to be done: the next call completes it,
// and nothing runs on the state folder until then. REQUIRES: the state folder's lock is held.
#pragma once

#include <optional>
#include <string>

#include "iceberg/refs/branch_move.h"
#include "server/cli/rebuild/rebuild_plan.h"

namespace caudal {

struct CutOver {
  enum class Kind { kThere, kBack } kind = Kind::kThere;
  iceberg::BranchMove move;

  // To the rebuilt branch. User error if there is nothing to change over to, or it has rows of the branch
  // that it is to take the place of.
  static Result<CutOver> There(const RebuildPlan& plan, const iceberg::TableMetadata& table, int64_t now_ms,
                               int64_t keep_ms);
  // Back to what was left. User error if that is gone.
  static Result<CutOver> Back(const RebuildPlan& plan, const iceberg::TableMetadata& table);
  // The one that is not complete; nothing if there is none. User error for one of another query.
  static Result<std::optional<CutOver>> Begun(const RebuildPlan& plan);

  // Does it, or what is left of it. After an error it is still begun, unless it is certain that the branch
  // has not been moved.
  Status Complete(const RebuildPlan& plan) const;
};

}  // namespace caudal
