// Thousands of lives of a table, and faults that must show in some of them.
#include "iceberg/testing/table_life.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace caudal::iceberg {
namespace {

// 'CAUDAL_SEEDS' makes it more.
uint64_t Seeds() {
  const char* said = std::getenv("CAUDAL_SEEDS");
  const long long seeds = said == nullptr ? 0 : std::atoll(said);
  return seeds > 0 ? static_cast<uint64_t>(seeds) : 200;
}

TEST(TableLife, EveryKeyIsThereOnceWhoeverMaintainsTheTable) {
  int64_t compacted = 0, expired = 0, moved = 0, followed = 0;
  for (uint64_t seed = 0; seed < Seeds(); ++seed) {
    TableLife life(seed, seed % 4 == 0 ? 2 : 3, {});
    ASSERT_EQ(life.Run(), "") << "seed " << seed;
    compacted += life.compacted();
    expired += life.expired();
    moved += life.moved();
    followed += life.followed();
  }
  const auto lives = static_cast<int64_t>(Seeds());
  EXPECT_GT(compacted, lives) << "more than one in each life";
  EXPECT_GT(expired, lives);
  EXPECT_GT(moved, lives / 4) << "rows that were deleted while they were rewritten";
  EXPECT_GT(followed, lives / 4) << "an index went along with a compaction";
}

TEST(TableLife, PlantedFaultsAreCaught) {
  struct Fault {
    LifePlants plants;
    int format_version;  // in 3 a catalog refuses a stale head by its row ids too
    const char* name;
  };
  const Fault faults[] = {{{.ignore_head = true}, 2, "a stale head is asserted"},
                          {{.forget_tokens = true}, 3, "tokens are not searched"},
                          {{.expire_tokens = true}, 3, "the newest tokens expire"},
                          {{.collect_in_flight = true}, 3, "files of commits on their way are orphans"},
                          {{.lose_moved = true}, 3, "rows deleted meanwhile come back"},
                          {{.keep_index = true}, 3, "the index does not follow"}};
  for (const Fault& fault : faults) {
    int caught = 0;
    for (uint64_t seed = 0; seed < 12; ++seed)
      caught += TableLife(seed, fault.format_version, fault.plants).Run().empty() ? 0 : 1;
    EXPECT_GT(caught, 0) << fault.name;
  }
}

}  // namespace
}  // namespace caudal::iceberg
