#include "server/cli/checkpoint_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "fs/file_system.h"
#include "server/program_files.h"

namespace caudal {
namespace {

bool Contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> SinksOf(const Manifest& manifest) {
  std::vector<std::string> sinks;
  for (const NodeState& node : manifest.nodes) {
    if (node.label == "Sink" && node.id != "dead-letter") sinks.push_back(node.id);
  }
  return sinks;
}

void FindMoved(const Plan& plan, const Manifest& stored, CheckpointUse* use) {
  for (const PlanNode& node : plan.nodes) {
    if (node.as<SinkNode>() == nullptr || stored.Find(node.id) != nullptr) continue;
    for (const CheckpointUse::Abandoned& old : use->abandoned) {
      if (Contains(old.sinks, node.id)) use->moved.push_back({node.id, old.name, plan.query});
    }
  }
}

}  // namespace

Result<CheckpointUse> FindCheckpointUse(const std::string& state_root, const std::string& pipeline,
                                        const std::vector<Plan>& plans) {
  CheckpointUse use;
  use.pipeline = pipeline;
  std::map<std::string, Manifest> stored;  // of this pipeline
  std::vector<QueryFolder> folders;
  ASSIGN_OR_RETURN(const bool exists, ProgramFiles()->Exists(state_root));
  if (exists) {
    ASSIGN_OR_RETURN(folders, FindQueryFolders(state_root));
  }
  for (const QueryFolder& folder : folders) {
    if (folder.pipeline() != pipeline) continue;
    // One that is damaged throughout is told of by the start of its query.
    if (std::optional<Manifest> newest = folder.Newest()) {
      stored.emplace(folder.name(), *std::move(newest));
    } else if (!folder.manifests.empty()) {
      stored.emplace(folder.name(), Manifest{});
    }
  }
  std::vector<std::string> names;
  for (const Plan& plan : plans) {
    names.push_back(plan.query);
    if (!stored.contains(plan.query)) use.fresh.push_back(plan.query);
  }
  for (const auto& [name, manifest] : stored) {
    if (Contains(names, name)) continue;
    use.abandoned.push_back({name, EpochAndTime(manifest), SinksOf(manifest)});
  }
  for (const Plan& plan : plans) {
    if (const auto found = stored.find(plan.query); found != stored.end())
      FindMoved(plan, found->second, &use);
  }
  for (const QueryFolder& folder : folders) {
    const bool namesake = stored.empty() && !folder.manifests.empty() && Contains(names, folder.name());
    if (namesake && !Contains(use.namesakes, folder.pipeline())) use.namesakes.push_back(folder.pipeline());
  }
  return use;
}

Status CheckpointUse::Check(const std::vector<std::string>& allow) const {
  for (const Abandoned& old : abandoned) {
    if (Contains(allow, old.name) || Contains(allow, pipeline + "/" + old.name) || Contains(allow, "*"))
      continue;
    const auto took =
        std::find_if(moved.begin(), moved.end(), [&](const MovedSink& one) { return one.from == old.name; });
    const std::string leave =
        fmt::format("--allow-abandoned '{}' leaves the old checkpoint behind for good", old.name);
    if (took != moved.end()) {
      return Status::User(fmt::format("no query takes up the checkpoint of '{}/{}' (epoch {}), and its sink "
                                      "'{}' would go on in '{}', which does not know what it wrote",
                                      pipeline, old.name, old.last, took->sink, took->to))
          .Hint(fmt::format("keep it a query of its own; or put up with rows missing or twice there: {}",
                            leave));
    }
    if (fresh.empty()) continue;
    return Status::User(fmt::format("no query takes up the checkpoint of '{}/{}' (epoch {}), and '{}/{}' "
                                    "would begin from nothing and write all rows again",
                                    pipeline, old.name, old.last, pipeline, fresh.front()))
        .Hint(fmt::format("if it is the same query under a new name, give it the old one: SET "
                          "'pipeline.name' = '{}' before it; if not: {}",
                          old.name, leave));
  }
  return Status();
}

}  // namespace caudal
