#include "iceberg/metadata/snapshot_json.h"

#include <nlohmann/json.hpp>

namespace caudal::iceberg {

std::map<std::string, std::string> TextsFromJson(const Json& json, const std::string& place, Status* error) {
  std::map<std::string, std::string> texts;
  for (const auto& [name, value] : json.items()) {
    if (value.is_string()) {
      texts[name] = value.get<std::string>();
    } else if (error->ok()) {
      *error = Status::Data(place + "." + name + " is no string");
    }
  }
  return texts;
}

Snapshot SnapshotFromJson(const Json& json, int32_t format_version, const std::string& place, Status* error) {
  JsonFields object(json, place, error);
  Snapshot snapshot;
  snapshot.snapshot_id = object.Integer("snapshot-id");
  snapshot.parent_snapshot_id = object.OptionalInteger("parent-snapshot-id");
  snapshot.timestamp_ms = object.Integer("timestamp-ms");
  // A table that was made in format 1 keeps its first snapshots as they were.
  snapshot.sequence_number = object.OptionalInteger("sequence-number").value_or(0);
  for (const Json& manifest : object.OptionalArray("manifests")) {
    if (manifest.is_string()) snapshot.manifests.push_back(manifest.get<std::string>());
  }
  const bool listed_here = format_version == 1 && !object.Has("manifest-list");
  if (!listed_here) snapshot.manifest_list = object.Text("manifest-list");
  if (listed_here && !object.Has("manifests")) object.Fail("has neither 'manifest-list' nor 'manifests'");
  if (object.Has("summary")) {
    snapshot.summary = TextsFromJson(object.Object("summary"), object.Place("summary"), error);
  }
  if (object.Has("schema-id")) snapshot.schema_id = object.Int("schema-id");
  snapshot.first_row_id = object.OptionalInteger("first-row-id");
  snapshot.added_rows = object.OptionalInteger("added-rows");
  snapshot.unknown = object.Unknown();
  return snapshot;
}

Json SnapshotToJson(const Snapshot& snapshot) {
  Json json = {{"sequence-number", snapshot.sequence_number}, {"snapshot-id", snapshot.snapshot_id}};
  if (snapshot.parent_snapshot_id) json["parent-snapshot-id"] = *snapshot.parent_snapshot_id;
  json["timestamp-ms"] = snapshot.timestamp_ms;
  if (!snapshot.summary.empty()) json["summary"] = snapshot.summary;
  if (!snapshot.manifest_list.empty()) json["manifest-list"] = snapshot.manifest_list;
  if (!snapshot.manifests.empty()) json["manifests"] = snapshot.manifests;
  if (snapshot.schema_id) json["schema-id"] = *snapshot.schema_id;
  if (snapshot.first_row_id) json["first-row-id"] = *snapshot.first_row_id;
  if (snapshot.added_rows) json["added-rows"] = *snapshot.added_rows;
  WriteUnknown(snapshot.unknown, &json);
  return json;
}

SnapshotRef RefFromJson(const Json& json, const std::string& place, Status* error) {
  JsonFields object(json, place, error);
  SnapshotRef ref;
  ref.snapshot_id = object.Integer("snapshot-id");
  ref.type = object.Text("type");
  if (ref.type != "branch" && ref.type != "tag")
    object.Fail("is of the type '" + ref.type + "', neither branch nor tag");
  ref.min_snapshots_to_keep = object.OptionalInteger("min-snapshots-to-keep");
  ref.max_snapshot_age_ms = object.OptionalInteger("max-snapshot-age-ms");
  ref.max_ref_age_ms = object.OptionalInteger("max-ref-age-ms");
  ref.unknown = object.Unknown();
  return ref;
}

Json RefToJson(const SnapshotRef& ref) {
  Json json = {{"snapshot-id", ref.snapshot_id}, {"type", ref.type}};
  if (ref.min_snapshots_to_keep) json["min-snapshots-to-keep"] = *ref.min_snapshots_to_keep;
  if (ref.max_snapshot_age_ms) json["max-snapshot-age-ms"] = *ref.max_snapshot_age_ms;
  if (ref.max_ref_age_ms) json["max-ref-age-ms"] = *ref.max_ref_age_ms;
  WriteUnknown(ref.unknown, &json);
  return json;
}

}  // namespace caudal::iceberg
