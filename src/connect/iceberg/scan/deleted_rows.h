// DeletedRows: the positions of a data file that its deletes take away.
//
// Pure but for the files it reads; blocks.
#pragma once

#include "base/status.h"
#include "fs/file_system.h"
#include "iceberg/deletes/position_set.h"
#include "iceberg/scan/scan_plan.h"

namespace caudal {

// User error for an equality delete, which is not read yet; Data error for a file of deletes that is damaged.
Result<iceberg::PositionSet> ReadDeletedRows(FileSystem* files, const iceberg::ScanPlan& plan,
                                             const iceberg::ScanFile& file);

}  // namespace caudal
