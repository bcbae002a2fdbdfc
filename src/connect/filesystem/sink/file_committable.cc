#include "connect/filesystem/sink/file_committable.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/durable_name.h"

namespace caudal {
namespace {

constexpr int kCommittableVersion = 2;  // 1 had no "version", and paths as they are
constexpr int kWithTickets = 3;         // of uploads

}  // namespace

std::string FilesToJson(const std::vector<CommittedFile>& files) {
  nlohmann::json list = nlohmann::json::array();
  int version = kCommittableVersion;
  for (const CommittedFile& file : files) {
    list.push_back({{"from", ToDurableName(file.hidden_path)},
                    {"to", ToDurableName(file.final_path)},
                    {"rows", file.rows},
                    {"bytes", file.bytes}});
    if (file.ticket.empty()) continue;
    list.back()["ticket"] = file.ticket;
    version = kWithTickets;
  }
  return nlohmann::json{{"version", version}, {"files", list}}.dump();
}

Result<std::vector<CommittedFile>> FilesFromJson(std::string_view text) {
  const auto damaged = [&] {
    return Status::Internal(fmt::format("'{}' is no list of files to commit", text));
  };
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("files") || !json["files"].is_array()) return damaged();
  const nlohmann::json version = json.value("version", nlohmann::json(1));
  if (!version.is_number_integer() || version > kWithTickets) return damaged();
  const auto path = [&](const nlohmann::json& text) {
    return version == 1 ? text.get<std::string>() : FromDurableName(text.get<std::string>());
  };
  std::vector<CommittedFile> files;
  for (const nlohmann::json& entry : json["files"]) {
    if (!entry.is_object() || !entry.contains("from") || !entry.contains("to") ||
        !entry["from"].is_string() || !entry["to"].is_string() ||
        (entry.contains("ticket") && !entry["ticket"].is_string())) {
      return damaged();
    }
    files.push_back({path(entry["from"]), path(entry["to"]), entry.value("rows", int64_t{0}),
                     entry.value("bytes", int64_t{0}), entry.value("ticket", "")});
  }
  return files;
}

}  // namespace caudal
