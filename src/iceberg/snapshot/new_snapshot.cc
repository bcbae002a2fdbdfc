#include "iceberg/snapshot/new_snapshot.h"

#include <cstdlib>
#include <cstring>

namespace caudal::iceberg {

int64_t NewSnapshotId(const TableMetadata& table, Env* env) {
  while (true) {
    const auto id = static_cast<int64_t>(env->Random() >> 1);
    if (id != 0 && table.FindSnapshot(id) == nullptr) return id;
  }
}

avro::SyncMarker RandomMarker(Env* env) {
  avro::SyncMarker marker;
  const uint64_t random[] = {env->Random(), env->Random()};
  std::memcpy(marker.data(), random, marker.size());
  return marker;
}

int64_t NumberProperty(const TableMetadata& table, const char* name, int64_t fallback) {
  const auto found = table.properties.find(name);
  const int64_t number = found == table.properties.end() ? -1 : std::atoll(found->second.c_str());
  return number < 0 ? fallback : number;
}

}  // namespace caudal::iceberg
