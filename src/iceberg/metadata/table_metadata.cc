#include "iceberg/metadata/table_metadata.h"

#include <algorithm>

namespace caudal::iceberg {
namespace {

template <typename List, typename Match>
auto FindIf(const List& list, Match match) -> const typename List::value_type* {
  const auto found = std::find_if(list.begin(), list.end(), match);
  return found == list.end() ? nullptr : &*found;
}

}  // namespace

const Schema* TableMetadata::FindSchema(int32_t id) const {
  return FindIf(schemas, [id](const Schema& schema) { return schema.schema_id == id; });
}

const PartitionSpec* TableMetadata::FindSpec(int32_t id) const {
  return FindIf(partition_specs, [id](const PartitionSpec& spec) { return spec.spec_id == id; });
}

const Snapshot* TableMetadata::FindSnapshot(int64_t id) const {
  // Of many the last ones are asked for.
  for (auto at = snapshots.end(); at != snapshots.begin();) {
    if ((--at)->snapshot_id == id) return &*at;
  }
  return nullptr;
}

const SnapshotRef* TableMetadata::FindRef(const std::string& name) const {
  const auto found = refs.find(name);
  return found == refs.end() ? nullptr : &found->second;
}

}  // namespace caudal::iceberg
