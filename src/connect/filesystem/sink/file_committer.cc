#include "connect/filesystem/sink/file_committer.h"

#include <fmt/format.h>

#include <charconv>

#include "connect/filesystem/sink/file_committable.h"

namespace caudal {

CommitResult FileCommitter::Commit(Epoch, std::span<const Committable> committables) {
  FileSystem* files = plan_->format.files;
  for (const Committable& committable : committables) {
    Result<std::vector<CommittedFile>> names = FilesFromJson(committable.payload);
    if (!names.ok()) return {CommitOutcome::kRefused, std::move(names).status()};
    for (const CommittedFile& file : *names) {
      Result<bool> waiting = files->Exists(file.hidden_path);
      if (!waiting.ok()) return {CommitOutcome::kUnknown, std::move(waiting).status()};
      if (*waiting) {
        Status renamed = files->Rename(file.hidden_path, file.final_path);
        if (!renamed.ok()) return {CommitOutcome::kUnknown, std::move(renamed)};
        continue;
      }
      Result<bool> there = files->Exists(file.final_path);
      if (!there.ok()) return {CommitOutcome::kUnknown, std::move(there).status()};
      if (*there) continue;
      return {CommitOutcome::kLost,
              Status::External(
                  fmt::format("file '{}' with {} rows is gone, and so is what it was to become, '{}'",
                              file.hidden_path, file.rows, file.final_path))
                  .Hint("someone removed it: restore the file, or start again from an older checkpoint")};
    }
  }
  return {};
}

Status FileCommitter::RemoveLeftovers() { return RemoveBelow(plan_->root); }

Status FileCommitter::RemoveBelow(const std::string& folder) {
  const std::string prefix = plan_->hidden_prefix();
  ASSIGN_OR_RETURN(std::vector<FileInfo> entries, plan_->format.files->List(folder));
  for (const FileInfo& entry : entries) {
    if (entry.is_directory) {
      RETURN_IF_ERROR(RemoveBelow(entry.path));
      continue;
    }
    const std::string name = entry.path.substr(entry.path.find_last_of('/') + 1);
    if (!name.starts_with(prefix) || !name.ends_with(".inprogress")) continue;
    int64_t generation = 0;
    std::from_chars(name.data() + prefix.size(), name.data() + name.size(), generation);
    if (generation < plan_->generation) RETURN_IF_ERROR(plan_->format.files->Remove(entry.path));
  }
  return Status();
}

}  // namespace caudal
