// The files of one task's epoch as the manifest keeps them: what Commit needs and nothing else.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace caudal {

struct CommittedFile {
  std::string hidden_path;
  std::string final_path;
  int64_t rows = 0;
  int64_t bytes = 0;
  std::string ticket;  // of an upload, which is published; empty: it is renamed
};

std::string FilesToJson(const std::vector<CommittedFile>& files);
// Internal error if the text is none of FilesToJson's.
Result<std::vector<CommittedFile>> FilesFromJson(std::string_view json);

}  // namespace caudal
