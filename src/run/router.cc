#include "run/router.h"

#include <algorithm>

namespace caudal {

KeyGroupRange GroupsOfTask(int task, int tasks) {
  return {task * kKeyGroups / tasks, (task + 1) * kKeyGroups / tasks - 1};
}

Router::Router(std::vector<int> keys, std::vector<Lane*> lanes)
    : keys_(std::move(keys)),
      lanes_(std::move(lanes)),
      task_of_group_(kKeyGroups),
      rows_of_task_(lanes_.size()) {
  const int tasks = static_cast<int>(lanes_.size());
  for (int task = 0; task < tasks; ++task) {
    const KeyGroupRange groups = GroupsOfTask(task, tasks);
    for (int group = groups.first; group <= groups.last; ++group) task_of_group_[group] = task;
  }
}

void Router::Send(const Message& message) {
  if (const Chunk* chunk = std::get_if<Chunk>(&message)) {
    SendRows(*chunk);
  } else {
    for (Lane* lane : lanes_) lane->Push(message);
  }
}

void Router::SendRows(const Chunk& chunk) {
  if (lanes_.size() == 1) {
    lanes_[0]->Push(chunk);
    return;
  }
  const RowSet rows = chunk.rows();
  row_keys_.Encode(chunk, keys_, rows);
  for (std::vector<uint16_t>& list : rows_of_task_) list.clear();
  for (int32_t i = 0; i < rows.count; ++i) {
    const int task = task_of_group_[static_cast<size_t>(row_keys_.key_group(i))];
    rows_of_task_[static_cast<size_t>(task)].push_back(static_cast<uint16_t>(rows[i]));
  }
  for (size_t task = 0; task < lanes_.size(); ++task) {
    std::vector<uint16_t>& list = rows_of_task_[task];
    if (list.empty()) continue;
    auto selection = std::make_unique<Selection>();
    selection->rows = list;
    Chunk part = chunk.WithSelection(SelectionPtr(std::move(selection)));
    // A few rows must not pin the columns of many.
    const bool sparse = part.size() < part.physical_rows() / 4;
    lanes_[task]->Push(sparse ? part.Compact() : std::move(part));
  }
}

bool Router::full() {
  bool full = false;
  for (Lane* lane : lanes_) full |= lane->full();
  return full;
}

}  // namespace caudal
