#include "connect/redis/redis_sink.h"

#include "api/segment/segment_writer.h"
#include "connect/redis/redis_committer.h"
#include "connect/redis/redis_segment.h"
#include "connect/redis/redis_writer.h"
#include "connect/redis/server/redis_nodes.h"

namespace caudal {

Status RedisSink::CheckTarget() const {
  Status status = RedisNodes::Open(&target_, "").status();
  if (status.ok() || status.domain() == Domain::kExternal) return Status();
  return std::move(status).At(target_.frame());
}

Result<std::unique_ptr<SinkWriter>> RedisSink::MakeWriter(int task) {
  auto segments = std::make_unique<SegmentWriter>(RedisSegmentForm(target_), context_, task);
  return std::unique_ptr<SinkWriter>(std::make_unique<RedisWriter>(std::move(segments), &acknowledged_));
}

Result<std::unique_ptr<SinkCommitter>> RedisSink::MakeCommitter() {
  return std::unique_ptr<SinkCommitter>(std::make_unique<RedisCommitter>(target_, context_, &acknowledged_));
}

}  // namespace caudal
