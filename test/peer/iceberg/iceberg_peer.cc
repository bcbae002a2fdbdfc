// iceberg_peer: caudal's Iceberg for a script that compares it with another implementation.
//
//   iceberg_peer plan METADATA                                   the files of the current snapshot, one JSON
//   line iceberg_peer create DATABASE CATALOG WAREHOUSE TABLE FORMAT  a table of schema and spec read from
//   stdin iceberg_peer append DATABASE CATALOG TABLE EPOCH             files read from stdin, as a pipeline's
//   epoch
#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "iceberg/catalog/sqlite_catalog.h"
#include "iceberg/commit/append.h"
#include "iceberg/deletes/deletion_vector.h"
#include "iceberg/manifest/manifest_schema.h"
#include "iceberg/metadata/partition_json.h"
#include "iceberg/scan/scan_plan.h"
#include "iceberg/single_value.h"
#include "iceberg/transform.h"

namespace caudal::iceberg {
namespace {

TableFiles Files() { return {FileSystem::Local(), Env::Real()}; }

Json Input() { return Json::parse(std::string(std::istreambuf_iterator<char>(std::cin), {})); }

TableName NameOf(const std::string& text) {
  const size_t dot = text.rfind('.');
  return {{text.substr(0, dot)}, text.substr(dot + 1)};
}

Json ShownValue(const Value& value) {
  if (const bool* v = std::get_if<bool>(&value.data)) return *v;
  if (const int64_t* v = std::get_if<int64_t>(&value.data)) return *v;
  if (const double* v = std::get_if<double>(&value.data)) return *v;
  if (const int128_t* v = std::get_if<int128_t>(&value.data)) return static_cast<int64_t>(*v);
  const std::string* text = std::get_if<std::string>(&value.data);
  return text == nullptr
             ? Json()
             : Json(fmt::format("{:02x}", fmt::join(std::vector<uint8_t>(text->begin(), text->end()), "")));
}

Result<Json> ShownDelete(const LiveFile& live) {
  Json json = {{"path", live.file.file_path}, {"format", live.file.file_format}};
  json["equality_ids"] = live.file.equality_ids;
  if (live.file.is_deletion_vector()) {
    ASSIGN_OR_RETURN(const std::string bytes, Files().Read(live.file.file_path));
    const auto blob = std::string_view(bytes).substr(static_cast<size_t>(*live.file.content_offset),
                                                     static_cast<size_t>(*live.file.content_size_in_bytes));
    ASSIGN_OR_RETURN(const PositionSet positions, DecodeDeletionVector(blob, live.file.record_count));
    json["positions"] = positions.ToVector();
  }
  return json;
}

Status Plan(const std::string& location) {
  ASSIGN_OR_RETURN(const TableMetadata table, Files().ReadMetadata(location));
  Json files = Json::array();
  if (table.current_snapshot_id) {
    ASSIGN_OR_RETURN(const ScanPlan plan,
                     PlanScan(Files(), table, *table.FindSnapshot(*table.current_snapshot_id)));
    for (const ScanFile& scan : plan.files) {
      Json file = {{"path", scan.data.file.file_path}, {"rows", scan.data.file.record_count}};
      file["format"] = scan.data.file.file_format;
      file["spec"] = scan.data.spec_id;
      file["sequence"] = scan.data.sequence_number;
      if (scan.data.file.first_row_id) file["first_row_id"] = *scan.data.file.first_row_id;
      file["partition"] = Json::array();
      for (const Value& value : scan.data.file.partition) file["partition"].push_back(ShownValue(value));
      file["deletes"] = Json::array();
      for (size_t number : scan.deletes) {
        ASSIGN_OR_RETURN(Json deletes, ShownDelete(plan.deletes[number]));
        file["deletes"].push_back(std::move(deletes));
      }
      files.push_back(std::move(file));
    }
  }
  std::cout << files.dump() << "\n";
  return {};
}

Status Create(const std::vector<std::string>& words) {
  const Json input = Input();
  const TableFiles files = Files();
  ASSIGN_OR_RETURN(const auto catalog,
                   SqliteCatalog::Open({.path = words[1], .name = words[2], .warehouse = words[3]}, &files));
  const TableName name = NameOf(words[4]);
  NewTable table{.format_version = std::stoi(words[5])};
  Status error;
  table.schema = SchemaFromJson(input.at("schema"), "schema", &error);
  table.spec = SpecFromJson(input.at("spec"), "spec", &error);
  RETURN_IF_ERROR(error);
  RETURN_IF_ERROR(catalog->CreateNamespace(name.space));
  return catalog->CreateTable(name, table).status();
}

// {"path", "rows", "bytes", "values": the bounds (hex) of the columns that the partition is made of, or null}
Result<DataFile> FileOf(const Json& json, const Schema& schema, const PartitionSpec& spec) {
  DataFile file{
      .file_path = json.at("path"), .record_count = json.at("rows"), .file_size_in_bytes = json.at("bytes")};
  for (const PartitionField& field : spec.fields) {
    const Type& type = schema.FindField(field.source_ids[0])->type;
    const Json& value = json.at("values").at(schema.FindField(field.source_ids[0])->name);
    Value decoded;
    if (!value.is_null()) {
      std::string bytes;
      const auto& hex = value.get_ref<const std::string&>();
      for (size_t i = 0; i < hex.size(); i += 2)
        bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
      ASSIGN_OR_RETURN(decoded, DecodeSingleValue(type, bytes));
    }
    file.partition.push_back(Transform::Parse(field.transform).Apply(type, decoded));
  }
  return file;
}

Status AppendFiles(const std::vector<std::string>& words) {
  const Json input = Input();
  const TableFiles files = Files();
  ASSIGN_OR_RETURN(const auto catalog, SqliteCatalog::Open({.path = words[1], .name = words[2]}, &files));
  const TableName name = NameOf(words[3]);
  ASSIGN_OR_RETURN(const LoadedTable table, catalog->LoadTable(name));
  const PartitionSpec& spec = *table.metadata.FindSpec(table.metadata.default_spec_id);
  std::vector<DataFile> data;
  for (const Json& json : input) {
    ASSIGN_OR_RETURN(DataFile file,
                     FileOf(json, *table.metadata.FindSchema(table.metadata.current_schema_id), spec));
    data.push_back(std::move(file));
  }
  ASSIGN_OR_RETURN(const PreparedAppend append, PrepareAppend(files, table.metadata, spec.spec_id, data));
  const PipelineToken token{"peer", 1, std::stoll(words[4]), "{}"};
  return CommitAppend(catalog.get(), files, name, append, token, {}).status();
}

Status Run(const std::vector<std::string>& words) {
  if (words.size() == 2 && words[0] == "plan") return Plan(words[1]);
  if (words.size() == 6 && words[0] == "create") return Create(words);
  if (words.size() == 5 && words[0] == "append") return AppendFiles(words);
  return Status::User(
      "plan METADATA | create DATABASE CATALOG WAREHOUSE TABLE FORMAT | append DATABASE CATALOG TABLE EPOCH");
}

}  // namespace
}  // namespace caudal::iceberg

int main(int count, char** words) {
  const caudal::Status status = caudal::iceberg::Run({words + 1, words + count});
  if (status.ok()) return 0;
  std::cerr << status.ToString() << "\n";
  return 1;
}
