#include "sql/physical/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "api/connector.h"
#include "data/text/time_zone.h"

namespace caudal::sql {
namespace {

using Kind = Setting::Kind;
using Role = Setting::Role;

constexpr int64_t kAnyNumber = INT64_MAX;

// What caudal reads.
constexpr Setting kRead[] = {
    {"execution.runtime-mode", Role::kRead, Kind::kWord, "streaming",
     "`batch`: the result once, at the end of the input, and nothing is late; a bare SELECT is a batch "
     "unless this is "
     "set",
     "streaming|batch"},
    {"pipeline.name", Role::kRead, Kind::kText, "", "the query's name; otherwise its first sink's"},
    {"parallelism.default", Role::kRead, Kind::kInteger, "1",
     "tasks of each keyed operator, 1 to 128; -1 = not set", "", -1, 128},
    {"table.exec.resource.default-parallelism", Role::kRead, Kind::kInteger, "-1",
     "the same, and goes before `parallelism.default`", "", -1, 128},
    {"table.local-time-zone", Role::kRead, Kind::kZone, "UTC",
     "zone of TIMESTAMP_LTZ as text, of its windows and of dates of now; `default` = UTC"},
    {"execution.checkpointing.interval", Role::kRead, Kind::kDuration, "30 s", "time between commits"},
    {"execution.checkpointing.min-pause", Role::kRead, Kind::kDuration, "0 ms",
     "least time between the end of a commit and the next"},
    {"state.checkpoints.num-retained", Role::kRead, Kind::kInteger, "3",
     "checkpoints that are kept, at least 2", "", 1, 1000},
    {"table.exec.state.ttl", Role::kRead, Kind::kDuration, "0 ms",
     "state without a window that is not touched for so long is forgotten; 0 = never"},
    {"table.exec.emit.early-fire.enabled", Role::kRead, Kind::kBoolean, "false",
     "GROUP BY TUMBLE or HOP also gives results before the window is over"},
    {"table.exec.emit.early-fire.delay", Role::kRead, Kind::kDuration, "",
     "processing time between early results; must be set where they are enabled"},
    {"table.exec.mini-batch.enabled", Role::kRead, Kind::kBoolean, "false",
     "updates of a key are folded before they leave an operator"},
    {"table.exec.mini-batch.allow-latency", Role::kRead, Kind::kDuration, "0 ms",
     "how long for, at most 200 ms"},
    {"table.exec.source.idle-timeout", Role::kRead, Kind::kDuration, "0 ms",
     "a split without rows for so long does not hold the watermark back; 0 = it does"},
    {"table.exec.sink.not-null-enforcer", Role::kRead, Kind::kWord, "ERROR",
     "NULL for a NOT NULL column of a sink: an error of the row, or the row is dropped (and counted)",
     "ERROR|DROP"},
    {"caudal.max-rows-per-epoch", Role::kRead, Kind::kInteger, "0",
     "rows after which a commit begins; 0 = any"},
    {"caudal.max-dead-ratio", Role::kRead, Kind::kText, "1",
     "share of the rows read, 0 to 1, that may be dead before the query stops; 1 = any"},
    {"caudal.dead-ratio-rows", Role::kRead, Kind::kInteger, "1000",
     "over how many rows, at least, the share is taken", "", 1, kAnyNumber},
    {"caudal.memory-limit", Role::kRead, Kind::kBytes, "2 gb", "memory of the query, state included"},
    {"caudal.lane-bytes", Role::kRead, Kind::kBytes, "16 mb",
     "bytes between two tasks before the first waits"},
};

// What changes results in Flink and is not built.
constexpr Setting kUnbuilt[] = {
    {"table.exec.sink.type-length-enforcer", Role::kUnbuilt, Kind::kWord, "IGNORE",
     "what to do with text longer than its column", "IGNORE|TRIM_PAD|ERROR"},
    {"table.exec.sink.upsert-materialize", Role::kUnbuilt, Kind::kWord, "AUTO",
     "whether changes are folded by the sink's key", "AUTO|NONE|FORCE"},
    {"table.exec.emit.late-fire.enabled", Role::kUnbuilt, Kind::kBoolean, "false",
     "results of windows for late rows"},
    {"table.exec.emit.late-fire.delay", Role::kUnbuilt, Kind::kDuration, "", "how often"},
    {"table.exec.emit.allow-lateness", Role::kUnbuilt, Kind::kDuration, "0 ms",
     "how long after its end a window takes rows"},
    {"table.exec.source.cdc-events-duplicate", Role::kUnbuilt, Kind::kBoolean, "false",
     "whether a changelog source may repeat itself"},
    {"table.exec.legacy-cast-behaviour", Role::kUnbuilt, Kind::kWord, "disabled",
     "casts of Flink before 1.15", "disabled|enabled"},
    {"table.sql-dialect", Role::kUnbuilt, Kind::kWord, "default", "the grammar", "default|hive"},
    {"table.column-expansion-strategy", Role::kUnbuilt, Kind::kText, "", "which columns `*` leaves out"},
    {"table.dynamic-table-options.enabled", Role::kUnbuilt, Kind::kBoolean, "true",
     "whether OPTIONS hints count"},
    {"pipeline.time-characteristic", Role::kUnbuilt, Kind::kText, "", "before Flink 1.12"},
};

// What tunes Flink's own runtime.
constexpr Setting kIdle[] = {
    {"table.exec.mini-batch.size", Role::kIdle, Kind::kInteger, "-1", "a batch ends by its latency", "", -1,
     kAnyNumber},
    {"table.exec.deduplicate.*", Role::kIdle},
    {"table.exec.rank.*", Role::kIdle},
    {"table.exec.async-*", Role::kIdle},
    {"table.exec.sort.*", Role::kIdle},
    {"table.exec.spill-*", Role::kIdle},
    {"table.exec.window-agg.*", Role::kIdle},
    {"table.exec.local-hash-agg.*", Role::kIdle},
    {"table.exec.operator-fusion-codegen.enabled", Role::kIdle},
    {"table.exec.interval-join.*", Role::kIdle},
    {"table.exec.resource.*", Role::kIdle},
    {"table.exec.uid.*", Role::kIdle},
    {"table.exec.simplify-operator-name-enabled", Role::kIdle},
    {"table.exec.disabled-operators", Role::kIdle},
    {"table.exec.shuffle-mode", Role::kIdle},
    {"table.exec.sink.keyed-shuffle", Role::kIdle, Kind::kWord, "AUTO", "", "AUTO|NONE|FORCE"},
    {"table.exec.sink.rowtime-inserter", Role::kIdle, Kind::kWord, "ENABLED", "", "ENABLED|DISABLED"},
    {"table.optimizer.*", Role::kIdle},
    {"table.generated-code.*", Role::kIdle},
    {"table.plan.*", Role::kIdle},
    {"table.display.*", Role::kIdle},
    {"table.dml-sync", Role::kIdle},
    {"table.resources.*", Role::kIdle},
    {"table.rtas-ctas.*", Role::kIdle},
    {"execution.checkpointing.mode", Role::kIdle, Kind::kWord, "EXACTLY_ONCE", "always exactly once",
     "EXACTLY_ONCE|AT_LEAST_ONCE"},
    {"execution.checkpointing.timeout", Role::kIdle},
    {"execution.checkpointing.dir", Role::kIdle},
    {"execution.checkpointing.savepoint-dir", Role::kIdle},
    {"execution.checkpointing.storage", Role::kIdle},
    {"execution.checkpointing.incremental", Role::kIdle},
    {"execution.checkpointing.max-concurrent-checkpoints", Role::kIdle},
    {"execution.checkpointing.tolerable-failed-checkpoints", Role::kIdle},
    {"execution.checkpointing.externalized-checkpoint-retention", Role::kIdle},
    {"execution.checkpointing.interval-during-backlog", Role::kIdle},
    {"execution.checkpointing.snapshot-compression", Role::kIdle},
    {"execution.checkpointing.unaligned*", Role::kIdle},
    {"execution.checkpointing.file-merging.*", Role::kIdle},
    {"execution.checkpointing.local-backup.*", Role::kIdle},
    {"execution.buffer-timeout*", Role::kIdle},
    {"execution.batch-shuffle-mode", Role::kIdle},
    {"execution.batch.*", Role::kIdle},
    {"execution.sorted-inputs.*", Role::kIdle},
    {"execution.target", Role::kIdle},
    {"execution.attached", Role::kIdle},
    {"execution.shutdown-on-attached-exit", Role::kIdle},
    {"pipeline.jars", Role::kIdle},
    {"pipeline.classpaths", Role::kIdle},
    {"pipeline.object-reuse", Role::kIdle},
    {"pipeline.max-parallelism", Role::kIdle},
    {"pipeline.operator-chaining*", Role::kIdle},
    {"pipeline.auto-watermark-interval", Role::kIdle},
    {"pipeline.auto-generate-uids", Role::kIdle},
    {"pipeline.generic-types", Role::kIdle},
    {"pipeline.force-*", Role::kIdle},
    {"pipeline.serialization-config", Role::kIdle},
    {"state.backend*", Role::kIdle},
    {"state.checkpoint-storage", Role::kIdle},
    {"state.checkpoints.dir", Role::kIdle},
    {"state.savepoints.dir", Role::kIdle},
    {"state.storage.*", Role::kIdle},
    {"sql-client.*", Role::kIdle},
    {"sql-gateway.*", Role::kIdle},
    {"restart-strategy*", Role::kIdle},
    {"taskmanager.*", Role::kIdle},
    {"jobmanager.*", Role::kIdle},
    {"rest.*", Role::kIdle},
    {"metrics.*", Role::kIdle},
    {"cluster.*", Role::kIdle},
    {"heartbeat.*", Role::kIdle},
    {"env.*", Role::kIdle},
    {"fs.*", Role::kIdle},
    {"s3.*", Role::kIdle},
    {"yarn.*", Role::kIdle},
    {"kubernetes.*", Role::kIdle},
    {"high-availability*", Role::kIdle},
};

const std::vector<Setting>& All() {
  static const std::vector<Setting> all = [] {
    std::vector<Setting> made(std::begin(kRead), std::end(kRead));
    made.insert(made.end(), std::begin(kUnbuilt), std::end(kUnbuilt));
    made.insert(made.end(), std::begin(kIdle), std::end(kIdle));
    return made;
  }();
  return all;
}

bool SameLetters(std::string_view a, std::string_view b) {
  auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

Status NotA(const Setting& setting, std::string_view key, std::string_view value, std::string_view what) {
  Status status = Status::User(fmt::format("'{}' must be {}, not '{}'", key, what, value));
  if (!setting.default_value.empty())
    status = std::move(status).Hint(fmt::format("its default is '{}'", setting.default_value));
  return status;
}

Result<std::string> CheckWord(const Setting& setting, std::string_view key, std::string_view value,
                              std::string_view words) {
  std::string known;
  for (std::string_view rest = words; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find('|'));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    if (SameLetters(word, value)) return std::string(word);
    known += fmt::format("{}'{}'", known.empty() ? "" : rest.empty() ? " or " : ", ", word);
  }
  return NotA(setting, key, value, known);
}

Result<std::string> CheckInteger(const Setting& setting, std::string_view key, std::string_view value) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool whole = error == std::errc() && end == value.data() + value.size();
  // -1 stands for "not set" where it is allowed; 0 then is nothing.
  const bool gap = setting.least < 0 && number == 0 && setting.most != kAnyNumber;
  if (whole && !gap && number >= setting.least && number <= setting.most) return std::string(value);
  return NotA(setting, key, value,
              setting.most == kAnyNumber
                  ? fmt::format("a whole number of at least {}", setting.least)
                  : fmt::format("{} to {}", std::max<int64_t>(setting.least, 1), setting.most));
}

Result<std::string> CheckValue(const Setting& setting, std::string_view key, std::string_view value) {
  switch (setting.kind) {
    case Kind::kBoolean:
      return CheckWord(setting, key, value, "true|false");
    case Kind::kWord:
      return CheckWord(setting, key, value, setting.words);
    case Kind::kInteger:
      return CheckInteger(setting, key, value);
    case Kind::kDuration:
      if (!ParseDurationMillis(value).ok()) return NotA(setting, key, value, "a time such as '30 s'");
      return std::string(value);
    case Kind::kBytes:
      if (!ParseBytes(value).ok()) return NotA(setting, key, value, "a size such as '512 mb'");
      return std::string(value);
    case Kind::kZone:
      if (SameLetters(value, "default")) return std::string("UTC");
      RETURN_IF_ERROR(TimeZone::Find(value).status());
      return std::string(value);
    case Kind::kText:
      return std::string(value);
  }
  return std::string(value);
}

bool IsDefault(const Setting& setting, const std::string& value) {
  if (setting.kind == Kind::kDuration && !setting.default_value.empty())
    return *ParseDurationMillis(value) == *ParseDurationMillis(setting.default_value);
  return value == setting.default_value;
}

}  // namespace

std::span<const Setting> Settings() { return All(); }

const Setting* FindSetting(std::string_view key) {
  for (const Setting& setting : All()) {
    const bool family = setting.key.ends_with('*');
    if (family ? key.starts_with(setting.key.substr(0, setting.key.size() - 1)) : key == setting.key)
      return &setting;
  }
  return nullptr;
}

Result<std::string> CheckSetting(std::string_view key, std::string_view value) {
  const Setting* setting = FindSetting(key);
  if (setting == nullptr) return Status::User(fmt::format("unknown setting '{}'", key));
  ASSIGN_OR_RETURN(std::string kept, CheckValue(*setting, key, value));
  if (setting->role == Role::kUnbuilt && !IsDefault(*setting, kept)) {
    Status status = Status::User(fmt::format("'{}' = '{}' is not built yet", key, value));
    if (setting->default_value.empty()) return status;
    return std::move(status).Hint(fmt::format("only '{}', the default, is", setting->default_value));
  }
  return kept;
}

}  // namespace caudal::sql
