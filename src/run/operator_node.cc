#include "run/operator_node.h"

#include "base/planted_fault.h"

namespace caudal {

Status OperatorNode::Open(KeyGroupRange groups, bool mini_batch) {
  groups_ = groups;
  OperatorContext context;
  context.env = job_->env;
  context.budget = job_->budget;
  context.groups = groups;
  context.evaluator = job_->evaluator;
  context.fates = &fates_;
  context.mini_batch = mini_batch;
  context.make_lookup = job_->make_lookup;
  context.submit = [this](std::function<void()> job) {
    job_->executor->Submit(this, [this, job = std::move(job)] {
      job();
      job_->executor->Wake(owner_);
    });
  };
  return operator_->Open(context);
}

// Jobs use the operator, and wake the task.
OperatorNode::~OperatorNode() { job_->executor->CancelJobs(this); }

int64_t OperatorNode::wake_at() {
  const int64_t at = call_under_way() ? operator_->resume_at() : 0;
  return at == 0 ? INT64_MAX : at;
}

Status OperatorNode::RestoreState(const NodeState& state, const std::vector<std::string>& segments) {
  for (StateTable* table : operator_->state()) {
    std::vector<std::string> records;
    for (size_t i = 0; i < segments.size(); ++i) {
      if (state.segments[i].table == table->name()) records.push_back(segments[i]);
    }
    Status status = table->Restore(records, groups_);
    if (!status.ok())
      return std::move(status).At("table '" + std::string(table->name()) + "' of '" + id() + "'");
  }
  if (!PLANTED_FAULT(watermark_not_saved)) TaskNode::Restore(state);
  return operator_->OnRestore(watermark_);
}

Result<Progress> OperatorNode::OnWatermark(const Watermark& watermark) {
  return operator_->OnWatermark(watermark, *this);
}

int64_t OperatorNode::resume_at() const {
  if (!snapshot_waits_) return operator_->resume_at();
  return job_->control->TakesSegment() ? 0 : INT64_MAX;
}

// A segment a step: other nodes of the thread have their turn in between.
Result<Progress> OperatorNode::OnBarrier(const Barrier& barrier, NodeAck* ack) {
  ack->kind = job_->control->snapshot_kind(node());
  const std::vector<StateTable*> tables = operator_->state();
  for (; snapshot_table_ < tables.size(); ++snapshot_table_) {
    snapshot_waits_ = !job_->control->TakesSegment();
    if (snapshot_waits_) return Progress::kMore;
    StateTable* table = tables[snapshot_table_];
    std::string records = table->NextSegment(ack->kind);
    if (records.empty()) continue;
    job_->control->OnSegment(
        {node(), barrier.epoch, ack->kind, std::string(table->name()), std::move(records)});
    return Progress::kMore;
  }
  snapshot_table_ = 0;
  return Progress::kDone;
}

NodeProgress OperatorNode::progress() const {
  NodeProgress progress = TaskNode::progress();
  progress.trouble = operator_->trouble();
  for (const StateTable* table : operator_->state()) {
    progress.state_rows += table->rows();
    progress.state_bytes += table->bytes();
  }
  return progress;
}

}  // namespace caudal
