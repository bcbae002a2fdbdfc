// Router: sends each row to the task that owns its key group, as selections over shared columns.
//
// Owned by the writing node, one thread. The spreading (RowKeys::KeyGroup and the ranges of GroupsOfTask) is
// version 1 for ever: checkpoints rely on it.
#pragma once

#include <vector>

#include "run/outlet.h"
#include "state/state_table.h"

namespace caudal {

// The key groups of task `task` of `tasks`: contiguous, in order, as even as they can be.
KeyGroupRange GroupsOfTask(int task, int tasks);

class Router : public Outlet {
 public:
  // One lane a reading task, in order. `keys`: columns of the rows.
  Router(std::vector<int> keys, std::vector<Lane*> lanes);
  void Send(const Message& message) override;
  bool full() override;

 private:
  void SendRows(const Chunk& chunk);

  std::vector<int> keys_;
  std::vector<Lane*> lanes_;
  std::vector<int> task_of_group_;
  RowKeys row_keys_;
  std::vector<std::vector<uint16_t>> rows_of_task_;
};

}  // namespace caudal
