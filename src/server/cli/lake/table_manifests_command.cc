#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "iceberg/maintenance/rewrite_manifests.h"
#include "server/cli/lake/for_each_table.h"

namespace caudal {

int RewriteTableManifests(const TableCommand& command, Console& console) {
  iceberg::RewriteManifestsOptions options;
  options.wait = [](int64_t millis) { std::this_thread::sleep_for(std::chrono::milliseconds(millis)); };
  return ForEachTable(command, console, [&](const LakeTable& table) {
    const auto report =
        iceberg::RewriteManifests(&table.lake->catalog(), table.lake->files(), table.options.name, options);
    if (!report.ok()) {
      const bool outside = report.status().domain() == Domain::kExternal;
      return console.Fail(report.status(), outside ? ExitCode::kInternal : RefusalCode(report.status()));
    }
    console.Out(console.json ? nlohmann::ordered_json{{"table", table.shown},
                                                      {"snapshot", report->snapshot_id},
                                                      {"replaced", report->replaced},
                                                      {"written", report->written},
                                                      {"kept", report->kept}}
                                       .dump() +
                                   "\n"
                             : fmt::format("{}: {} manifests became {}, {} stayed\n", table.shown,
                                           GroupDigits(report->replaced), GroupDigits(report->written),
                                           GroupDigits(report->kept)));
    return static_cast<int>(ExitCode::kOk);
  });
}

}  // namespace caudal
