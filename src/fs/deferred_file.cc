#include "fs/deferred_file.h"

namespace caudal {
namespace {

constexpr size_t kKeptBytes = 256 * 1024;

}  // namespace

Status DeferredFile::Open() {
  if (file_ == nullptr && names_ != nullptr) {
    ASSIGN_OR_RETURN(std::unique_ptr<PendingFile> begun, names_->Begin(path_));
    pending_file_ = begun.get();
    file_ = std::move(begun);
  } else if (file_ == nullptr) {
    RETURN_IF_ERROR(files_->MakeDirectories(path_.substr(0, path_.find_last_of('/'))));
    ASSIGN_OR_RETURN(file_, files_->Create(path_));
  }
  // The file keeps what it cannot write yet.
  const std::string bytes = std::exchange(pending_, std::string());
  return bytes.empty() ? Status() : file_->Append(bytes);
}

Status DeferredFile::Append(std::string_view bytes) {
  size_ += static_cast<int64_t>(bytes.size());
  if (file_ != nullptr) return file_->Append(bytes);
  pending_.append(bytes);
  return pending_.size() < kKeptBytes ? Status() : Open();
}

Status DeferredFile::Sync() {
  RETURN_IF_ERROR(Open());
  return file_->Sync();
}

Status DeferredFile::Close() {
  RETURN_IF_ERROR(Open());
  return file_->Close();
}

}  // namespace caudal
