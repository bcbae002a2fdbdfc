#include "server/cli/checkpoint.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "data/text/time_text.h"
#include "fs/file_system.h"
#include "op/make_operator.h"
#include "run/restore/plan_fingerprint.h"
#include "server/cli/checkpoint_use.h"
#include "server/engine.h"
#include "server/program.h"
#include "server/program_files.h"
#include "state/checkpoint_store.h"

namespace caudal {
namespace {

using Json = nlohmann::ordered_json;

std::string TimeText(int64_t micros) {
  char text[kTimestampTextSize];
  return {text, FormatTimestamp(micros, 3, text)};
}

// Those that the command is about; User error if there are none.
Result<std::vector<QueryFolder>> FindFolders(const CheckpointCommand& command) {
  ASSIGN_OR_RETURN(std::vector<QueryFolder> found, FindQueryFolders(command.state_root));
  std::string names;
  for (const QueryFolder& folder : found) names += (names.empty() ? "'" : ", '") + folder.query + "'";
  std::erase_if(found, [&](const QueryFolder& folder) {
    return !command.query.empty() && folder.query != command.query && folder.name() != command.query;
  });
  if (!found.empty()) return found;
  if (names.empty())
    return Status::User(fmt::format("there is no checkpoint in state folder '{}'", command.state_root));
  return Status::User(
             fmt::format("there is no checkpoint of query '{}' in '{}'", command.query, command.state_root))
      .Hint("there is one of " + names);
}

Json Describe(const std::string& query, const Manifest& manifest) {
  Json nodes = Json::array();
  for (const NodeState& node : manifest.nodes) {
    Json fates = Json::object();
    for (const CountedFate& fate : node.fates) {
      fates[fate.name.empty() ? fate.fate : fmt::format("{}{{{}}}", fate.fate, fate.name)] = fate.rows;
    }
    int64_t bytes = 0;
    for (const SegmentRef& segment : node.segments) bytes += segment.length;
    Json splits = Json::array();
    for (const SplitState& split : node.splits)
      splits.push_back({{"split", split.id}, {"position", split.position}, {"finished", split.finished}});
    Json json = {{"id", node.id},
                 {"kind", node.label},
                 {"rows_in", node.rows_in},
                 {"rows_out", node.rows_out},
                 {"fates", fates}};
    if (!node.segments.empty()) json["segments"] = {{"count", node.segments.size()}, {"bytes", bytes}};
    if (!splits.empty()) json["splits"] = splits;
    if (node.watermark.event > Watermark::kNone && node.watermark.event < Watermark::kEnd) {
      json["watermark"] = TimeText(node.watermark.event * 1000);
    }
    nodes.push_back(std::move(json));
  }
  return {{"query", query},
          {"epoch", EpochName(manifest.epoch)},
          {"previous", EpochName(manifest.previous)},
          {"created", TimeText(manifest.created_micros)},
          {"final", manifest.final},
          {"drained", manifest.drained},
          {"nodes", nodes}};
}

// The whole manifest with all its segments, or what is wrong with it; nothing if a run beside us has removed
// it meanwhile, with what only it named.
std::optional<Status> Verify(const QueryFolder& folder, const ManifestFile& file,
                             const std::string& identity) {
  FileSystem* files = ProgramFiles();
  const Result<Manifest> manifest = ReadManifest(files, file.path);
  Status status = manifest.ok() ? VerifySegments(files, folder.path, *manifest) : manifest.status();
  if (status.ok() && !identity.empty()) status = CheckManifest(*manifest, file.epoch, identity);
  if (status.ok()) return status;
  const Result<bool> still_there = files->Exists(file.path);
  if (still_there.ok() && !*still_there) return std::nullopt;
  return status;
}

std::string_view ChangeName(PlanDiff::Change change) {
  switch (change) {
    case PlanDiff::Change::kIdentical:
      return "identical";
    case PlanDiff::Change::kAdded:
      return "added";
    case PlanDiff::Change::kDropped:
      return "dropped";
    case PlanDiff::Change::kChanged:
      return "changed";
    case PlanDiff::Change::kStateless:
      return "changed, stateless";
  }
  return "";
}

// A line of `diff`: what a start does with a node, or with a whole query (`id` empty).
void PrintChange(const std::string& pipeline, const std::string& query, const PlanDiff::Entry& entry,
                 std::string_view change, Console& console) {
  if (console.json) {
    console.Out(Json{{"query", pipeline + "/" + query},
                     {"id", entry.id},
                     {"change", change},
                     {"was", entry.was},
                     {"is", entry.is}}
                    .dump() +
                "\n");
    return;
  }
  const std::string about = entry.id.empty() ? query : query + " " + entry.id;
  console.Out(fmt::format("{}: {}{}\n", about, change, entry.id.empty() ? " (" + entry.was + ")" : ""));
}

// Against what is stored of the query; OK with nothing printed if that is nothing.
Status DiffQuery(const Plan& plan, const std::string& pipeline, const std::vector<QueryFolder>& folders,
                 Console& console) {
  for (const QueryFolder& folder : folders) {
    if (folder.query != pipeline + "/" + plan.query || folder.manifests.empty()) continue;
    ASSIGN_OR_RETURN(const Manifest manifest, ReadManifest(ProgramFiles(), folder.manifests.back().path));
    ASSIGN_OR_RETURN(const std::vector<NodeState> nodes,
                     Fingerprints(plan, MakeOperator, EvaluatorOptionsOf(plan.settings), Env::Real()));
    const PlanDiff diff = Compare(manifest, nodes);
    for (const PlanDiff::Entry& entry : diff.entries)
      PrintChange(pipeline, plan.query, entry, ChangeName(entry.change), console);
    RETURN_IF_ERROR(diff.Check({}));
    if (!manifest.drained) return Status();
    PrintChange(pipeline, plan.query, {"", {}, "epoch " + EpochAndTime(manifest) + ": cannot go on", ""},
                "drained", console);
    return Status::User(fmt::format("query '{}' was drained by an earlier run", folder.query))
        .Hint("run it under another --state folder or SET 'pipeline.name'");
  }
  return Status();
}

int Refuse(const Status& status, Console& console) { return console.Fail(status, RefusalCode(status)); }

}  // namespace

int ListCheckpoints(const CheckpointCommand& command, Console& console) {
  const Result<std::vector<QueryFolder>> folders = FindFolders(command);
  if (!folders.ok()) return Refuse(folders.status(), console);
  for (const QueryFolder& folder : *folders) {
    if (!console.json) console.Out(fmt::format("{}\n", folder.query));
    for (const ManifestFile& file : folder.manifests) {
      const Result<Manifest> manifest = ReadManifest(ProgramFiles(), file.path);
      const bool drained = manifest.ok() && manifest->drained;
      const std::string_view end = !manifest.ok()    ? "  damaged"
                                   : drained         ? "  drained"
                                   : manifest->final ? "  ended"
                                                     : "";
      console.Out(console.json ? Json{{"query", folder.query},
                                      {"epoch", EpochName(file.epoch)},
                                      {"bytes", file.bytes},
                                      {"path", file.path},
                                      {"drained", drained},
                                      {"damaged", !manifest.ok()}}
                                         .dump() +
                                     "\n"
                               : fmt::format("  epoch {}  {} bytes  {}{}\n", EpochName(file.epoch),
                                             file.bytes, file.path, end));
    }
  }
  return static_cast<int>(ExitCode::kOk);
}

int ShowCheckpoint(const CheckpointCommand& command, Console& console) {
  const Result<std::vector<QueryFolder>> folders = FindFolders(command);
  if (!folders.ok()) return Refuse(folders.status(), console);
  for (const QueryFolder& folder : *folders) {
    if (folder.manifests.empty()) continue;
    const Result<Manifest> manifest = ReadManifest(ProgramFiles(), folder.manifests.back().path);
    if (!manifest.ok()) return console.Fail(manifest.status(), ExitCode::kVerify);
    console.Out(Describe(folder.query, *manifest).dump(console.json ? -1 : 2) + "\n");
  }
  return static_cast<int>(ExitCode::kOk);
}

int VerifyCheckpoints(const CheckpointCommand& command, Console& console) {
  const Result<std::vector<QueryFolder>> folders = FindFolders(command);
  if (!folders.ok()) return Refuse(folders.status(), console);
  Status first;
  for (const QueryFolder& folder : *folders) {
    const Result<CheckpointIdentity> identity = ReadIdentity(ProgramFiles(), folder.path);
    if (!identity.ok()) {
      const std::string verdict = identity.status().message();
      console.Out(console.json
                      ? Json{{"query", folder.query}, {"whole", false}, {"verdict", verdict}}.dump() + "\n"
                      : fmt::format("{}: {}\n", folder.query, verdict));
      if (first.ok()) first = identity.status();
    }
    for (const ManifestFile& file : folder.manifests) {
      const std::optional<Status> verified = Verify(folder, file, identity.ok() ? identity->id : "");
      if (!verified) continue;
      const Status& status = *verified;
      const std::string verdict = status.ok() ? "whole" : status.message();
      console.Out(console.json
                      ? Json{{"query", folder.query},
                             {"epoch", EpochName(file.epoch)},
                             {"whole", status.ok()},
                             {"verdict", verdict}}
                                .dump() +
                            "\n"
                      : fmt::format("{} epoch {}: {}\n", folder.query, EpochName(file.epoch), verdict));
      if (first.ok() && !status.ok()) first = status;
    }
  }
  return first.ok() ? static_cast<int>(ExitCode::kOk) : console.Fail(first, ExitCode::kVerify);
}

int DiffCheckpoint(const CheckpointCommand& command, Console& console) {
  Result<ProgramText> text = ReadProgram(command.program, command.profile);
  if (!text.ok()) return Refuse(text.status(), console);
  const Result<std::unique_ptr<Program>> program = Program::Plan(std::move(text).value());
  if (!program.ok()) return Refuse(program.status(), console);
  CheckpointCommand all = command;
  all.query.clear();
  const Result<std::vector<QueryFolder>> folders = FindFolders(all);
  if (!folders.ok()) return Refuse(folders.status(), console);
  const std::string& pipeline = (*program)->text().name;
  const std::vector<Plan> plans = (*program)->Queries();
  const Result<CheckpointUse> use = FindCheckpointUse(command.state_root, pipeline, plans);
  if (!use.ok()) return Refuse(use.status(), console);
  const auto asked = [&](const std::string& query) {
    return command.query.empty() || command.query == query || command.query == pipeline + "/" + query;
  };
  Status refused;
  for (const Plan& plan : plans) {
    if (!asked(plan.query)) continue;
    const Status status = DiffQuery(plan, pipeline, *folders, console);
    if (refused.ok()) refused = status;
  }
  for (const std::string& query : use->fresh) {
    if (asked(query))
      PrintChange(pipeline, query, {"", {}, "no checkpoint: begins from nothing", ""}, "added", console);
  }
  for (const CheckpointUse::Abandoned& old : use->abandoned)
    PrintChange(pipeline, old.name, {"", {}, "epoch " + old.last + ": no query takes it up", ""}, "abandoned",
                console);
  if (refused.ok()) refused = use->Check({});
  return refused.ok() ? static_cast<int>(ExitCode::kOk) : console.Fail(refused, ExitCode::kRefused);
}

}  // namespace caudal
