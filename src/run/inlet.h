// Inlet: where a node takes the messages of one writer from: a lane from another task or a queue within its
// own.
//
// Owned by the reading node, one thread. Keeps what must be kept for each writer apart: its watermark,
// whether its barrier has come, the rows taken.
#pragma once

#include <deque>
#include <utility>

#include "run/schedule/lane.h"

namespace caudal {

struct Inlet {
  int port = 0;          // which of the plan node's inputs
  Lane* lane = nullptr;  // null: `queue` is filled by a node of the same task
  std::deque<Message> queue;
  Watermark watermark;
  bool at_barrier = false;  // nothing more is taken until every inlet is
  int64_t rows = 0;

  bool has_message() { return lane != nullptr ? !lane->empty() : !queue.empty(); }
  bool Pop(Message* message) {
    if (lane != nullptr) return lane->Pop(message);
    if (queue.empty()) return false;
    *message = std::move(queue.front());
    queue.pop_front();
    return true;
  }
};

}  // namespace caudal
