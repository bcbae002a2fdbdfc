#include "connect/filesystem/file_position.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace caudal {

std::string FilePosition::ToJson() const {
  // Identities are 64 bits wide, more than a JSON number is safe for elsewhere; a name need not be UTF-8.
  const nlohmann::json json = {{"root", root},
                               {"splits", splits},
                               {"file", file},
                               {"offset", offset},
                               {"done", done},
                               {"identity", std::to_string(identity)},
                               {"listed", listed_micros},
                               {"recent", recent}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<FilePosition> FilePosition::Parse(std::string_view text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  const auto is = [&](const char* key, auto check) { return json.contains(key) && check(json[key]); };
  const auto string = [](const nlohmann::json& value) { return value.is_string(); };
  const auto number = [](const nlohmann::json& value) { return value.is_number_integer(); };
  if (!json.is_object() || !is("root", string) || !is("splits", number) || !is("file", string) ||
      !is("offset", number) || !is("identity", string) || !is("listed", number)) {
    return Status::User(fmt::format("'{}' is not the position of a folder", text));
  }
  FilePosition position;
  position.root = json["root"].get<std::string>();
  position.splits = json["splits"].get<int>();
  position.file = json["file"].get<std::string>();
  position.offset = json["offset"].get<int64_t>();
  position.done = json.value("done", nlohmann::json(false)) == true;
  position.identity = std::strtoull(json["identity"].get<std::string>().c_str(), nullptr, 10);
  position.listed_micros = json["listed"].get<int64_t>();
  for (const nlohmann::json& name : json.value("recent", nlohmann::json::array())) {
    if (name.is_string()) position.recent.push_back(name.get<std::string>());
  }
  return position;
}

}  // namespace caudal
