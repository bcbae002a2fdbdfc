// OperatorNode: runs one Operator: gives it chunks, watermarks and flushes, is its Output, snapshots its
// tables at a barrier.
#pragma once

#include "api/plan.h"
#include "run/task_node.h"

namespace caudal {

class OperatorNode : public TaskNode, private Output {
 public:
  // `input`: schema of the rows that the operator may reject (its first input's).
  OperatorNode(const JobContext* job, int node, int task, const PlanNode& plan, Schema input,
               std::unique_ptr<Operator> op)
      : TaskNode(job, node, task, plan.id, static_cast<int>(plan.inputs.size())),
        input_(std::move(input)),
        operator_(std::move(op)) {}

  ~OperatorNode() override;

  Status Open(KeyGroupRange groups, bool mini_batch);
  // `segments`: by position of the manifest's segments of this node.
  Status RestoreState(const NodeState& state, const std::vector<std::string>& segments);

  const Operator& op() const { return *operator_; }
  std::vector<StateTable*> tables() const { return operator_->state(); }
  NodeProgress progress() const override;
  int64_t wake_at() override;

 protected:
  Result<Progress> OnChunk(int port, const Chunk& chunk) override {
    return operator_->OnChunk(port, chunk, *this);
  }
  Result<Progress> OnWatermark(const Watermark& watermark) override;
  Result<Progress> OnFlush(FlushBefore next) override { return operator_->OnFlush(next, *this); }
  Result<Progress> Resume() override { return operator_->Resume(*this); }
  int64_t resume_at() const override;
  Result<Progress> OnBarrier(const Barrier& barrier, NodeAck* ack) override;

 private:
  void Emit(Chunk chunk) override { SendRows(chunk); }
  void Reject(const Chunk& chunk, Rejection rejection) override { RejectRows(chunk, input_, rejection); }
  bool full() const override { return !room(); }

  Schema input_;
  std::unique_ptr<Operator> operator_;
  KeyGroupRange groups_;
  size_t snapshot_table_ = 0;    // the one whose turn it is
  bool snapshot_waits_ = false;  // until what it made before has been written
};

}  // namespace caudal
