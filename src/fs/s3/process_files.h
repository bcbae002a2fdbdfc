// ProcessFiles: the files of a process: those of this machine, and of object stores, as the environment and
// the options of tables say.
//
// Made once, before anything runs. Any thread. File systems that options or grants ask for stay for as long
// as it does: there are as many as there are different options, and names of grants.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "base/env.h"
#include "fs/s3/s3_file_system.h"
#include "fs/scheme_file_system.h"

namespace caudal {

class ProcessFiles {
 public:
  ProcessFiles(EnvironmentVariables variables, Env* env);
  ~ProcessFiles();

  // With what the environment says.
  FileSystem* files() { return default_; }

 private:
  // All that is reached with the same options.
  class Reach;

  FileSystem* Of(const S3Options& options);
  FileSystem* Granted(const std::string& name, AskForGrant ask);

  EnvironmentVariables variables_;
  Env* env_;
  S3Options base_;
  std::mutex mutex_;
  std::map<S3Options, std::unique_ptr<Reach>> reached_;
  std::map<std::string, std::unique_ptr<Reach>> granted_;
  FileSystem* default_;
};

}  // namespace caudal
