#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "connect/iceberg/sink/sink_files.h"
#include "iceberg/maintenance/orphans.h"
#include "server/cli/lake/for_each_table.h"
#include "server/cli/usage/duration_argument.h"

namespace caudal {
namespace {

using Json = nlohmann::ordered_json;
using iceberg::OrphanFile;
using iceberg::OrphanReport;

// Less would take what another writer is about to commit.
constexpr int64_t kLeastAge = int64_t{24} * 3600 * 1000;

struct Removal {
  int64_t files = 0, bytes = 0, stuck = 0;
};

Removal Handle(const LakeTable& table, const OrphanReport& report, bool remove, Console& console) {
  Removal done;
  for (const OrphanFile& one : report.orphans) {
    const bool gone = remove && table.lake->files().file_system()->Remove(one.path).ok();
    if (remove && !gone) ++done.stuck;
    if (gone || !remove) {
      ++done.files;
      done.bytes += one.size;
    }
    console.Out(
        console.json
            ? Json{{"table", table.shown}, {"orphan", one.path}, {"bytes", one.size}, {"removed", gone}}
                      .dump() +
                  "\n"
            : fmt::format("{}: {} {}\n", table.shown, one.path,
                          gone     ? "removed"
                          : remove ? "is stuck"
                                   : ""));
  }
  return done;
}

void PrintOrphans(const LakeTable& table, const OrphanReport& report, const Removal& done, bool remove,
                  Console& console) {
  if (console.json) {
    console.Out(Json{{"table", table.shown},
                     {"orphans", report.orphans.size()},
                     {"bytes", done.bytes},
                     {"removed", remove ? done.files : 0},
                     {"not_removed", done.stuck},
                     {"too_young", report.young},
                     {"in_flight", report.in_flight},
                     {"listed", report.listed}}
                    .dump() +
                "\n");
    return;
  }
  console.Out(fmt::format("{}: {} orphans{}, {} bytes; {} files are too young, {} may still be committed\n",
                          table.shown, GroupDigits(done.files), remove ? " removed" : "",
                          GroupDigits(done.bytes), GroupDigits(report.young), GroupDigits(report.in_flight)));
}

}  // namespace

int FindTableOrphans(const TableCommand& command, Console& console) {
  iceberg::OrphanOptions options;
  options.in_flight = MayBeCommitted;
  if (!command.older_than.empty()) {
    const Result<int64_t> age = ParseDurationArgument(command.older_than, "--older-than");
    if (!age.ok()) return console.Fail(age.status(), ExitCode::kUsage);
    if (*age < kLeastAge) {
      return console.Fail(
          Status::User("--older-than: less than a day is refused")
              .Hint("what another writer is about to commit is no orphan, and looks like one"),
          ExitCode::kUsage);
    }
    options.min_age_ms = *age;
  }
  return ForEachTable(command, console, [&](const LakeTable& table) {
    const Result<OrphanReport> report =
        iceberg::FindOrphans(&table.lake->catalog(), table.lake->files(), table.options.name, options);
    if (!report.ok()) {
      const bool outside = report.status().domain() == Domain::kExternal;
      return console.Fail(report.status(), outside ? ExitCode::kInternal : RefusalCode(report.status()));
    }
    PrintOrphans(table, *report, Handle(table, *report, command.remove, console), command.remove, console);
    return static_cast<int>(ExitCode::kOk);
  });
}

}  // namespace caudal
