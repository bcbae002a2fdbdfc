#include "server/cli/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "data/text/time_text.h"
#include "fs/file_system.h"
#include "op/make_operator.h"
#include "run/plan_fingerprint.h"
#include "server/engine.h"
#include "server/program.h"
#include "state/checkpoint_store.h"

namespace caudal {
namespace {

using Json = nlohmann::ordered_json;

struct QueryFolder {
  std::string query;  // pipeline/query
  std::string path;
  std::vector<ManifestFile> manifests;  // oldest first
};

std::string TimeText(int64_t micros) {
  char text[kTimestampTextSize];
  return {text, FormatTimestamp(micros, 3, text)};
}

std::string LastPart(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

// pipeline/query as the identity has it; the folders' names, where it is damaged.
std::string QueryOf(FileSystem* files, const std::string& folder) {
  const Result<std::string> identity = files->ReadAll(folder + "/identity");
  const size_t second = identity.ok() ? identity->find('\n', identity->find('\n') + 1) : std::string::npos;
  if (second != std::string::npos) {
    const std::string name = identity->substr(second + 1, identity->find('\n', second + 1) - second - 1);
    if (name.find('/') != std::string::npos) return name;
  }
  return LastPart(folder.substr(0, folder.find_last_of('/'))) + "/" + LastPart(folder);
}

// The checkpoint folders below a state folder: <pipeline>/<query> with an identity.
Result<std::vector<QueryFolder>> FindFolders(const CheckpointCommand& command) {
  FileSystem* files = FileSystem::Local();
  std::vector<QueryFolder> found;
  ASSIGN_OR_RETURN(const std::vector<FileInfo> pipelines, files->List(command.state_root));
  for (const FileInfo& pipeline : pipelines) {
    if (!pipeline.is_directory) continue;
    ASSIGN_OR_RETURN(const std::vector<FileInfo> queries, files->List(pipeline.path));
    for (const FileInfo& query : queries) {
      ASSIGN_OR_RETURN(const bool is_checkpoint, files->Exists(query.path + "/identity"));
      if (!is_checkpoint) continue;
      QueryFolder folder{QueryOf(files, query.path), query.path, {}};
      if (!command.query.empty() && folder.query != command.query && LastPart(folder.query) != command.query)
        continue;
      ASSIGN_OR_RETURN(folder.manifests, ListManifests(files, query.path));
      std::erase_if(folder.manifests, [](const ManifestFile& manifest) { return manifest.closed; });
      found.push_back(std::move(folder));
    }
  }
  if (!found.empty()) return found;
  return Status::User(
      command.query.empty()
          ? fmt::format("there is no checkpoint in state folder '{}'", command.state_root)
          : fmt::format("there is no checkpoint of query '{}' in '{}'", command.query, command.state_root));
}

std::string EpochName(const Epoch& epoch) { return fmt::format("{}-{}", epoch.generation, epoch.number); }

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
          {"nodes", nodes}};
}

// The whole manifest with all its segments, or what is wrong with it; nothing if a run beside us has removed
// it meanwhile, with what only it named.
std::optional<Status> Verify(const QueryFolder& folder, const ManifestFile& file) {
  FileSystem* files = FileSystem::Local();
  const Result<Manifest> manifest = ReadManifest(files, file.path);
  Status status = manifest.ok() ? VerifySegments(files, folder.path, *manifest) : manifest.status();
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

Result<PlanDiff> DiffQuery(const Plan& plan, const std::string& pipeline, const CheckpointCommand& command) {
  CheckpointCommand one = command;
  one.query = pipeline + "/" + plan.query;
  ASSIGN_OR_RETURN(const std::vector<QueryFolder> folders, FindFolders(one));
  if (folders[0].manifests.empty())
    return Status::User(fmt::format("query '{}' has committed nothing yet", one.query));
  ASSIGN_OR_RETURN(const Manifest manifest,
                   ReadManifest(FileSystem::Local(), folders[0].manifests.back().path));
  ASSIGN_OR_RETURN(const std::vector<NodeState> nodes,
                   Fingerprints(plan, MakeOperator, EvaluatorOptionsOf(plan.settings), Env::Real()));
  return Compare(manifest, nodes);
}

int Refuse(const Status& status, Console& console) { return console.Fail(status, RefusalCode(status)); }

}  // namespace

int ListCheckpoints(const CheckpointCommand& command, Console& console) {
  const Result<std::vector<QueryFolder>> folders = FindFolders(command);
  if (!folders.ok()) return Refuse(folders.status(), console);
  for (const QueryFolder& folder : *folders) {
    if (!console.json) console.Out(fmt::format("{}\n", folder.query));
    for (const ManifestFile& file : folder.manifests) {
      console.Out(console.json ? Json{{"query", folder.query},
                                      {"epoch", EpochName(file.epoch)},
                                      {"bytes", file.bytes},
                                      {"path", file.path}}
                                         .dump() +
                                     "\n"
                               : fmt::format("  epoch {}  {} bytes  {}\n", EpochName(file.epoch), file.bytes,
                                             file.path));
    }
  }
  return static_cast<int>(ExitCode::kOk);
}

int ShowCheckpoint(const CheckpointCommand& command, Console& console) {
  const Result<std::vector<QueryFolder>> folders = FindFolders(command);
  if (!folders.ok()) return Refuse(folders.status(), console);
  for (const QueryFolder& folder : *folders) {
    if (folder.manifests.empty()) continue;
    const Result<Manifest> manifest = ReadManifest(FileSystem::Local(), folder.manifests.back().path);
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
    for (const ManifestFile& file : folder.manifests) {
      const std::optional<Status> verified = Verify(folder, file);
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
  Result<ProgramText> text = ReadProgram(command.program);
  if (!text.ok()) return Refuse(text.status(), console);
  const Result<std::unique_ptr<Program>> program = Program::Plan(std::move(text).value());
  if (!program.ok()) return Refuse(program.status(), console);
  Status refused;
  for (const Plan& plan : (*program)->Queries()) {
    const Result<PlanDiff> diff = DiffQuery(plan, (*program)->text().name, command);
    if (!diff.ok()) return Refuse(diff.status(), console);
    for (const PlanDiff::Entry& entry : diff->entries) {
      console.Out(console.json ? Json{{"query", (*program)->text().name + "/" + plan.query},
                                      {"id", entry.id},
                                      {"change", ChangeName(entry.change)},
                                      {"was", entry.was},
                                      {"is", entry.is}}
                                         .dump() +
                                     "\n"
                               : fmt::format("{} {}: {}\n", plan.query, entry.id, ChangeName(entry.change)));
    }
    if (refused.ok()) refused = diff->Check({});
  }
  return refused.ok() ? static_cast<int>(ExitCode::kOk) : console.Fail(refused, ExitCode::kRefused);
}

}  // namespace caudal
