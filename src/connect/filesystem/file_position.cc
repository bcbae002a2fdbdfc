#include "connect/filesystem/file_position.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/durable_name.h"

namespace caudal {
namespace {

constexpr int kVersion = 3;  // 1 had no "version", "size", "modified" and "read"; 2 names as they are

template <typename Name>
std::vector<FileVersion> VersionsFrom(const nlohmann::json& list, Name name) {
  std::vector<FileVersion> versions;
  for (const nlohmann::json& entry : list) {
    if (!entry.is_array() || entry.size() != 3 || !entry[0].is_string() || !entry[1].is_number_integer() ||
        !entry[2].is_number_integer()) {
      continue;
    }
    versions.push_back({name(entry[0]), entry[1].get<int64_t>(), entry[2].get<int64_t>()});
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
  for (const FileVersion& file : read)
    versions.push_back({ToDurableName(file.name), file.size, file.modified_micros});
  nlohmann::json young = nlohmann::json::array();
  for (const std::string& name : recent) young.push_back(ToDurableName(name));
  // Identities are 64 bits wide, more than a JSON number is safe for elsewhere.
  nlohmann::json json = {{"version", kVersion},
                         {"root", ToDurableName(root)},
                         {"folder", ToDurableName(folder)},
                         {"splits", splits},
                         {"file", ToDurableName(file)},
                         {"offset", offset},
                         {"done", done},
                         {"identity", std::to_string(identity)},
                         {"listed", listed_micros},
                         {"size", size},
                         {"modified", modified_micros},
                         {"read", std::move(versions)},
                         {"recent", std::move(young)}};
  if (passed.known()) json["passed"] = {passed.count, std::to_string(passed.sum)};
  return json.dump();
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
  const nlohmann::json version = json.value("version", nlohmann::json(1));
  if (!version.is_number_integer() || version > kVersion) {
    return Status::User(fmt::format("the position of folder {} is of version {}, newer than {}",
                                    json["root"].dump(), version.dump(), kVersion))
        .Hint("use the caudal that wrote it");
  }
  const auto name = [&](const nlohmann::json& value) {
    return version < 3 ? value.get<std::string>() : FromDurableName(value.get<std::string>());
  };
  FilePosition position;
  position.root = name(json["root"]);
  if (is("folder", string)) position.folder = name(json["folder"]);
  position.splits = json["splits"].get<int>();
  position.file = name(json["file"]);
  position.offset = json["offset"].get<int64_t>();
  position.done = json.value("done", nlohmann::json(false)) == true;
  position.identity = std::strtoull(json["identity"].get<std::string>().c_str(), nullptr, 10);
  position.listed_micros = json["listed"].get<int64_t>();
  if (is("size", number)) position.size = json["size"].get<int64_t>();
  if (is("modified", number)) position.modified_micros = json["modified"].get<int64_t>();
  position.read = VersionsFrom(json.value("read", nlohmann::json::array()), name);
  for (const nlohmann::json& young : json.value("recent", nlohmann::json::array())) {
    if (young.is_string()) position.recent.push_back(name(young));
  }
  const nlohmann::json passed = json.value("passed", nlohmann::json());
  if (passed.is_array() && passed.size() == 2 && passed[0].is_number_integer() && passed[1].is_string()) {
    position.passed = {passed[0].get<int64_t>(),
                       std::strtoull(passed[1].get<std::string>().c_str(), nullptr, 10)};
  }
  return position;
}

}  // namespace caudal
