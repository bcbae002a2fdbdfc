#include "fs/store_file_system.h"

namespace caudal {

PendingFiles* PendingFilesAt(FileSystem* files, const std::string& path) {
  auto* store = dynamic_cast<StoreFileSystem*>(files);
  return store == nullptr ? nullptr : store->pending(path);
}

Status ReplaceFile(FileSystem* files, const std::string& path, std::string_view bytes) {
  if (auto* store = dynamic_cast<StoreFileSystem*>(files)) return store->Replace(path, bytes);
  const std::string fresh = path + ".new";
  ASSIGN_OR_RETURN(const std::unique_ptr<WritableFile> file, files->Create(fresh));
  RETURN_IF_ERROR(file->Append(bytes));
  RETURN_IF_ERROR(file->Close());
  return files->Rename(fresh, path);
}

Result<FileSystem*> FilesWithOptions(FileSystem* files, const FileOptions& options) {
  auto* store = dynamic_cast<StoreFileSystem*>(files);
  return store == nullptr ? Result<FileSystem*>(files) : store->WithOptions(options);
}

FileSystem* FilesWithGrant(FileSystem* files, const std::string& name, AskForGrant ask) {
  auto* store = dynamic_cast<StoreFileSystem*>(files);
  return store == nullptr ? files : store->WithGrant(name, std::move(ask));
}

}  // namespace caudal
