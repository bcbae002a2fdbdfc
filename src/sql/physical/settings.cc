#include "sql/physical/settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/connector.h"
#include "data/text/time_zone.h"

namespace caudal::sql {
namespace {

constexpr std::string_view kNames[] = {"caudal.lane-bytes",
                                       "caudal.max-rows-per-epoch",
                                       "caudal.memory-limit",
                                       "execution.checkpointing.interval",
                                       "execution.checkpointing.min-pause",
                                       "execution.runtime-mode",
                                       "parallelism.default",
                                       "pipeline.name",
                                       "state.checkpoints.num-retained",
                                       "table.exec.emit.early-fire.delay",
                                       "table.exec.emit.early-fire.enabled",
                                       "table.exec.mini-batch.allow-latency",
                                       "table.exec.mini-batch.enabled",
                                       "table.exec.resource.default-parallelism",
                                       "table.exec.sink.not-null-enforcer",
                                       "table.exec.source.idle-timeout",
                                       "table.exec.state.ttl",
                                       "table.local-time-zone"};

// Prefixes of Flink's settings; those that only tune Flink's own runtime are taken and mean nothing here.
constexpr std::string_view kPrefixes[] = {
    "table.",       "execution.",  "pipeline.", "parallelism.", "state.",   "sql-client.", "restart-strategy",
    "taskmanager.", "jobmanager.", "rest.",     "sql-gateway.", "metrics.", "env.",        "cluster.",
    "heartbeat.",   "s3.",         "fs.",       "peers."};

// Settings of Flink that change results and are not built, unless they have their default.
struct Unbuilt {
  std::string_view key, default_value;
};
constexpr Unbuilt kUnbuilt[] = {{"table.exec.emit.late-fire.enabled", "false"},
                                {"table.exec.emit.allow-lateness", "0"},
                                {"table.exec.source.cdc-events-duplicate", "false"},
                                {"table.exec.legacy-cast-behaviour", "disabled"}};

constexpr std::string_view kDurations[] = {
    "table.exec.emit.early-fire.delay",  "execution.checkpointing.interval",
    "execution.checkpointing.min-pause", "table.exec.mini-batch.allow-latency",
    "table.exec.source.idle-timeout",    "table.exec.state.ttl"};
constexpr std::string_view kBooleans[] = {"table.exec.emit.early-fire.enabled",
                                          "table.exec.mini-batch.enabled"};

}  // namespace

std::span<const std::string_view> SettingNames() { return kNames; }

Status CheckSetting(std::string_view key, std::string_view value) {
  bool known = std::find(std::begin(kNames), std::end(kNames), key) != std::end(kNames);
  for (std::string_view prefix : kPrefixes) known = known || key.starts_with(prefix);
  if (!known) return Status::User(fmt::format("unknown setting '{}'", key));
  for (const Unbuilt& unbuilt : kUnbuilt) {
    if (key != unbuilt.key || value.starts_with(unbuilt.default_value)) continue;
    return Status::User(fmt::format("'{}' = '{}' is not built yet", key, value));
  }
  if (key == "execution.runtime-mode" && value != "streaming" && value != "batch") {
    return Status::User(fmt::format("'{}' must be 'streaming' or 'batch', not '{}'", key, value));
  }
  if (key == "table.exec.sink.not-null-enforcer" && value != "ERROR" && value != "DROP") {
    return Status::User(fmt::format("'{}' must be 'ERROR' or 'DROP', not '{}'", key, value));
  }
  for (std::string_view boolean : kBooleans) {
    if (key != boolean || value == "true" || value == "false") continue;
    return Status::User(fmt::format("'{}' must be 'true' or 'false', not '{}'", key, value));
  }
  for (std::string_view duration : kDurations) {
    if (key == duration) RETURN_IF_ERROR(ParseDurationMillis(value).status());
  }
  if (key == "table.local-time-zone" && value != "default") return TimeZone::Find(value).status();
  return Status();
}

}  // namespace caudal::sql
