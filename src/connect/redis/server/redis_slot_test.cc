#include "connect/redis/server/redis_slot.h"

#include <gtest/gtest.h>

namespace caudal {
namespace {

TEST(RedisSlot, AsTheClustersSpecificationSays) {
  EXPECT_EQ(RedisSlotOf("123456789"), 0x31c3);  // the specification's own example
  EXPECT_EQ(RedisSlotOf(""), 0);
  EXPECT_EQ(RedisSlotOf("{user1000}.following"), RedisSlotOf("{user1000}.followers"));
  EXPECT_EQ(RedisSlotOf("{user1000}.following"), RedisSlotOf("user1000"));
  EXPECT_EQ(RedisSlotOf("foo{{bar}}zap"), RedisSlotOf("{bar"));
  EXPECT_EQ(RedisSlotOf("foo{bar}{zap}"), RedisSlotOf("bar"));
  EXPECT_NE(RedisSlotOf("foo{}{bar}"), RedisSlotOf("bar"));  // an empty tag is none
  EXPECT_NE(RedisSlotOf("foo{bar"), RedisSlotOf("bar"));
}

TEST(RedisSlot, EachHasATag) {
  for (int slot = 0; slot < kRedisSlots; ++slot) {
    ASSERT_EQ(RedisSlotOf("caudal:ledger:{" + RedisSlotTag(slot) + "}:any"), slot);
  }
}

}  // namespace
}  // namespace caudal
