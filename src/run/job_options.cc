#include "run/job_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "api/boolean_option.h"

namespace caudal {
namespace {

Status Named(Status status, std::string_view key) {
  if (status.ok()) return status;
  return Status::User(fmt::format("'{}': {}", key, status.message()));
}

Status ReadDuration(const Plan& plan, std::string_view key, int64_t* millis) {
  const std::string_view text = plan.setting(key);
  if (text.empty()) return Status();
  Result<int64_t> parsed = ParseDurationMillis(text);
  if (!parsed.ok()) return Named(parsed.status(), key);
  *millis = *parsed;
  return Status();
}

Status ReadBytes(const Plan& plan, std::string_view key, int64_t* bytes) {
  const std::string_view text = plan.setting(key);
  if (text.empty()) return Status();
  Result<int64_t> parsed = ParseBytes(text);
  if (!parsed.ok()) return Named(parsed.status(), key);
  *bytes = *parsed;
  return Status();
}

Status ReadInteger(const Plan& plan, std::string_view key, int64_t* value) {
  const std::string_view text = plan.setting(key);
  if (text.empty()) return Status();
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  if (error == std::errc() && end == text.data() + text.size() && *value >= 0) return Status();
  return Status::User(fmt::format("'{}': '{}' is not a number", key, text));
}

Status ReadRatio(const Plan& plan, std::string_view key, double* value) {
  const std::string_view text = plan.setting(key);
  if (text.empty()) return Status();
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  if (error == std::errc() && end == text.data() + text.size() && *value >= 0 && *value <= 1) return Status();
  return Status::User(fmt::format("'{}': '{}' is no share of rows", key, text))
      .Hint("write a number from 0 (none) to 1 (all), as in '0.05'");
}

Status ReadTableDuration(const Table& table, std::string_view key, int64_t* millis) {
  const std::string_view text = table.option(key);
  if (text.empty()) return Status();
  Result<int64_t> parsed = ParseDurationMillis(text);
  if (!parsed.ok()) return Named(parsed.status(), key).At("table '" + table.name + "'");
  *millis = *parsed;
  return Status();
}

}  // namespace

Result<JobSettings> JobSettings::From(const Plan& plan) {
  JobSettings settings;
  RETURN_IF_ERROR(ReadDuration(plan, "execution.checkpointing.interval", &settings.epochs.interval_millis));
  RETURN_IF_ERROR(ReadDuration(plan, "execution.checkpointing.min-pause", &settings.epochs.min_pause_millis));
  settings.epochs.by_the_clock = std::any_of(plan.nodes.begin(), plan.nodes.end(), [](const PlanNode& node) {
    const AggregateNode* aggregate = node.as<AggregateNode>();
    return aggregate != nullptr && aggregate->early_fire_delay > 0;
  });
  int64_t keep = settings.epochs.keep;
  RETURN_IF_ERROR(ReadInteger(plan, "state.checkpoints.num-retained", &keep));
  settings.epochs.keep = static_cast<int>(std::clamp<int64_t>(keep, 2, 1000));
  settings.evaluator.time_zone = plan.setting("table.local-time-zone", "UTC");
  settings.mini_batch = plan.setting("table.exec.mini-batch.enabled") == "true";
  if (settings.mini_batch) {
    // A flush comes with every watermark.
    int64_t latency = settings.heartbeat_millis;
    RETURN_IF_ERROR(ReadDuration(plan, "table.exec.mini-batch.allow-latency", &latency));
    settings.heartbeat_millis = std::clamp<int64_t>(latency, 1, settings.heartbeat_millis);
  }
  RETURN_IF_ERROR(ReadDuration(plan, "table.exec.source.idle-timeout", &settings.idle_timeout_millis));
  RETURN_IF_ERROR(ReadInteger(plan, "caudal.max-rows-per-epoch", &settings.max_rows_per_epoch));
  RETURN_IF_ERROR(ReadRatio(plan, "caudal.max-dead-ratio", &settings.epochs.dead_rows.ratio));
  RETURN_IF_ERROR(ReadInteger(plan, "caudal.dead-ratio-rows", &settings.epochs.dead_rows.rows));
  settings.epochs.dead_rows.rows = std::max<int64_t>(settings.epochs.dead_rows.rows, 1);
  RETURN_IF_ERROR(ReadBytes(plan, "caudal.memory-limit", &settings.memory_limit));
  RETURN_IF_ERROR(ReadBytes(plan, "caudal.lane-bytes", &settings.lane_bytes));
  return settings;
}

Result<SourceOptions> SourceOptionsOf(const Table& table, const Plan& plan, const JobSettings& settings) {
  SourceOptions options;
  options.batch = plan.batch;
  options.heartbeat_millis = settings.heartbeat_millis;
  options.max_rows_per_epoch = settings.max_rows_per_epoch;
  options.idle_timeout_millis = settings.idle_timeout_millis;
  options.max_skew_millis = 5 * 60'000;
  RETURN_IF_ERROR(ReadTableDuration(table, "scan.watermark.idle-timeout", &options.idle_timeout_millis));
  RETURN_IF_ERROR(ReadTableDuration(table, "caudal.max-future-skew", &options.max_skew_millis));
  RETURN_IF_ERROR(ReadTableDuration(table, "scan.watermark.alignment.max-drift", &options.max_drift_millis));
  const std::string_view errors = table.option("caudal.errors");
  if (errors.empty()) {
    const bool skip = BooleanOption(table, "json.ignore-parse-errors") ||
                      BooleanOption(table, "value.json.ignore-parse-errors");
    options.errors = plan.dead_letter ? ErrorPolicy::kDeadLetter
                     : skip           ? ErrorPolicy::kSkip
                                      : ErrorPolicy::kFail;
  } else if (errors == "fail") {
    options.errors = ErrorPolicy::kFail;
  } else if (errors == "skip") {
    options.errors = ErrorPolicy::kSkip;
  } else if (errors == "dead-letter") {
    options.errors = ErrorPolicy::kDeadLetter;
    if (!plan.dead_letter) {
      return Status::User("table '" + table.name +
                          "' sends bad rows to a dead-letter table and the query has none")
          .Hint("name one, or set 'caudal.errors' to 'fail' or 'skip'");
    }
  } else {
    return Status::User(fmt::format("'caudal.errors' of table '{}' is '{}'", table.name, errors))
        .Hint("it can be 'fail', 'skip' or 'dead-letter'");
  }
  return options;
}

}  // namespace caudal
