#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "iceberg/maintenance/table_check.h"
#include "server/cli/lake/for_each_table.h"

namespace caudal {
namespace {

using Json = nlohmann::ordered_json;
using iceberg::TableCheckReport;
using iceberg::Violation;

constexpr int kAttempts = 3;

// What a snapshot that expired meanwhile lacks is no violation: the table is looked at again.
Result<TableCheckReport> CheckSteady(const LakeTable& table, bool all) {
  for (int attempt = 1;; ++attempt) {
    ASSIGN_OR_RETURN(const iceberg::LoadedTable loaded, table.Load());
    ASSIGN_OR_RETURN(TableCheckReport report,
                     iceberg::CheckTable(table.lake->files(), loaded.metadata, {.all = all}));
    if (report.violations.empty() || attempt == kAttempts) return report;
    ASSIGN_OR_RETURN(const iceberg::LoadedTable now, table.Load());
    if (now.metadata_location == loaded.metadata_location && now.metadata == loaded.metadata) return report;
  }
}

void PrintCheck(const LakeTable& table, const TableCheckReport& report, Console& console) {
  for (const Violation& one : report.violations) {
    console.Out(console.json
                    ? Json{{"table", table.shown}, {"place", one.place}, {"violation", one.what}}.dump() +
                          "\n"
                    : fmt::format("{}: {}: {}\n", table.shown, one.place, one.what));
  }
  const bool whole = report.violations.empty();
  if (console.json) {
    console.Out(Json{{"table", table.shown},
                     {"whole", whole},
                     {"snapshots", report.snapshots},
                     {"manifests", report.manifests},
                     {"files", report.files},
                     {"bytes", report.bytes}}
                    .dump() +
                "\n");
  } else if (whole) {
    console.Out(fmt::format("{}: whole: {} snapshots, {} manifests, {} files, {} bytes\n", table.shown,
                            GroupDigits(report.snapshots), GroupDigits(report.manifests),
                            GroupDigits(report.files), GroupDigits(report.bytes)));
  }
}

}  // namespace

int CheckTables(const TableCommand& command, Console& console) {
  Status broken;
  const int code = ForEachTable(command, console, [&](const LakeTable& table) {
    const Result<TableCheckReport> report = CheckSteady(table, command.all);
    if (!report.ok()) {
      // Metadata that cannot be read is damage, too.
      const bool damage = report.status().domain() == Domain::kData;
      return console.Fail(report.status(), damage ? ExitCode::kVerify : RefusalCode(report.status()));
    }
    PrintCheck(table, *report, console);
    if (!report->violations.empty() && broken.ok()) {
      const Violation& first = report->violations.front();
      broken = Status::Data(fmt::format("table '{}' is damaged: {}", table.shown, first.what))
                   .At(first.place)
                   .Hint("an older snapshot may be whole: --all says what else is wrong");
    }
    return static_cast<int>(ExitCode::kOk);
  });
  if (code != static_cast<int>(ExitCode::kOk) || broken.ok()) return code;
  return console.Fail(broken, ExitCode::kVerify);
}

}  // namespace caudal
