// DeferredFile: a WritableFile that is made when its first bytes must leave memory, so that a task that
// writes few rows touches no disk and a folder that cannot be written to is found where waiting is allowed:
// in Close.
//
// One thread at a time. What fails is tried again at the next call.
#pragma once

#include <memory>
#include <string>

#include "fs/file_system.h"
#include "fs/pending_files.h"

namespace caudal {

class DeferredFile : public WritableFile {
 public:
  // With `names` the file gets its name when it is published, else when it is made.
  DeferredFile(FileSystem* files, std::string path, PendingFiles* names = nullptr)
      : files_(files), names_(names), path_(std::move(path)) {}

  Status Append(std::string_view bytes) override;
  Status Sync() override;
  Status Close() override;
  int64_t size() const override { return size_; }
  int64_t unwritten() const override {
    return static_cast<int64_t>(pending_.size()) + (file_ == nullptr ? 0 : file_->unwritten());
  }
  const std::string& path() const { return path_; }
  // What publishes it; empty: it has its name. REQUIRES: Close returned OK.
  std::string ticket() const { return pending_file_ == nullptr ? "" : pending_file_->ticket(); }

 private:
  // Makes the file and hands it what is pending.
  Status Open();

  FileSystem* files_;
  PendingFiles* names_;
  std::string path_;
  std::unique_ptr<WritableFile> file_;
  PendingFile* pending_file_ = nullptr;  // file_, if it is one
  std::string pending_;                  // while there is no file_
  int64_t size_ = 0;
};

}  // namespace caudal
