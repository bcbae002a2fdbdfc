#include "server/cli/query_folder.h"

#include <fmt/format.h>

#include "data/text/time_text.h"
#include "fs/file_system.h"
#include "server/program_files.h"

namespace caudal {
namespace {

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

}  // namespace

std::optional<Manifest> QueryFolder::Newest() const {
  for (auto file = manifests.rbegin(); file != manifests.rend(); ++file) {
    Result<Manifest> manifest = ReadManifest(ProgramFiles(), file->path);
    if (manifest.ok()) return std::move(manifest).value();
  }
  return std::nullopt;
}

Result<std::vector<QueryFolder>> FindQueryFolders(const std::string& state_root) {
  FileSystem* files = ProgramFiles();
  std::vector<QueryFolder> found;
  ASSIGN_OR_RETURN(const std::vector<FileInfo> pipelines, files->List(state_root));
  for (const FileInfo& pipeline : pipelines) {
    if (!pipeline.is_directory) continue;
    ASSIGN_OR_RETURN(const std::vector<FileInfo> queries, files->List(pipeline.path));
    for (const FileInfo& query : queries) {
      if (!query.is_directory) continue;
      QueryFolder folder{QueryOf(files, query.path), query.path, {}};
      ASSIGN_OR_RETURN(folder.manifests, ListManifests(files, query.path));
      ASSIGN_OR_RETURN(const bool is_checkpoint, files->Exists(query.path + "/identity"));
      if (!is_checkpoint && folder.manifests.empty()) continue;
      std::erase_if(folder.manifests, [](const ManifestFile& manifest) { return manifest.closed; });
      found.push_back(std::move(folder));
    }
  }
  return found;
}

std::string EpochName(const Epoch& epoch) { return fmt::format("{}-{}", epoch.generation, epoch.number); }

std::string EpochAndTime(const Manifest& manifest) {
  char text[kTimestampTextSize];
  return fmt::format("{} of {}", EpochName(manifest.epoch),
                     std::string_view(text, FormatTimestamp(manifest.created_micros, 3, text)));
}

}  // namespace caudal
