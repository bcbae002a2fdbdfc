#include "connect/iceberg/sink/iceberg_committable.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/durable_name.h"

namespace caudal {
namespace {

using Json = nlohmann::json;

constexpr int kVersion = 1;
constexpr int kVersionWithKeys = 2;

std::string Hex(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<uint8_t>(byte));
  return text;
}

std::string FromHex(const std::string& text) {
  std::string bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

Json ToJson(const iceberg::FieldSummary& summary) {
  Json json = {{"contains-null", summary.contains_null}};
  if (summary.contains_nan) json["contains-nan"] = *summary.contains_nan;
  if (summary.lower_bound) json["lower"] = Hex(*summary.lower_bound);
  if (summary.upper_bound) json["upper"] = Hex(*summary.upper_bound);
  return json;
}

iceberg::FieldSummary SummaryFrom(const Json& json) {
  iceberg::FieldSummary summary;
  summary.contains_null = json.at("contains-null").get<bool>();
  if (json.contains("contains-nan")) summary.contains_nan = json["contains-nan"].get<bool>();
  if (json.contains("lower")) summary.lower_bound = FromHex(json["lower"].get<std::string>());
  if (json.contains("upper")) summary.upper_bound = FromHex(json["upper"].get<std::string>());
  return summary;
}

// Of a manifest that PrepareAppend wrote: added data files alone.
Json ToJson(const iceberg::ManifestFile& manifest) {
  Json json = {{"path", ToDurableName(manifest.manifest_path)},
               {"bytes", manifest.manifest_length},
               {"spec", manifest.partition_spec_id},
               {"files", manifest.added_files_count},
               {"rows", manifest.added_rows_count},
               {"partitions", Json::array()}};
  for (const auto& summary : manifest.partitions) json["partitions"].push_back(ToJson(summary));
  return json;
}

iceberg::ManifestFile ManifestFrom(const Json& json) {
  iceberg::ManifestFile manifest;
  manifest.manifest_path = FromDurableName(json.at("path").get<std::string>());
  manifest.manifest_length = json.at("bytes").get<int64_t>();
  manifest.partition_spec_id = json.at("spec").get<int32_t>();
  manifest.added_files_count = json.at("files").get<int32_t>();
  manifest.added_rows_count = json.at("rows").get<int64_t>();
  for (const Json& summary : json.at("partitions")) manifest.partitions.push_back(SummaryFrom(summary));
  return manifest;
}

IcebergCommittable From(const Json& json) {
  IcebergCommittable made;
  iceberg::PreparedAppend& append = made.append;
  append.table_uuid = json.at("table").get<std::string>();
  append.commit_uuid = json.at("commit").get<std::string>();
  append.schema_id = json.at("schema").get<int32_t>();
  append.bytes = json.at("bytes").get<int64_t>();
  for (const Json& name : json.at("partitions"))
    append.partitions.insert(FromDurableName(name.get<std::string>()));
  for (const Json& manifest : json.at("manifests")) {
    append.manifests.push_back(ManifestFrom(manifest));
    append.files += append.manifests.back().added_files_count;
    append.records += append.manifests.back().added_rows_count;
  }
  for (const Json& file : json.at("files")) {
    made.files.push_back(
        {FromDurableName(file.at("path").get<std::string>()), file.at("bytes").get<int64_t>()});
  }
  if (json.contains("keys")) {
    const Json& keys = json["keys"];
    made.keys = KeyPlacesFile{FromDurableName(keys.at("path").get<std::string>()),
                              keys.at("bytes").get<int64_t>(), keys.at("checksum").get<uint32_t>()};
    made.key_identity = keys.value("identity", "");
  }
  return made;
}

}  // namespace

std::string IcebergCommittable::ToJson() const {
  Json json = {{"version", keys ? kVersionWithKeys : kVersion},
               {"table", append.table_uuid},
               {"commit", append.commit_uuid},
               {"schema", append.schema_id},
               {"bytes", append.bytes},
               {"partitions", Json::array()},
               {"manifests", Json::array()},
               {"files", Json::array()}};
  for (const std::string& partition : append.partitions)
    json["partitions"].push_back(ToDurableName(partition));
  for (const auto& manifest : append.manifests) json["manifests"].push_back(caudal::ToJson(manifest));
  for (const File& file : files) {
    json["files"].push_back({{"path", ToDurableName(file.location)}, {"bytes", file.bytes}});
  }
  if (keys) {
    json["keys"] = {{"path", ToDurableName(keys->path)},
                    {"bytes", keys->bytes},
                    {"checksum", keys->checksum},
                    {"identity", key_identity}};
  }
  return json.dump();
}

Result<IcebergCommittable> IcebergCommittable::Parse(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  try {
    const int version = json.is_object() ? json.at("version").get<int>() : 0;
    if (version == kVersion || version == kVersionWithKeys) return From(json);
  } catch (const std::exception&) {
    // Said below: whatever is wrong, it is not ours.
  }
  return Status::Internal(fmt::format("'{}' is no epoch of an Iceberg table", text));
}

}  // namespace caudal
