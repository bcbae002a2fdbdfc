#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "iceberg/refs/table_refs.h"
#include "server/cli/lake/for_each_table.h"
#include "server/cli/usage/duration_argument.h"

namespace caudal {
namespace {

using Json = nlohmann::ordered_json;

iceberg::RefOptions Patient() {
  return {.wait = [](int64_t millis) { std::this_thread::sleep_for(std::chrono::milliseconds(millis)); }};
}

int RefuseRef(const Status& status, Console& console) {
  const bool outside = status.domain() == Domain::kExternal;
  return console.Fail(status, outside ? ExitCode::kInternal : RefusalCode(status));
}

// Nothing said, nothing kept.
Status TakeAge(const std::string& text, const char* option, std::optional<int64_t>* age) {
  if (text.empty()) return Status();
  ASSIGN_OR_RETURN(*age, ParseDurationArgument(text, option));
  return Status();
}

Result<iceberg::NewRef> NewRefOf(const RefCommand& command) {
  iceberg::NewRef made{.name = command.name, .type = command.type, .snapshot_id = std::nullopt};
  if (command.snapshot_id != 0) made.snapshot_id = command.snapshot_id;
  if (!command.from.empty()) made.from = command.from;
  made.empty = command.empty;
  if (command.keep_last > 0) made.min_snapshots_to_keep = command.keep_last;
  RETURN_IF_ERROR(TakeAge(command.max_ref_age, "--max-ref-age", &made.max_ref_age_ms));
  RETURN_IF_ERROR(TakeAge(command.max_snapshot_age, "--max-snapshot-age", &made.max_snapshot_age_ms));
  return made;
}

// "12345, 3 min" of what a ref says itself.
std::string Kept(const iceberg::SnapshotRef& ref) {
  std::string kept;
  const auto add = [&](const char* what, const std::optional<int64_t>& number, const char* unit) {
    if (number) kept += fmt::format(", {} {}{}", what, *number, unit);
  };
  add("dropped after", ref.max_ref_age_ms, " ms");
  add("snapshots expire after", ref.max_snapshot_age_ms, " ms");
  add("keeps the last", ref.min_snapshots_to_keep, "");
  return kept;
}

Json OrNull(const std::optional<int64_t>& number) { return number ? Json(*number) : Json(nullptr); }

void PrintRef(const LakeTable& table, const std::string& name, const iceberg::SnapshotRef& ref,
              Console& console) {
  if (!console.json) {
    console.Out(fmt::format("{}: {} '{}' at snapshot {}{}\n", table.shown, ref.type, name, ref.snapshot_id,
                            Kept(ref)));
    return;
  }
  console.Out(Json{{"table", table.shown},
                   {ref.type, name},
                   {"snapshot", ref.snapshot_id},
                   {"max_ref_age_ms", OrNull(ref.max_ref_age_ms)},
                   {"max_snapshot_age_ms", OrNull(ref.max_snapshot_age_ms)},
                   {"min_snapshots_to_keep", OrNull(ref.min_snapshots_to_keep)}}
                  .dump() +
              "\n");
}

}  // namespace

int CreateTableRef(const RefCommand& command, Console& console) {
  const Result<iceberg::NewRef> made = NewRefOf(command);
  if (!made.ok()) return console.Fail(made.status(), ExitCode::kUsage);
  return ForEachTable(command.on, console, [&](const LakeTable& table) {
    const Result<int64_t> at =
        iceberg::CreateRef(&table.lake->catalog(), table.lake->files(), table.options.name, *made, Patient());
    if (!at.ok()) return RefuseRef(at.status(), console);
    iceberg::SnapshotRef ref{.snapshot_id = *at, .type = command.type};
    ref.min_snapshots_to_keep = made->min_snapshots_to_keep;
    ref.max_snapshot_age_ms = made->max_snapshot_age_ms;
    ref.max_ref_age_ms = made->max_ref_age_ms;
    PrintRef(table, command.name, ref, console);
    return static_cast<int>(ExitCode::kOk);
  });
}

int DropTableRef(const RefCommand& command, Console& console) {
  return ForEachTable(command.on, console, [&](const LakeTable& table) {
    const Status done =
        iceberg::DropRef(&table.lake->catalog(), table.options.name, command.type, command.name, Patient());
    if (!done.ok()) return RefuseRef(done, console);
    console.Out(console.json
                    ? Json{{"table", table.shown}, {"dropped", command.name}}.dump() + "\n"
                    : fmt::format("{}: {} '{}' is dropped\n", table.shown, command.type, command.name));
    return static_cast<int>(ExitCode::kOk);
  });
}

int ListTableRefs(const RefCommand& command, Console& console) {
  return ForEachTable(command.on, console, [&](const LakeTable& table) {
    const Result<iceberg::LoadedTable> loaded = table.Load();
    if (!loaded.ok()) return RefuseRef(loaded.status(), console);
    for (const auto& [name, ref] : loaded->metadata.refs) {
      if (ref.type == command.type) PrintRef(table, name, ref, console);
    }
    return static_cast<int>(ExitCode::kOk);
  });
}

int FastForwardTable(const RefCommand& command, Console& console) {
  return ForEachTable(command.on, console, [&](const LakeTable& table) {
    const Result<iceberg::FastForwarded> moved =
        iceberg::FastForward(&table.lake->catalog(), table.options.name, command.name, command.to, Patient());
    if (!moved.ok()) return RefuseRef(moved.status(), console);
    if (console.json) {
      console.Out(Json{{"table", table.shown},
                       {"branch", command.name},
                       {"from", moved->from},
                       {"to", moved->to},
                       {"snapshots", moved->snapshots}}
                      .dump() +
                  "\n");
    } else if (moved->snapshots == 0) {
      console.Out(fmt::format("{}: '{}' has all of '{}' already\n", table.shown, command.name, command.to));
    } else {
      console.Out(fmt::format("{}: '{}' moved by {} snapshots to {}, the head of '{}'\n", table.shown,
                              command.name, GroupDigits(moved->snapshots), moved->to, command.to));
    }
    return static_cast<int>(ExitCode::kOk);
  });
}

}  // namespace caudal
