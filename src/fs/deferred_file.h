// DeferredFile: a WritableFile that is made when its first bytes must leave memory, so that a task that
// writes few rows touches no disk and a folder that cannot be written to is found where waiting is allowed:
// in Close.
//
// One thread at a time. What fails is tried again at the next call.
#pragma once

#include <memory>
#include <string>

#include "fs/file_system.h"

namespace caudal {

class DeferredFile : public WritableFile {
 public:
  DeferredFile(FileSystem* files, std::string path) : files_(files), path_(std::move(path)) {}

  Status Append(std::string_view bytes) override;
  Status Sync() override;
  Status Close() override;
  int64_t size() const override { return size_; }
  int64_t unwritten() const override {
    return static_cast<int64_t>(pending_.size()) + (file_ == nullptr ? 0 : file_->unwritten());
  }
  const std::string& path() const { return path_; }

 private:
  // Makes the file and hands it what is pending.
  Status Open();

  FileSystem* files_;
  std::string path_;
  std::unique_ptr<WritableFile> file_;
  std::string pending_;  // while there is no file_
  int64_t size_ = 0;
};

}  // namespace caudal
