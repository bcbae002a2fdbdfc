#include "iceberg/index/kept_rows.h"

namespace caudal::iceberg {

bool KeepsRows(const TableMetadata& table, const Snapshot& head, int64_t from) {
  const Snapshot* at = &head;
  for (size_t steps = 0; at != nullptr && steps <= table.snapshots.size(); ++steps) {
    if (at->snapshot_id == from) return true;
    const auto operation = at->summary.find("operation");
    if (operation == at->summary.end()) return false;
    if (operation->second != "append" && operation->second != "replace") return false;
    if (!at->parent_snapshot_id) return from == 0;
    at = table.FindSnapshot(*at->parent_snapshot_id);
  }
  return false;
}

}  // namespace caudal::iceberg
