// SinkTask: hands a task's rows to a sink writer, counts what it publishes and seals it at each barrier.
#pragma once

#include "run/task_node.h"

namespace caudal {

class SinkTask : public TaskNode, private SinkRejects {
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
  void ChargeBuffered();

  std::string target_;
  Schema input_;
  std::unique_ptr<SinkWriter> writer_;
  int64_t* published_;
  int64_t rejected_ = 0;  // of the chunk being written
  int64_t charged_ = 0;
};

}  // namespace caudal
