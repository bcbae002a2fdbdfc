#include "run/sink_task.h"

#include "base/fault_point.h"

namespace caudal {
namespace {

constexpr int64_t kFullPause = 5'000'000;

}  // namespace

SinkTask::SinkTask(const JobContext* job, int node, int task, std::string id, int inputs, std::string target,
                   Schema input, std::unique_ptr<SinkWriter> writer)
    : TaskNode(job, node, task, std::move(id), inputs),
      target_(std::move(target)),
      input_(std::move(input)),
      writer_(std::move(writer)),
      published_(fates_.Get(Fate::kPublished)) {}

SinkTask::~SinkTask() {
  if (job_->budget != nullptr) job_->budget->Charge(-charged_);
}

bool SinkTask::room() const { return TaskNode::room() && !writer_->full(); }

// Nobody says when a writer has room again.
int64_t SinkTask::wake_at() {
  return writer_->full() ? job_->env->SteadyNanos() + kFullPause : TaskNode::wake_at();
}

void SinkTask::ChargeBuffered() {
  const int64_t bytes = writer_->buffered_bytes();
  if (job_->budget != nullptr) job_->budget->Charge(bytes - charged_);
  charged_ = bytes;
}

Result<Progress> SinkTask::OnChunk(int, const Chunk& chunk) {
  not_taken_ = 0;
  Status status = writer_->Write(chunk, *this);
  if (!status.ok()) return std::move(status).At("sink " + target_);
  *published_ += chunk.size() - not_taken_;
  ChargeBuffered();
  return Progress::kDone;
}

void SinkTask::Reject(const Chunk& chunk, RowSet rows, std::string message) {
  auto selection = std::make_unique<Selection>();
  for (int32_t i = 0; i < rows.count; ++i) selection->rows.push_back(static_cast<uint16_t>(rows[i]));
  not_taken_ += rows.count;
  RejectRows(chunk.WithSelection(SelectionPtr(std::move(selection))), input_,
             {Fate::kDead, "sink", {std::move(message)}});
}

void SinkTask::Duplicate(int32_t rows) {
  not_taken_ += rows;
  *fates_.Get(Fate::kDuplicate, "unique") += rows;
}

Result<Progress> SinkTask::OnBarrier(const Barrier& barrier, NodeAck* ack) {
  FAULT_POINT(sink_seal);
  ack->sealed_bytes = writer_->buffered_bytes();
  Result<std::unique_ptr<SealedEpoch>> sealed = writer_->Seal(barrier.epoch);
  if (!sealed.ok()) return sealed.status().At("sink " + target_);
  ack->sealed = std::move(*sealed);
  ChargeBuffered();
  return Progress::kDone;
}

}  // namespace caudal
