// S3FileSystem: the objects of S3 and of stores that speak like it, as files: "s3://bucket/key".
//
// Any thread; blocks. Folders are what keys have in common: none is made, and one without objects is none. A
// file is there, whole, when it is closed. Rename copies: it is not one step, and who needs one takes
// pending(). Page: docs/object-stores.md.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "fs/s3/s3_client.h"
#include "fs/s3/s3_options.h"
#include "fs/store_file_system.h"

namespace caudal {

class S3FileSystem : public StoreFileSystem, public PendingFiles {
 public:
  S3FileSystem(S3Options options, std::unique_ptr<S3Credentials> credentials, Env* env,
               S3Patience patience = {})
      : client_(std::move(options), std::move(credentials), env, patience) {}

  Result<std::unique_ptr<WritableFile>> Create(const std::string& path) override;
  Result<bool> CreateIfAbsent(const std::string& path, std::string_view bytes) override;
  Result<std::unique_ptr<RandomAccessFile>> Open(const std::string& path) override;
  Result<std::string> ReadAll(const std::string& path) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Result<bool> RenameIfAbsent(const std::string& from, const std::string& to) override;
  Status Remove(const std::string& path) override;
  Status MakeDirectories(const std::string& path) override;
  Result<std::vector<FileInfo>> List(const std::string& path) override;
  Result<FileInfo> Stat(const std::string& path) override;
  Result<bool> Exists(const std::string& path) override;
  PendingFiles* pending(const std::string&) override { return this; }
  Status Replace(const std::string& path, std::string_view bytes) override;
  Result<FileSystem*> WithOptions(const FileOptions&) override { return this; }
  FileSystem* WithGrant(const std::string&, AskForGrant) override { return this; }

  Result<std::unique_ptr<PendingFile>> Begin(const std::string& path) override;
  Result<PublishOutcome> Publish(const std::string& path, const std::string& ticket) override;
  Result<std::vector<UnpublishedFile>> ListUnpublished(const std::string& folder) override;
  Status Abort(const UnpublishedFile& file) override;

 private:
  // The object as a file; nullopt: there is none.
  Result<std::optional<FileInfo>> Head(const S3Place& place, const std::string& path);
  // One page of a folder. `*next`: where the following page begins; empty: nowhere.
  Status ListPage(const S3Place& folder, const std::string& path, std::string* next,
                  std::vector<FileInfo>* files);
  // Whether any object is in it, or stands for it; the bucket is a folder always.
  Result<bool> IsFolder(const S3Place& place);
  Status Copy(const std::string& from, const std::string& to);

  // User error if the store does not know the header on which CreateIfAbsent rests; asked once a bucket.
  Status CheckConditions(const S3Place& place);

  S3Client client_;
  std::mutex mutex_;
  std::set<std::string, std::less<>> conditional_;  // buckets whose store knows it
};

}  // namespace caudal
