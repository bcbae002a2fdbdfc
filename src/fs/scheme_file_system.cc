#include "fs/scheme_file_system.h"

#include <fmt/format.h>

#include "fs/file_path.h"

namespace caudal {

Result<FileSystem*> SchemeFileSystem::Of(const std::string& path) const {
  const std::string_view scheme = SchemeOf(path);
  if (scheme.empty()) return local_;
  const auto found = others_.find(scheme);
  if (found != others_.end()) return found->second;
  return Status::User(fmt::format("'{}': there are no files of '{}:'", path, scheme))
      .Hint("name a path of this machine, or s3://bucket/path");
}

Result<std::unique_ptr<WritableFile>> SchemeFileSystem::Create(const std::string& path) {
  ASSIGN_OR_RETURN(FileSystem* const files, Of(path));
  return files->Create(path);
}

Result<bool> SchemeFileSystem::CreateIfAbsent(const std::string& path, std::string_view bytes) {
  ASSIGN_OR_RETURN(FileSystem* const files, Of(path));
  return files->CreateIfAbsent(path, bytes);
}

Result<std::unique_ptr<RandomAccessFile>> SchemeFileSystem::Open(const std::string& path) {
  ASSIGN_OR_RETURN(FileSystem* const files, Of(path));
  return files->Open(path);
}

Result<std::string> SchemeFileSystem::ReadAll(const std::string& path) {
  ASSIGN_OR_RETURN(FileSystem* const files, Of(path));
  return files->ReadAll(path);
}

Status SchemeFileSystem::Rename(const std::string& from, const std::string& to) {
  ASSIGN_OR_RETURN(FileSystem* const files, Of(from));
  ASSIGN_OR_RETURN(FileSystem* const target, Of(to));
  if (files == target) return files->Rename(from, to);
  return Status::Internal(fmt::format("'{}' cannot be renamed to '{}'", from, to));
}

Result<bool> SchemeFileSystem::RenameIfAbsent(const std::string& from, const std::string& to) {
  ASSIGN_OR_RETURN(FileSystem* const files, Of(from));
  ASSIGN_OR_RETURN(FileSystem* const target, Of(to));
  if (files == target) return files->RenameIfAbsent(from, to);
  return Status::Internal(fmt::format("'{}' cannot be renamed to '{}'", from, to));
}

Status SchemeFileSystem::Remove(const std::string& path) {
  ASSIGN_OR_RETURN(FileSystem* const files, Of(path));
  return files->Remove(path);
}

Status SchemeFileSystem::MakeDirectories(const std::string& path) {
  ASSIGN_OR_RETURN(FileSystem* const files, Of(path));
  return files->MakeDirectories(path);
}

Result<std::vector<FileInfo>> SchemeFileSystem::List(const std::string& path) {
  ASSIGN_OR_RETURN(FileSystem* const files, Of(path));
  return files->List(path);
}

Result<FileInfo> SchemeFileSystem::Stat(const std::string& path) {
  ASSIGN_OR_RETURN(FileSystem* const files, Of(path));
  return files->Stat(path);
}

Result<bool> SchemeFileSystem::Exists(const std::string& path) {
  ASSIGN_OR_RETURN(FileSystem* const files, Of(path));
  return files->Exists(path);
}

Status SchemeFileSystem::Replace(const std::string& path, std::string_view bytes) {
  ASSIGN_OR_RETURN(FileSystem* const files, Of(path));
  return ReplaceFile(files, path, bytes);
}

PendingFiles* SchemeFileSystem::pending(const std::string& path) {
  const Result<FileSystem*> files = Of(path);
  return files.ok() ? PendingFilesAt(*files, path) : nullptr;
}

}  // namespace caudal
