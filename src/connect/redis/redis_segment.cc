#include "connect/redis/redis_segment.h"

namespace caudal {

SegmentForm RedisSegmentForm(const RedisTarget& target) {
  SegmentForm form;
  form.connector = "redis";
  form.magic = kRedisSegmentMagic;
  form.header = target.layout.ToJson();
  form.origin = target.origin();
  form.declared = target.declared;
  form.key = target.layout.key;
  return form;
}

}  // namespace caudal
