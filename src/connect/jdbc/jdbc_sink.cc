#include "connect/jdbc/jdbc_sink.h"

#include "api/segment/segment_writer.h"
#include "connect/jdbc/jdbc_committer.h"
#include "connect/jdbc/jdbc_segment.h"
#include "connect/jdbc/jdbc_table.h"

namespace caudal {

Result<std::unique_ptr<SinkWriter>> JdbcSink::MakeWriter(int task) {
  return std::unique_ptr<SinkWriter>(
      std::make_unique<SegmentWriter>(JdbcSegmentForm(target_), context_, task));
}

Status JdbcSink::CheckTarget() const {
  Status status = CheckDatabase(target_, FileSystem::Local());
  if (status.ok() || status.domain() == Domain::kExternal) return Status();
  return std::move(status).At(target_.frame());
}

Result<std::unique_ptr<SinkCommitter>> JdbcSink::MakeCommitter() {
  return JdbcCommitter::Make(target_, context_);
}

}  // namespace caudal
