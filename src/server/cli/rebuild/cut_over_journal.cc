#include "server/cli/rebuild/cut_over_journal.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "fs/file_system.h"

namespace caudal {

std::string CutOverJournalIn(const std::string& state_root) { return state_root + "/cut-over.json"; }

Status CheckNoCutOver(const std::string& state_root) {
  const std::string path = CutOverJournalIn(state_root);
  ASSIGN_OR_RETURN(const bool there, FileSystem::Local()->Exists(path));
  if (!there) return Status();
  const Result<std::string> text = FileSystem::Local()->ReadAll(path);
  const nlohmann::json json =
      text.ok() ? nlohmann::json::parse(*text, nullptr, false) : nlohmann::json::object();
  const bool whole = json.is_object() && json.contains("query") && json["query"].is_string();
  return Status::User(fmt::format("a cut-over of {} is not complete",
                                  whole ? "'" + json["query"].get<std::string>() + "'" : "a rebuilt query"))
      .At(path)
      .Hint("say 'caudal rebuild …' with the same words again, which completes it");
}

}  // namespace caudal
