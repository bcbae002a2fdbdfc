// The handle of a snapshot that several lists have. What it points to does not change once a list is copied,
// so that copies may be read by any thread.
#pragma once

#include <memory>

namespace caudal::iceberg {

struct HeldSnapshot;
using HeldSnapshotPtr = std::shared_ptr<HeldSnapshot>;

}  // namespace caudal::iceberg
