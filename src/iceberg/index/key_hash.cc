#include "iceberg/index/key_hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace caudal::iceberg {

KeyHash HashKey(std::string_view key, uint64_t seed) {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(key.data(), key.size(), seed);
  return {hash.high64, hash.low64};
}

uint64_t KeySeed(std::string_view table_uuid) { return XXH3_64bits(table_uuid.data(), table_uuid.size()); }

}  // namespace caudal::iceberg
