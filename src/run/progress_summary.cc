#include "run/progress_summary.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "run/epoch/accounting.h"

namespace caudal {
namespace {

// `elapsed`: nanoseconds.
void Add(const NodeProgress& part, int64_t blocked_nanos, double elapsed, OperatorProgress* sum) {
  ++sum->tasks;
  sum->rows_in.resize(std::max(sum->rows_in.size(), part.rows_in.size()));
  for (size_t i = 0; i < part.rows_in.size(); ++i) sum->rows_in[i] += part.rows_in[i];
  sum->rows_out += part.rows_out;
  AddFates(part.fates, &sum->fates);
  sum->watermark.event = std::min(sum->watermark.event, part.watermark.event);
  sum->watermark.processing = std::min(sum->watermark.processing, part.watermark.processing);
  sum->busy += static_cast<double>(part.busy_nanos) / elapsed;
  sum->blocked += static_cast<double>(blocked_nanos) / elapsed;
  sum->cpu_micros += part.cpu_nanos / 1000;
  sum->longest_step_micros = std::max(sum->longest_step_micros, part.longest_step_nanos / 1000);
  sum->longest_step_cpu_micros = std::max(sum->longest_step_cpu_micros, part.longest_step_cpu_nanos / 1000);
  sum->state_rows += part.state_rows;
  sum->state_bytes += part.state_bytes;
  sum->bytes_read += part.bytes_read;
  sum->ignored_values += part.ignored_values;
  sum->warnings.insert(sum->warnings.end(), part.warnings.begin(), part.warnings.end());
  auto add = [](int64_t value, int64_t* into) {
    if (value >= 0) *into = std::max<int64_t>(*into, 0) + value;
  };
  add(part.backlog.rows, &sum->backlog.rows);
  add(part.backlog.bytes, &sum->backlog.bytes);
  add(part.backlog.files, &sum->backlog.files);
  sum->backlog.millis = std::max(sum->backlog.millis, part.backlog.millis);
  sum->backlog.settled = sum->backlog.settled && part.backlog.settled;
  if (sum->trouble.ok()) sum->trouble = part.trouble;
  sum->splits.insert(sum->splits.end(), part.splits.begin(), part.splits.end());
}

}  // namespace

OperatorProgress SumOfTasks(size_t node, const NodeState& fingerprint, const NodeState* base,
                            const std::vector<TaskProgress>& tasks, int64_t elapsed_nanos) {
  OperatorProgress sum;
  sum.id = fingerprint.id;
  sum.label = fingerprint.label;
  sum.watermark = {Watermark::kEnd, Watermark::kEnd};
  if (base != nullptr) {
    sum.rows_in = base->rows_in;
    sum.rows_out = base->rows_out;
    sum.fates = base->fates;
  }
  const double elapsed = static_cast<double>(std::max<int64_t>(1, elapsed_nanos));
  for (const TaskProgress& task : tasks) {
    if (task.nodes.empty()) sum.backlog.settled = false;  // it has not begun
    for (const NodeProgress& part : task.nodes) {
      if (part.node != static_cast<int>(node)) continue;
      Add(part, task.blocked_nanos, elapsed, &sum);
    }
  }
  if (sum.tasks > 0) {
    sum.busy /= sum.tasks;
    sum.blocked /= sum.tasks;
  } else {
    sum.watermark = {};
  }
  sum.idle = std::max(0.0, 1.0 - sum.busy - sum.blocked);
  std::sort(sum.splits.begin(), sum.splits.end(),
            [](const SplitProgress& a, const SplitProgress& b) { return a.id < b.id; });
  return sum;
}

void SetDurable(const CheckpointProgress& checkpoints, size_t node, int64_t now_millis,
                OperatorProgress* progress) {
  std::map<std::string_view, const SplitState*> committed;
  if (node < checkpoints.nodes.size()) {
    for (const SplitState& state : checkpoints.nodes[node].splits) committed[state.id] = &state;
  }
  const SplitState none;
  for (SplitProgress& split : progress->splits) {
    const auto found = committed.find(split.id);
    const SplitState& state = found == committed.end() ? none : *found->second;
    split.SetDurable(state.records, state.arrival_millis, now_millis);
  }
}

}  // namespace caudal
