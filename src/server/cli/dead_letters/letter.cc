#include "server/cli/dead_letters/letter.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/crc32c.h"

namespace caudal {

std::string Letter::origin() const { return topic.empty() ? file : fmt::format("{}[{}]", topic, partition); }

std::string Letter::id() const {
  return fmt::format("{}@{}:{:08x}", origin(), offset, Crc32c(raw.value_or(""), Crc32c(key.value_or(""))));
}

std::string_view MarkName(Mark::What what) {
  return what == Mark::What::kReplayed ? "replayed" : "discarded";
}

Result<Mark::What> ParseMark(std::string_view name) {
  for (const Mark::What what : {Mark::What::kReplayed, Mark::What::kDiscarded}) {
    if (name == MarkName(what)) return what;
  }
  return Status::Data(fmt::format("'{}' is nothing that is done with dead letters", name));
}

Result<Mark> ReadMark(const nlohmann::json& note) {
  const auto has = [&note](const char* name, bool (nlohmann::json::*is)() const noexcept) {
    return note.contains(name) && (note[name].*is)();
  };
  using Json = nlohmann::json;
  if (!note.is_object() || !has("what", &Json::is_string) || !has("at", &Json::is_number_integer) ||
      (note.contains("reason") && !note["reason"].is_string())) {
    return Status::Data("it does not say what was done with a dead letter, and when");
  }
  Mark mark;
  ASSIGN_OR_RETURN(mark.what, ParseMark(note["what"].get<std::string>()));
  mark.at_millis = note["at"];
  mark.reason = note.value("reason", "");
  return mark;
}

bool LetterSelection::empty() const {
  return error_class.empty() && query.empty() && topic.empty() && !partition && !from_offset && !to_offset &&
         !since_millis && !until_millis;
}

bool LetterSelection::Matches(const Letter& letter) const {
  const auto is = [](const std::string& wanted, const std::string& has) {
    return wanted.empty() || wanted == has;
  };
  return is(error_class, letter.error_class) && is(query, letter.query) && is(topic, letter.topic) &&
         (!partition || *partition == letter.partition) && (!from_offset || letter.offset >= *from_offset) &&
         (!to_offset || letter.offset <= *to_offset) &&
         (!since_millis || letter.first_seen_millis >= *since_millis) &&
         (!until_millis || letter.first_seen_millis < *until_millis);
}

}  // namespace caudal
