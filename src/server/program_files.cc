#include "server/program_files.h"

#include <unistd.h>

#include <string_view>

#include "fs/s3/process_files.h"

namespace caudal {
namespace {

EnvironmentVariables ReadVariables() {
  EnvironmentVariables variables;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string_view entry = *at;
    const size_t equals = entry.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = entry.substr(0, equals);
    if (name.starts_with("AWS_") || name == "HOME")
      variables.emplace(std::string(name), std::string(entry.substr(equals + 1)));
  }
  return variables;
}

}  // namespace

FileSystem* ProgramFiles() {
  static auto* files = new ProcessFiles(ReadVariables(), Env::Real());
  return files->files();
}

Result<FileSystem*> FilesOfTable(const Table& revealed) {
  return FilesWithOptions(ProgramFiles(), revealed.options);
}

}  // namespace caudal
