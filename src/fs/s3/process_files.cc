#include "fs/s3/process_files.h"

namespace caudal {

class ProcessFiles::Reach : public SchemeFileSystem {
 public:
  Reach(ProcessFiles* owner, std::unique_ptr<S3FileSystem> store)
      : SchemeFileSystem(FileSystem::Local(),
                         {{"s3", store.get()}, {"s3a", store.get()}, {"s3n", store.get()}}),
        owner_(owner),
        store_(std::move(store)) {}

  Result<FileSystem*> WithOptions(const FileOptions& options) override {
    if (!S3Options::AreIn(options)) return this;
    ASSIGN_OR_RETURN(const S3Options said, S3Options::From(options, owner_->base_));
    return owner_->Of(said);
  }

  FileSystem* WithGrant(const std::string& name, AskForGrant ask) override {
    return owner_->Granted(name, std::move(ask));
  }

 private:
  ProcessFiles* owner_;
  std::unique_ptr<S3FileSystem> store_;
};

ProcessFiles::ProcessFiles(EnvironmentVariables variables, Env* env)
    : variables_(std::move(variables)), env_(env), base_(S3Options::FromEnvironment(variables_)) {
  default_ = Of(base_);
}

ProcessFiles::~ProcessFiles() = default;

FileSystem* ProcessFiles::Of(const S3Options& options) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Reach>& reach = reached_[options];
  if (reach == nullptr) {
    reach = std::make_unique<Reach>(
        this, std::make_unique<S3FileSystem>(options, FindS3Credentials(options, variables_, env_), env_));
  }
  return reach.get();
}

FileSystem* ProcessFiles::Granted(const std::string& name, AskForGrant ask) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Reach>& reach = granted_[name];
  if (reach == nullptr) {
    auto credentials =
        MakeGrantedS3Credentials(std::move(ask), base_, FindS3Credentials(base_, variables_, env_), env_);
    reach =
        std::make_unique<Reach>(this, std::make_unique<S3FileSystem>(base_, std::move(credentials), env_));
  }
  return reach.get();
}

}  // namespace caudal
