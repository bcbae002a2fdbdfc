#include "run/task_node.h"

#include <algorithm>
#include <utility>

#include "base/planted_fault.h"
#include "base/thread_cpu.h"

namespace caudal {

Status FirstError(const Chunk& chunk, const Rejection& rejection) {
  Status error =
      Status::Data(rejection.messages.empty() ? std::string(rejection.name) : rejection.messages[0]);
  if (!rejection.places.empty() && !rejection.places[0].empty())
    error = std::move(error).At(rejection.places[0]);
  if (chunk.origin() != nullptr) error = std::move(error).At(chunk.origin()->Place(chunk.rows()[0]));
  return error;
}

Inlet* TaskNode::AddInlet(int port, Lane* lane) {
  inlets_.push_back(std::make_unique<Inlet>());
  inlets_.back()->port = port;
  inlets_.back()->lane = lane;
  return inlets_.back().get();
}

bool TaskNode::room() const {
  bool room = dead_letter_ == nullptr || !dead_letter_->full();
  // Every outlet is asked: a full lane must know that its writer waits.
  for (const std::unique_ptr<Outlet>& outlet : outlets_) room &= !outlet->full();
  return room;
}

bool TaskNode::has_work() {
  if (phase_ != Phase::kReady) {
    const int64_t at = resume_at();
    return at == 0 || (at != INT64_MAX && at <= job_->env->SteadyNanos());
  }
  return std::any_of(inlets_.begin(), inlets_.end(), [](const std::unique_ptr<Inlet>& inlet) {
    return !inlet->at_barrier && inlet->has_message();
  });
}

Status TaskNode::Step() {
  const int64_t start = job_->env->SteadyNanos();
  // Replayed from a seed, a step is too short to be worth two system calls.
  const bool real = job_->env == Env::Real();
  const int64_t cpu_start = real ? ThreadCpuNanos() : 0;
  Status status = phase_ == Phase::kReady     ? Take()
                  : phase_ == Phase::kBarrier ? Advance(OnBarrier(barrier_, &ack_))
                                              : Advance(Resume());
  const int64_t cpu = real ? ThreadCpuNanos() - cpu_start : 0;
  const int64_t wall = job_->env->SteadyNanos() - start;
  busy_nanos_ += wall;
  cpu_nanos_ += cpu;
  longest_step_nanos_ = std::max(longest_step_nanos_, wall);
  longest_step_cpu_nanos_ = std::max(longest_step_cpu_nanos_, cpu);
  return status.ok() ? std::exchange(refusal_, Status()) : status;
}

Inlet* TaskNode::NextInlet() {
  Inlet* candidates[64];
  uint32_t count = 0;
  for (const std::unique_ptr<Inlet>& inlet : inlets_) {
    if (!inlet->at_barrier && inlet->has_message() && count < 64) candidates[count++] = inlet.get();
  }
  if (count == 0) return nullptr;
  return candidates[count == 1 ? 0 : job_->executor->Choose(count, turn_++)];
}

Status TaskNode::Take() {
  Inlet* inlet = NextInlet();
  Message message;
  if (inlet == nullptr || !inlet->Pop(&message)) return Status();
  if (const Chunk* chunk = std::get_if<Chunk>(&message)) {
    inlet->rows += chunk->size();
    phase_ = Phase::kChunk;
    return Advance(OnChunk(inlet->port, *chunk));
  }
  if (const Watermark* watermark = std::get_if<Watermark>(&message)) return TakeWatermark(inlet, *watermark);
  return TakeBarrier(inlet, std::get<Barrier>(message));
}

// The minimum of the inlets that hold back, as in Flink's StatusWatermarkValve. One that has ended does not,
// but the end has come only when all have ended.
Watermark TaskNode::Combined() const {
  Watermark least{Watermark::kEnd, Watermark::kEnd};
  int64_t furthest_idle = Watermark::kNone;
  bool idle = false;
  for (const std::unique_ptr<Inlet>& each : inlets_) {
    const Watermark& one = each->watermark;
    least.processing = std::min(least.processing, one.processing);
    if (one.idle) {
      idle = true;
      furthest_idle = std::max(furthest_idle, one.event);
    } else {
      least.event = std::min(least.event, one.event);
    }
  }
  if (idle && least.event == Watermark::kEnd) return {furthest_idle, least.processing, true};
  return least;
}

Status TaskNode::TakeWatermark(Inlet* inlet, const Watermark& watermark) {
  inlet->watermark = watermark;
  Watermark least = Combined();
  if (PLANTED_FAULT(watermark_of_one_lane)) least = watermark;
  // After a restore inlets begin without a watermark; the node's own never goes back.
  next_watermark_ = {std::max(watermark_.event, least.event),
                     std::max(watermark_.processing, least.processing), least.idle};
  if (next_watermark_ == watermark_) return Status();
  phase_ = Phase::kFlushForWatermark;
  return Advance(OnFlush(FlushBefore::kWatermark));
}

Status TaskNode::TakeBarrier(Inlet* inlet, const Barrier& barrier) {
  if (PLANTED_FAULT(no_alignment)) {
    if (barrier_.epoch == barrier.epoch) return Status();
    for (const std::unique_ptr<Inlet>& each : inlets_) each->at_barrier = true;
  }
  inlet->at_barrier = true;
  barrier_ = barrier;
  for (const std::unique_ptr<Inlet>& each : inlets_) {
    if (!each->at_barrier) return Status();
  }
  phase_ = Phase::kFlushForBarrier;
  return Advance(OnFlush(FlushBefore::kBarrier));
}

Status TaskNode::Advance(Result<Progress> progress) {
  for (;;) {
    if (!progress.ok()) return std::move(progress).status();
    if (*progress == Progress::kMore) return Status();
    switch (phase_) {
      case Phase::kReady:
        return Status();
      case Phase::kChunk:
        phase_ = Phase::kReady;
        return Status();
      case Phase::kFlushForWatermark:
        phase_ = Phase::kWatermark;
        progress = OnWatermark(next_watermark_);
        break;
      case Phase::kWatermark:
        phase_ = Phase::kReady;
        watermark_ = sent_ = next_watermark_;
        Send(sent_);
        return Status();
      case Phase::kFlushForBarrier:
        phase_ = Phase::kBarrier;
        ack_ = NodeAck();
        progress = OnBarrier(barrier_, &ack_);
        break;
      case Phase::kBarrier:
        phase_ = Phase::kReady;
        for (const std::unique_ptr<Inlet>& inlet : inlets_) inlet->at_barrier = false;
        return Acknowledge(barrier_, std::move(ack_));
    }
  }
}

void TaskNode::SendRows(const Chunk& chunk) {
  if (chunk.empty()) return;
  rows_out_ += chunk.size();
  for (const std::unique_ptr<Outlet>& outlet : outlets_) {
    outlet->rows += chunk.size();
    outlet->Send(chunk);
  }
}

void TaskNode::Send(const Message& message) {
  for (const std::unique_ptr<Outlet>& outlet : outlets_) outlet->Send(message);
  if (dead_letter_ != nullptr) dead_letter_->Send(message);
}

void TaskNode::RejectRows(const Chunk& chunk, const Schema& schema, const Rejection& rejection) {
  if (chunk.empty()) return;
  if (rejection.fate == Fate::kDead && dead_letter_ == nullptr) {
    // Nowhere to keep the rows, so the query must not go on without them.
    if (!refusal_.ok()) return;
    const bool is_letter = job_->dead_letter != nullptr;
    refusal_ =
        FirstError(chunk, rejection)
            .Hint(is_letter ? "it is a dead letter already: let its table take it (a topic: "
                              "'caudal.max-record-bytes', and its max.message.bytes)"
                            : "set 'caudal.errors' = 'dead-letter' on the source to keep such rows aside");
    return;
  }
  *fates_.Get(rejection.fate, rejection.name) += chunk.size();
  if (rejection.fate == Fate::kDead && !first_dead_) {
    const std::string place = chunk.origin() != nullptr  ? chunk.origin()->Place(chunk.rows()[0])
                              : rejection.places.empty() ? std::string()
                                                         : rejection.places[0];
    NoteDead(rejection.name, rejection.messages.empty() ? std::string() : rejection.messages[0], place);
  }
  if (dead_letter_ == nullptr) return;
  const Chunk rows =
      job_->dead_letter->FromRows(chunk, schema, rejection, job_->source_of[static_cast<size_t>(node_)],
                                  {id_, task_, job_->env->NowMillis()});
  dead_letter_->rows += rows.size();
  dead_letter_->Send(rows);
}

void TaskNode::NoteDead(std::string_view error_class, const std::string& message, const std::string& place) {
  if (!first_dead_) first_dead_ = DeadExample{std::string(error_class), message, place};
}

Status TaskNode::PassBarrier(const Barrier& barrier) {
  NodeAck ack;
  RETURN_IF_ERROR(OnBarrier(barrier, &ack).status());
  return Acknowledge(barrier, std::move(ack));
}

Status TaskNode::Acknowledge(const Barrier& barrier, NodeAck ack) {
  ack.node = node_;
  ack.task = task_;
  ack.epoch = barrier.epoch;
  const NodeProgress now = progress();
  ack.watermark = sent_;
  ack.rows_in = now.rows_in;
  ack.rows_out = now.rows_out;
  ack.fates = now.fates;
  ack.first_dead = std::exchange(first_dead_, std::nullopt);
  ack.state_rows = now.state_rows;
  ack.state_bytes = now.state_bytes;
  for (const std::unique_ptr<Outlet>& outlet : outlets_) {
    ack.edges.push_back({outlet->reader, outlet->port, outlet->rows});
  }
  if (dead_letter_ != nullptr)
    ack.edges.push_back({dead_letter_->reader, dead_letter_->port, dead_letter_->rows});
  job_->control->OnAck(std::move(ack));
  Send(barrier);
  return Status();
}

NodeProgress TaskNode::progress() const {
  NodeProgress progress;
  progress.node = node_;
  progress.rows_in.resize(static_cast<size_t>(inputs_));
  for (const std::unique_ptr<Inlet>& inlet : inlets_) {
    progress.rows_in[static_cast<size_t>(inlet->port)] += inlet->rows;
  }
  progress.rows_out = rows_out_;
  for (const FateCounters::Entry& entry : fates_.entries()) {
    progress.fates.push_back({std::string(FateName(entry.fate)), entry.name, entry.rows});
  }
  progress.watermark = sent_;
  progress.busy_nanos = busy_nanos_;
  progress.cpu_nanos = cpu_nanos_;
  progress.longest_step_nanos = longest_step_nanos_;
  progress.longest_step_cpu_nanos = longest_step_cpu_nanos_;
  return progress;
}

}  // namespace caudal
