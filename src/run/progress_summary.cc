#include "run/progress_summary.h"

#include <algorithm>

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
  return sum;
}

}  // namespace caudal
