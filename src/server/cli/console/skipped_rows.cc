#include "server/cli/console/skipped_rows.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "run/job_options.h"

namespace caudal {

Status TellSkipped(const Plan& plan, const JobProgress& progress, Console* console) {
  ASSIGN_OR_RETURN(const JobSettings settings, JobSettings::From(plan));
  for (size_t i = 0; i < plan.nodes.size() && i < progress.operators.size(); ++i) {
    const auto* scan = plan.nodes[i].as<ScanNode>();
    if (scan == nullptr) continue;
    ASSIGN_OR_RETURN(const SourceOptions options, SourceOptionsOf(scan->table, plan, settings));
    std::string text;
    nlohmann::ordered_json records = nlohmann::ordered_json::object();
    const auto add = [&](int64_t count, std::string_view what) {
      if (count == 0) return;
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", GroupDigits(count), what);
      records[std::string(what)] = count;
    };
    const OperatorProgress& source = progress.operators[i];
    for (const CountedFate& fate : source.fates) {
      if (options.errors == ErrorPolicy::kSkip && fate.fate == "dead") add(fate.rows, fate.name);
    }
    if (!text.empty()) {
      const nlohmann::ordered_json json = {{"source", scan->table.name}, {"records", records}};
      console->Remark(fmt::format("skipped records of '{}': {}", scan->table.name, text),
                      nlohmann::ordered_json{{"skipped", json}}.dump());
    }
    if (source.ignored_values > 0) {
      const nlohmann::ordered_json json = {{"source", scan->table.name}, {"values", source.ignored_values}};
      console->Remark(fmt::format("values of '{}' that could not be read and are NULL: {}", scan->table.name,
                                  GroupDigits(source.ignored_values)),
                      nlohmann::ordered_json{{"ignored", json}}.dump());
    }
  }
  return Status();
}

}  // namespace caudal
