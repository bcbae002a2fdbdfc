#include "server/cli/validate.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "run/plan_tables.h"
#include "server/connectors.h"
#include "server/program.h"
#include "server/program_files.h"

namespace caudal {
namespace {

using Json = nlohmann::ordered_json;

Json Describe(const Program& program) {
  const ProgramText& text = program.text();
  Json json = {{"pipeline", text.name}, {"valid", true}};
  if (text.file) {
    json["owner"] = text.file->owner;
    if (!text.profile.empty()) json["profile"] = text.profile;
    json["profiles"] = Json::array();
    for (const auto& [name, tables] : text.file->profiles) json["profiles"].push_back(name);
  }
  json["sql"] = Json::array();
  for (const SqlFile& file : text.sql) json["sql"].push_back(file.path);
  json["queries"] = Json::array();
  for (const Plan& plan : program.Queries()) {
    Json sinks = Json::array();
    for (const PlanNode& node : plan.nodes) {
      if (const auto* sink = node.as<SinkNode>()) sinks.push_back(sink->table.name);
    }
    json["queries"].push_back({{"query", plan.query}, {"sinks", sinks}});
  }
  json["watermarks"] = Json::object();
  for (const std::string& name : program.catalog().TableNames()) {
    const std::optional<int64_t> delay = WatermarkDelayMillis(*program.catalog().FindTable(name));
    if (delay) json["watermarks"][name] = *delay;
  }
  return json;
}

std::string Quoted(const Json& text) { return fmt::format("'{}'", text.get<std::string>()); }

std::string AsText(const Json& json) {
  const bool with_profile = json.contains("profile");
  std::string out = fmt::format("pipeline '{}' is valid{}\n", json["pipeline"].get<std::string>(),
                                with_profile ? " with profile " + Quoted(json["profile"]) : "");
  if (json.contains("owner")) out += fmt::format("  owner: {}\n", json["owner"].get<std::string>());
  if (json["sql"].empty()) {
    out += "  no SQL: put it beside the file, same name with .sql, before it can run\n";
  }
  if (json.contains("profiles") && !json["profiles"].empty()) {
    std::string names;
    for (const Json& profile : json["profiles"]) names += (names.empty() ? "" : ", ") + Quoted(profile);
    out += fmt::format("  profiles: {}\n", names);
  }
  for (const Json& query : json["queries"]) {
    std::string sinks;
    for (const Json& sink : query["sinks"]) sinks += (sinks.empty() ? "" : ", ") + sink.get<std::string>();
    out += fmt::format("  query '{}' writes {}\n", query["query"].get<std::string>(), sinks);
  }
  for (const auto& [table, delay] : json["watermarks"].items()) {
    out += fmt::format("  watermark of '{}': {} s behind\n", table, delay.get<int64_t>() / 1000.0);
  }
  return out;
}

// A pipeline file may stand alone until its SQL is written.
Status Check(const Program& program) {
  if (program.text().file && program.text().sql.empty()) return Status();
  RETURN_IF_ERROR(program.CheckRunnable());
  JobOptions options;
  options.env = Env::Real();
  options.files = ProgramFiles();
  options.connectors = UserConnectors();
  for (const Plan& plan : program.Queries()) {
    Status status = CheckTables(plan, options);
    if (!status.ok()) return std::move(status).At("query '" + program.text().name + "/" + plan.query + "'");
  }
  return Status();
}

}  // namespace

int Validate(const std::vector<std::string>& paths, const std::string& profile, Console& console) {
  const auto programs = PlanPrograms(paths, profile);
  if (!programs.ok()) return console.Fail(programs.status(), RefusalCode(programs.status()));
  for (const auto& program : *programs) {
    const Status runnable = Check(*program);
    if (!runnable.ok()) return console.Fail(runnable, RefusalCode(runnable));
  }
  for (const auto& program : *programs) {
    const Json json = Describe(*program);
    console.Out(console.json ? json.dump() + "\n" : AsText(json));
  }
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace caudal
