// RefCommit: a change of a table's refs, planned for the table as it is, and again for the table as it is
// then, until it is done or refused for good.
//
// One thread; blocks.
#pragma once

#include <functional>
#include <optional>

#include "iceberg/refs/table_refs.h"

namespace caudal::iceberg {

// What is to be done; nothing: it is done. `sent`: an attempt before this one may have been taken.
using PlanOfRefs = std::function<Result<std::optional<TableCommit>>(const TableMetadata& table, bool sent)>;

// External error (backoff) if others were quicker again and again, or the outcome is not certain: the same
// call may be repeated.
Status CommitRefs(Catalog* catalog, const TableName& name, const PlanOfRefs& plan, const RefOptions& options);

}  // namespace caudal::iceberg
