#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "iceberg/maintenance/expire.h"
#include "server/cli/lake/for_each_table.h"
#include "server/cli/usage/duration_argument.h"

namespace caudal {
namespace {

using iceberg::ExpireReport;

void PrintExpired(const LakeTable& table, const ExpireReport& report, bool dry, Console& console) {
  const auto& plan = report.plan;
  if (console.json) {
    console.Out(nlohmann::ordered_json{{"table", table.shown},
                                       {"dry_run", dry},
                                       {"snapshots", plan.snapshots},
                                       {"refs", plan.refs},
                                       {"files", report.files},
                                       {"not_removed", report.stuck},
                                       {"not_read", report.unread}}
                    .dump() +
                "\n");
    return;
  }
  console.Out(fmt::format("{}: {} snapshots and {} files {}\n", table.shown,
                          GroupDigits(static_cast<int64_t>(plan.snapshots.size())),
                          GroupDigits(static_cast<int64_t>(report.files.size())), dry ? "would go" : "went"));
  for (const std::string& ref : plan.refs) console.Out(fmt::format("  ref '{}'\n", ref));
  for (const std::string& location : report.stuck)
    console.Note(fmt::format("{}: '{}' could not be removed: it is an orphan now", table.shown, location));
  for (const std::string& location : report.unread)
    console.Note(fmt::format("{}: '{}' could not be read: files that it alone named {} orphans", table.shown,
                             location, dry ? "would be" : "are"));
}

}  // namespace

int ExpireTables(const TableCommand& command, Console& console) {
  iceberg::ExpireOptions options;
  options.dry = command.dry;
  options.wait = [](int64_t millis) { std::this_thread::sleep_for(std::chrono::milliseconds(millis)); };
  if (command.keep_last > 0) options.policy.min_snapshots_to_keep = command.keep_last;
  if (!command.older_than.empty()) {
    const Result<int64_t> age = ParseDurationArgument(command.older_than, "--older-than");
    if (!age.ok()) return console.Fail(age.status(), ExitCode::kUsage);
    options.policy.max_snapshot_age_ms = *age;
  }
  return ForEachTable(command, console, [&](const LakeTable& table) {
    const Result<ExpireReport> report =
        iceberg::ExpireSnapshots(&table.lake->catalog(), table.lake->files(), table.options.name, options);
    if (!report.ok()) {
      const bool outside = report.status().domain() == Domain::kExternal;
      return console.Fail(report.status(), outside ? ExitCode::kInternal : RefusalCode(report.status()));
    }
    PrintExpired(table, *report, command.dry, console);
    return static_cast<int>(ExitCode::kOk);
  });
}

}  // namespace caudal
