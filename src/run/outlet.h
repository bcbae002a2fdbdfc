// Outlet: where a node's messages go for one of its readers in the plan; counts the rows sent.
//
// Owned by the writing node, one thread. Watermarks and barriers go to every task of the reader, rows to one.
#pragma once

#include <vector>

#include "data/message.h"
#include "data/row_key.h"
#include "run/inlet.h"
#include "run/schedule/lane.h"

namespace caudal {

class Outlet {
 public:
  virtual ~Outlet() = default;
  virtual void Send(const Message& message) = 0;
  // Whether the writer should stop.
  virtual bool full() = 0;
  // What the rows sent must be compared with: plan node and input of the reader.
  int reader = 0;
  int port = 0;
  int64_t rows = 0;
};

// To a node of the same task: one message at a time, so that rows do not pile up between nodes.
class ChainOutlet : public Outlet {
 public:
  explicit ChainOutlet(Inlet* inlet) : inlet_(inlet) {}
  void Send(const Message& message) override { inlet_->queue.push_back(message); }
  bool full() override { return !inlet_->queue.empty(); }

 private:
  Inlet* inlet_;
};

// To one other task.
class LaneOutlet : public Outlet {
 public:
  explicit LaneOutlet(Lane* lane) : lane_(lane) {}
  void Send(const Message& message) override { lane_->Push(message); }
  bool full() override { return lane_->full(); }

 private:
  Lane* lane_;
};

}  // namespace caudal
