#include "connect/filesystem/file_position.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace caudal {
namespace {

constexpr int kVersion = 2;  // 1 had no "version", "size", "modified" and "read"

std::vector<FileVersion> VersionsFrom(const nlohmann::json& list) {
  std::vector<FileVersion> versions;
  for (const nlohmann::json& entry : list) {
    if (!entry.is_array() || entry.size() != 3 || !entry[0].is_string() || !entry[1].is_number_integer() ||
        !entry[2].is_number_integer()) {
      continue;
    }
    versions.push_back({entry[0].get<std::string>(), entry[1].get<int64_t>(), entry[2].get<int64_t>()});
  }
  return versions;
}

}  // namespace

void FilePosition::Remember(FileVersion version) {
  for (FileVersion& known : read) {
    if (known.name != version.name) continue;
    known = std::move(version);
    return;
  }
  if (read.size() == kRemembered) read.erase(read.begin());
  read.push_back(std::move(version));
}

std::string FilePosition::ToJson() const {
  nlohmann::json versions = nlohmann::json::array();
  for (const FileVersion& file : read) versions.push_back({file.name, file.size, file.modified_micros});
  // Identities are 64 bits wide, more than a JSON number is safe for elsewhere; a name need not be UTF-8.
  nlohmann::json json = {{"version", kVersion},
                         {"root", root},
                         {"splits", splits},
                         {"file", file},
                         {"offset", offset},
                         {"done", done},
                         {"identity", std::to_string(identity)},
                         {"listed", listed_micros},
                         {"size", size},
                         {"modified", modified_micros},
                         {"read", std::move(versions)},
                         {"recent", recent}};
  if (passed.known()) json["passed"] = {passed.count, std::to_string(passed.sum)};
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
  if (const nlohmann::json version = json.value("version", nlohmann::json(1));
      !version.is_number_integer() || version > kVersion) {
    return Status::User(fmt::format("the position of folder {} is of version {}, newer than {}",
                                    json["root"].dump(), version.dump(), kVersion))
        .Hint("use the caudal that wrote it");
  }
  FilePosition position;
  position.root = json["root"].get<std::string>();
  position.splits = json["splits"].get<int>();
  position.file = json["file"].get<std::string>();
  position.offset = json["offset"].get<int64_t>();
  position.done = json.value("done", nlohmann::json(false)) == true;
  position.identity = std::strtoull(json["identity"].get<std::string>().c_str(), nullptr, 10);
  position.listed_micros = json["listed"].get<int64_t>();
  if (is("size", number)) position.size = json["size"].get<int64_t>();
  if (is("modified", number)) position.modified_micros = json["modified"].get<int64_t>();
  position.read = VersionsFrom(json.value("read", nlohmann::json::array()));
  for (const nlohmann::json& name : json.value("recent", nlohmann::json::array())) {
    if (name.is_string()) position.recent.push_back(name.get<std::string>());
  }
  const nlohmann::json passed = json.value("passed", nlohmann::json());
  if (passed.is_array() && passed.size() == 2 && passed[0].is_number_integer() && passed[1].is_string()) {
    position.passed = {passed[0].get<int64_t>(),
                       std::strtoull(passed[1].get<std::string>().c_str(), nullptr, 10)};
  }
  return position;
}

}  // namespace caudal
