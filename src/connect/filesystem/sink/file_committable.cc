#include "connect/filesystem/sink/file_committable.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace caudal {

std::string FilesToJson(const std::vector<CommittedFile>& files) {
  nlohmann::json list = nlohmann::json::array();
  for (const CommittedFile& file : files) {
    list.push_back(
        {{"from", file.hidden_path}, {"to", file.final_path}, {"rows", file.rows}, {"bytes", file.bytes}});
  }
  return nlohmann::json{{"files", list}}.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<std::vector<CommittedFile>> FilesFromJson(std::string_view text) {
  const auto damaged = [&] {
    return Status::Internal(fmt::format("'{}' is no list of files to commit", text));
  };
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("files") || !json["files"].is_array()) return damaged();
  std::vector<CommittedFile> files;
  for (const nlohmann::json& entry : json["files"]) {
    if (!entry.is_object() || !entry.contains("from") || !entry.contains("to") ||
        !entry["from"].is_string() || !entry["to"].is_string()) {
      return damaged();
    }
    files.push_back({entry["from"].get<std::string>(), entry["to"].get<std::string>(),
                     entry.value("rows", int64_t{0}), entry.value("bytes", int64_t{0})});
  }
  return files;
}

}  // namespace caudal
