#include "iceberg/metadata/snapshot_list.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "iceberg/metadata/snapshot_json.h"

namespace caudal::iceberg {

const std::string& SnapshotList::Text(size_t i) const {
  HeldSnapshot& held = *held_[i];
  std::call_once(held.written, [&held] { held.text = SnapshotToJson(held.snapshot).dump(); });
  return held.text;
}

bool SnapshotList::operator==(const SnapshotList& other) const {
  return std::equal(held_.begin(), held_.end(), other.held_.begin(), other.held_.end(),
                    [](const auto& a, const auto& b) { return a == b || a->snapshot == b->snapshot; });
}

}  // namespace caudal::iceberg
