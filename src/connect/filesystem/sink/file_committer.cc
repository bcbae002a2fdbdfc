#include "connect/filesystem/sink/file_committer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "fs/store_file_system.h"

namespace caudal {

CommitResult FileCommitter::Commit(Epoch epoch, std::span<const Committable> committables) {
  const auto unknown = [](Status status) { return CommitResult{CommitOutcome::kUnknown, std::move(status)}; };
  std::vector<CommittedFile> files;
  for (const Committable& committable : committables) {
    Result<std::vector<CommittedFile>> names = FilesFromJson(committable.payload);
    if (!names.ok()) return {CommitOutcome::kRefused, std::move(names).status()};
    files.insert(files.end(), names->begin(), names->end());
  }
  const bool is_store = std::ranges::any_of(files, [](const auto& file) { return !file.ticket.empty(); });
  if (is_store && !plan_->ephemeral) {
    Status begun = ledger_.Begin(epoch);
    if (!begun.ok()) return unknown(std::move(begun));
  }
  for (const CommittedFile& file : files) {
    CommitResult named = Name(file);
    if (named.outcome == CommitOutcome::kCommitted) continue;
    if (named.outcome != CommitOutcome::kLost) return named;
    const Result<Epoch> committed = ledger_.Read();
    if (!committed.ok()) return unknown(committed.status());
    if (*committed < epoch) return named;
  }
  // What no manifest names is never committed again.
  if (files.empty() || plan_->ephemeral) return {};
  Status written = ledger_.Write(epoch);
  return written.ok() ? CommitResult() : unknown(std::move(written));
}

CommitResult FileCommitter::Taken(const CommittedFile& file) {
  return {CommitOutcome::kRefused,
          Status::User(fmt::format("'{}' is there already and is another file than {}", file.final_path,
                                   file.ticket.empty()
                                       ? fmt::format("'{}', which is to get its name", file.hidden_path)
                                       : "the upload that is to get its name"))
              .Hint("move it away")};
}

CommitResult FileCommitter::Lost(const CommittedFile& file) const {
  const bool moved = !file.final_path.starts_with(plan_->root + "/");
  const bool in_store = !file.ticket.empty();
  const std::string what =
      in_store ? fmt::format("the upload of '{}' with {} rows is gone, and there is no such file",
                             file.final_path, file.rows)
               : fmt::format("file '{}' with {} rows is gone, and so is what it was to become, '{}'",
                             file.hidden_path, file.rows, file.final_path);
  const char* why = in_store ? "a rule that ends incomplete uploads, or someone, ended it before the commit "
                               "was noted (docs/object-stores.md)"
                             : "someone removed it before the commit was noted";
  return {CommitOutcome::kLost,
          Status::External(what + (moved ? fmt::format("; the table's folder is '{}' now", plan_->root) : ""))
              .Hint(moved ? "give the table its former 'path' back, or begin with a new state folder" : why)};
}

CommitResult FileCommitter::Rename(const CommittedFile& file) {
  FileSystem* files = plan_->format.files;
  const auto unknown = [](Status status) { return CommitResult{CommitOutcome::kUnknown, std::move(status)}; };
  Result<bool> waiting = files->Exists(file.hidden_path);
  if (!waiting.ok()) return unknown(std::move(waiting).status());
  if (*waiting) {
    Result<bool> renamed = files->RenameIfAbsent(file.hidden_path, file.final_path);
    if (!renamed.ok()) return unknown(std::move(renamed).status());
    if (!*renamed) return Taken(file);
  }
  Result<bool> there = files->Exists(file.final_path);
  if (!there.ok()) return unknown(std::move(there).status());
  if (!*there) return Lost(file);
  if (!*waiting) {
    // Whoever renamed it may not have lived to make that durable; a rename that changes nothing does.
    Status durable = files->Rename(file.final_path, file.final_path);
    if (!durable.ok()) return unknown(std::move(durable));
  }
  return {};
}

CommitResult FileCommitter::Publish(const CommittedFile& file) {
  PendingFiles* pending = PendingFilesAt(plan_->format.files, file.final_path);
  if (pending == nullptr) {
    return {CommitOutcome::kRefused,
            Status::User(
                fmt::format("'{}' was written to a store that cannot be reached here", file.final_path))};
  }
  const Result<PublishOutcome> outcome = pending->Publish(file.final_path, file.ticket);
  if (!outcome.ok()) return {CommitOutcome::kUnknown, outcome.status()};
  if (*outcome == PublishOutcome::kTaken) return Taken(file);
  if (*outcome == PublishOutcome::kGone) return Lost(file);
  return {};
}

CommitResult FileCommitter::Name(const CommittedFile& file) {
  CommitResult named = file.ticket.empty() ? Rename(file) : Publish(file);
  if (named.outcome != CommitOutcome::kCommitted) return named;
  // The last count: what a reader of the folder finds is what was prepared.
  Result<FileInfo> found = plan_->format.files->Stat(file.final_path);
  if (!found.ok()) return {CommitOutcome::kUnknown, std::move(found).status()};
  if (found->size == file.bytes) return {};
  return {CommitOutcome::kLost,
          Status::Data(fmt::format("'{}' has {} bytes, and the {} rows that were prepared for it have {}",
                                   file.final_path, found->size, file.rows, file.bytes))
              .Hint("someone replaced it")};
}

Result<Epoch> FileCommitter::LastCommitted() {
  if (plan_->ephemeral) return Epoch();
  ASSIGN_OR_RETURN(const Epoch noted, ledger_.Newest());
  if (plan_->pending != nullptr) {
    ASSIGN_OR_RETURN(uploads_, LookForUploads());
    return noted;
  }
  Found found;
  RETURN_IF_ERROR(Look(plan_->root, &found));
  leftovers_ = std::move(found.leftovers);
  return std::max(noted, found.newest);
}

Status FileCommitter::Look(const std::string& folder, Found* found) const {
  const std::string final_prefix = plan_->final_prefix();
  const std::string hidden_prefix = plan_->hidden_prefix();
  ASSIGN_OR_RETURN(const std::vector<FileInfo> entries, plan_->format.files->List(folder));
  for (const FileInfo& entry : entries) {
    if (entry.is_directory) {
      RETURN_IF_ERROR(Look(entry.path, found));
      continue;
    }
    const std::string name = entry.path.substr(entry.path.find_last_of('/') + 1);
    const char* end = name.data() + name.size();
    if (name.starts_with(hidden_prefix) && name.ends_with(".inprogress")) {
      int64_t generation = 0;
      std::from_chars(name.data() + hidden_prefix.size(), end, generation);
      if (generation < plan_->generation || plan_->ephemeral) found->leftovers.push_back(entry.path);
      continue;
    }
    if (!name.starts_with(final_prefix)) continue;
    Epoch epoch;
    const auto [rest, error] = std::from_chars(name.data() + final_prefix.size(), end, epoch.generation);
    if (error != std::errc() || rest == end || *rest != '-') continue;
    if (std::from_chars(rest + 1, end, epoch.number).ec == std::errc()) {
      found->newest = std::max(found->newest, epoch);
    }
  }
  return Status();
}

Result<std::vector<UnpublishedFile>> FileCommitter::LookForUploads() const {
  ASSIGN_OR_RETURN(std::vector<UnpublishedFile> found, plan_->pending->ListUnpublished(plan_->root));
  const std::string prefix = plan_->final_prefix();
  std::erase_if(found, [&](const UnpublishedFile& file) {
    const std::string name = file.path.substr(file.path.find_last_of('/') + 1);
    if (!name.starts_with(prefix)) return true;
    int64_t generation = 0;
    std::from_chars(name.data() + prefix.size(), name.data() + name.size(), generation);
    return generation >= plan_->generation && !plan_->ephemeral;
  });
  return found;
}

// What has got its name since it was found is no longer there under the other.
Status FileCommitter::RemoveLeftovers() {
  if (plan_->pending != nullptr) {
    if (!uploads_) {
      ASSIGN_OR_RETURN(uploads_, LookForUploads());
    }
    for (const UnpublishedFile& file : *uploads_) RETURN_IF_ERROR(plan_->pending->Abort(file));
    uploads_.reset();
    return Status();
  }
  if (!leftovers_) {
    Found found;
    RETURN_IF_ERROR(Look(plan_->root, &found));
    leftovers_ = std::move(found.leftovers);
  }
  for (const std::string& path : *leftovers_) RETURN_IF_ERROR(plan_->format.files->Remove(path));
  leftovers_.reset();
  return Status();
}

}  // namespace caudal
