#include "watch/metrics_text.h"

#include <fmt/format.h>

#include <functional>

namespace caudal {
namespace {

std::string Escaped(std::string_view value) {
  std::string escaped;
  for (const char c : value) {
    if (c == '\\' || c == '"') escaped += '\\';
    if (c == '\n') {
      escaped += "\\n";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

// One metric: its help, its kind, then its samples.
class Metric {
 public:
  Metric(std::string* out, std::string_view name, std::string_view kind, std::string_view help)
      : out_(out), name_(name) {
    fmt::format_to(std::back_inserter(*out_), "# HELP {} {}\n# TYPE {} {}\n", name, help, name, kind);
  }
  void Add(const std::string& labels, double value) {
    fmt::format_to(std::back_inserter(*out_), "{}{{{}}} {}\n", name_, labels, value);
  }
  void Add(const std::string& labels, int64_t value) {
    fmt::format_to(std::back_inserter(*out_), "{}{{{}}} {}\n", name_, labels, value);
  }

 private:
  std::string* out_;
  std::string_view name_;
};

std::string Labels(const JobProgress& job) { return fmt::format("query=\"{}\"", Escaped(job.query)); }
std::string Labels(const JobProgress& job, const OperatorProgress& node) {
  return fmt::format("query=\"{}\",operator=\"{}\",kind=\"{}\"", Escaped(job.query), Escaped(node.id),
                     node.label);
}

void AddOperators(const std::vector<JobProgress>& jobs, std::string* out) {
  const auto each =
      [&jobs](Metric metric,
              const std::function<void(Metric&, const std::string&, const OperatorProgress&)>& add) {
        for (const JobProgress& job : jobs) {
          for (const OperatorProgress& node : job.operators) add(metric, Labels(job, node), node);
        }
      };
  each({out, "caudal_rows_in_total", "counter", "Rows that the operator took; of a source, that it read."},
       [](Metric& metric, const std::string& labels, const OperatorProgress& node) {
         int64_t rows = 0;
         if (node.label == "Scan") {
           rows = node.rows_out;
           for (const CountedFate& fate : node.fates) rows += fate.rows;
         }
         for (const int64_t in : node.rows_in) rows += in;
         metric.Add(labels, rows);
       });
  each({out, "caudal_rows_out_total", "counter", "Rows that the operator gave."},
       [](Metric& metric, const std::string& labels, const OperatorProgress& node) {
         metric.Add(labels, node.rows_out);
       });
  each({out, "caudal_bytes_read_total", "counter", "Bytes that a source read from outside."},
       [](Metric& metric, const std::string& labels, const OperatorProgress& node) {
         if (node.label == "Scan") metric.Add(labels, node.bytes_read);
       });
  each({out, "caudal_ignored_values_total", "counter",
        "Values that could not be read and became NULL, because 'json.ignore-parse-errors' is set."},
       [](Metric& metric, const std::string& labels, const OperatorProgress& node) {
         if (node.label == "Scan") metric.Add(labels, node.ignored_values);
       });
  {
    Metric written(out, "caudal_bytes_written_total", "counter", "Bytes that a sink made visible.");
    for (const JobProgress& job : jobs) {
      for (const OperatorProgress& node : job.operators) {
        const auto bytes = job.checkpoints.bytes_written.find(node.id);
        if (bytes != job.checkpoints.bytes_written.end()) written.Add(Labels(job, node), bytes->second);
      }
    }
  }
  each({out, "caudal_busy_ratio", "gauge", "Share of its tasks' time that the operator worked."},
       [](Metric& metric, const std::string& labels, const OperatorProgress& node) {
         metric.Add(labels, node.busy);
       });
  each({out, "caudal_blocked_ratio", "gauge", "Share of time that its tasks waited for room downstream."},
       [](Metric& metric, const std::string& labels, const OperatorProgress& node) {
         metric.Add(labels, node.blocked);
       });
  each({out, "caudal_idle_ratio", "gauge", "Share of time without work."},
       [](Metric& metric, const std::string& labels, const OperatorProgress& node) {
         metric.Add(labels, node.idle);
       });
  each({out, "caudal_state_rows", "gauge", "Rows that the operator remembers."},
       [](Metric& metric, const std::string& labels, const OperatorProgress& node) {
         metric.Add(labels, node.state_rows);
       });
  each({out, "caudal_state_bytes", "gauge", "Bytes that the operator remembers."},
       [](Metric& metric, const std::string& labels, const OperatorProgress& node) {
         metric.Add(labels, node.state_bytes);
       });
  each({out, "caudal_rows_fate_total", "counter", "Input rows by what became of them on the path to a sink."},
       [](Metric& metric, const std::string& labels, const OperatorProgress& node) {
         if (!node.takes_input_rows) return;
         for (const std::string& sink : node.sinks) {
           for (const CountedFate& fate : node.fates) {
             metric.Add(fmt::format("{},sink=\"{}\",fate=\"{}\",name=\"{}\"", labels, Escaped(sink),
                                    fate.fate, Escaped(fate.name)),
                        fate.rows);
           }
         }
       });
}

void AddSources(const std::vector<JobProgress>& jobs, int64_t now_millis, std::string* out) {
  const auto each = [&jobs](Metric metric, const std::function<int64_t(const OperatorProgress&)>& value,
                            double unit) {
    for (const JobProgress& job : jobs) {
      for (const OperatorProgress& node : job.operators) {
        if (node.label != "Scan") continue;
        const int64_t known = value(node);
        if (known >= 0) metric.Add(Labels(job, node), static_cast<double>(known) / unit);
      }
    }
  };
  each(
      {out, "caudal_backlog_rows", "gauge", "Rows that wait at the source, where it can tell."},
      [](const OperatorProgress& node) { return node.backlog.rows; }, 1);
  each(
      {out, "caudal_backlog_bytes", "gauge", "Bytes that wait at the source, where it can tell."},
      [](const OperatorProgress& node) { return node.backlog.bytes; }, 1);
  each(
      {out, "caudal_backlog_files", "gauge", "Files that wait at the source."},
      [](const OperatorProgress& node) { return node.backlog.files; }, 1);
  each(
      {out, "caudal_backlog_seconds", "gauge", "Age of the oldest input that waits."},
      [](const OperatorProgress& node) { return node.backlog.millis; }, 1000);
  each(
      {out, "caudal_watermark_lag_seconds", "gauge", "Wall clock minus the source's watermark."},
      [now_millis](const OperatorProgress& node) {
        const int64_t event = node.watermark.event;
        return event == Watermark::kNone || event == Watermark::kEnd
                   ? -1
                   : std::max<int64_t>(0, now_millis - event);
      },
      1000);
}

// One sample a split whose reader can tell; 0 rows are 0 seconds, what is not known is left out.
void AddSplits(const std::vector<JobProgress>& jobs, int64_t now_millis, std::string* out) {
  const auto each = [&jobs](Metric metric, const std::function<int64_t(const SplitProgress&)>& value,
                            double unit) {
    for (const JobProgress& job : jobs) {
      for (const OperatorProgress& node : job.operators) {
        for (const SplitProgress& split : node.splits) {
          const int64_t known = value(split);
          if (known < 0) continue;
          metric.Add(fmt::format("{},split=\"{}\"", Labels(job, node), Escaped(split.id)),
                     static_cast<double>(known) / unit);
        }
      }
    }
  };
  each(
      {out, "caudal_split_lag_rows", "gauge", "Rows of the split that wait to be read."},
      [](const SplitProgress& split) { return split.backlog.rows; }, 1);
  each(
      {out, "caudal_split_lag_seconds", "gauge", "Age of the last row read of the split; 0 if none waits."},
      [](const SplitProgress& split) { return split.backlog.millis; }, 1000);
  each(
      {out, "caudal_split_durable_lag_rows", "gauge", "Rows of the split that no committed epoch holds."},
      [](const SplitProgress& split) { return split.durable.rows; }, 1);
  each(
      {out, "caudal_split_durable_lag_seconds", "gauge",
       "Age of the last row of the split that a committed epoch holds; 0 if none waits."},
      [](const SplitProgress& split) { return split.durable.millis; }, 1000);
  each(
      {out, "caudal_split_gaps_total", "counter", "Offsets of the split without a record that were passed."},
      [](const SplitProgress& split) { return split.backlog.rows < 0 && split.gaps == 0 ? -1 : split.gaps; },
      1);
  each(
      {out, "caudal_split_watermark_lag_seconds", "gauge", "Wall clock minus the watermark of the split."},
      [now_millis](const SplitProgress& split) {
        return split.watermark == Watermark::kNone ? -1 : std::max<int64_t>(0, now_millis - split.watermark);
      },
      1000);
  each(
      {out, "caudal_split_idle", "gauge", "1 while the split is silent and does not hold the watermark."},
      [](const SplitProgress& split) { return split.idle ? 1 : 0; }, 1);
}

void AddClients(const std::vector<JobProgress>& jobs, std::string* out) {
  Metric clients(out, "caudal_client_info", "gauge",
                 "1; the labels tell what a source or a sink is connected with.");
  for (const JobProgress& job : jobs) {
    for (const OperatorProgress& node : job.operators) {
      if (node.client.empty()) continue;
      std::string labels = Labels(job, node);
      for (const auto& [name, value] : node.client) {
        labels += fmt::format(",{}=\"{}\"", name, Escaped(value));
      }
      clients.Add(labels, int64_t{1});
    }
  }
}

void AddLosses(const std::vector<JobProgress>& jobs, std::string* out) {
  Metric ranges(out, "caudal_lost_ranges_total", "counter", "Ranges of lost records that were passed over.");
  for (const JobProgress& job : jobs) {
    for (const OperatorProgress& node : job.operators) {
      for (const SplitProgress& split : node.splits) {
        if (split.losses.empty()) continue;
        ranges.Add(fmt::format("{},split=\"{}\"", Labels(job, node), Escaped(split.id)),
                   static_cast<int64_t>(split.losses.size()));
      }
    }
  }
}

void AddJobs(const std::vector<JobProgress>& jobs, std::string* out) {
  const auto each = [&jobs](Metric metric, const std::function<double(const JobProgress&)>& value) {
    for (const JobProgress& job : jobs) metric.Add(Labels(job), value(job));
  };
  const auto last = [](const JobProgress& job) {
    return job.checkpoints.recent.empty() ? EpochSample{} : job.checkpoints.recent.back();
  };
  each({out, "caudal_up", "gauge", "1 while the query runs."},
       [](const JobProgress& job) { return job.state == JobState::kRunning ? 1 : 0; });
  each({out, "caudal_checkpoints_committed_total", "counter", "Epochs that this process made visible."},
       [](const JobProgress& job) { return job.checkpoints.committed; });
  each({out, "caudal_checkpoints_abandoned_total", "counter",
        "Epochs that were given up; the next one covers them."},
       [](const JobProgress& job) { return job.checkpoints.abandoned; });
  each({out, "caudal_checkpoint_ok", "gauge", "1 if the last epoch succeeded."},
       [](const JobProgress& job) { return job.checkpoints.last_failure.ok() ? 1 : 0; });
  each({out, "caudal_checkpoint_epoch", "gauge", "Number of the last epoch."},
       [](const JobProgress& job) { return job.checkpoints.last.number; });
  each({out, "caudal_checkpoint_duration_seconds", "gauge", "Barrier to visible commit of the last epoch."},
       [&](const JobProgress& job) { return static_cast<double>(last(job).duration_millis) / 1000; });
  each({out, "caudal_checkpoint_timestamp_seconds", "gauge", "When the last epoch became visible."},
       [&](const JobProgress& job) { return static_cast<double>(last(job).committed_millis) / 1000; });
  each({out, "caudal_memory_used_bytes", "gauge", "Memory charged to the query."},
       [](const JobProgress& job) { return job.memory_used; });
  each({out, "caudal_memory_limit_bytes", "gauge", "What the query may hold."},
       [](const JobProgress& job) { return job.memory_limit; });
  each({out, "caudal_longest_step_seconds", "gauge", "The longest time that a task did not yield."},
       [](const JobProgress& job) { return static_cast<double>(job.longest_step_micros) / 1e6; });
}

}  // namespace

std::string MetricsText(const std::vector<JobProgress>& jobs, int64_t now_millis) {
  std::string out;
  AddJobs(jobs, &out);
  AddSources(jobs, now_millis, &out);
  AddSplits(jobs, now_millis, &out);
  AddLosses(jobs, &out);
  AddClients(jobs, &out);
  AddOperators(jobs, &out);
  return out;
}

}  // namespace caudal
