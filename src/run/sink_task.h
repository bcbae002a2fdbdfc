// SinkTask: hands a task's rows to a sink writer, counts what it publishes and seals it at each barrier.
#pragma once

#include "api/duplicate_counter.h"
#include "run/task_node.h"

namespace caudal {

// Its roles for the sink are public, so that a sink finds the one by the other.
class SinkTask : public TaskNode, public SinkRejects, public DuplicateCounter {
 public:
  // `target`: for error frames ("filesystem silver"). `input`: schema of the rows.
  SinkTask(const JobContext* job, int node, int task, std::string id, int inputs, std::string target,
           Schema input, std::unique_ptr<SinkWriter> writer);
  ~SinkTask() override;

  int64_t wake_at() override;

 protected:
  Result<Progress> OnChunk(int port, const Chunk& chunk) override;
  bool room() const override;
  Result<Progress> OnBarrier(const Barrier& barrier, NodeAck* ack) override;

 private:
  void Reject(const Chunk& chunk, RowSet rows, std::string message) override;
  void Duplicate(int32_t rows) override;
  void ChargeBuffered();

  std::string target_;
  Schema input_;
  std::unique_ptr<SinkWriter> writer_;
  int64_t* published_;
  int64_t not_taken_ = 0;  // of the chunk being written
  int64_t charged_ = 0;
};

}  // namespace caudal
