#include "iceberg/manifest/manifest_reader.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "base/json_document.h"
#include "iceberg/manifest/manifest_schema.h"
#include "iceberg/metadata/partition_json.h"

namespace caudal::iceberg {
namespace {

constexpr int64_t kDataFileField = 2;
constexpr int64_t kPartitionField = 102;

Status NoManifest(std::string_view what) { return Status::Data(fmt::format("no manifest: {}", what)); }

template <typename Enum>
Enum EnumOf(int64_t number, int64_t most, std::string_view name, Status* error) {
  if (number >= 0 && number <= most) return static_cast<Enum>(number);
  if (error->ok()) *error = Status::Data(fmt::format("{} {} is not known", name, number));
  return Enum{};
}

}  // namespace

Result<std::unique_ptr<ManifestReader>> ManifestReader::Open(std::string_view bytes,
                                                             const ManifestFile& manifest,
                                                             const avro::Limits& limits) {
  std::unique_ptr<ManifestReader> reader(new ManifestReader(manifest));
  ASSIGN_OR_RETURN(reader->container_, avro::ContainerReader::Open(bytes, manifest.manifest_path, limits));
  Status status = reader->ReadHeader();
  if (!status.ok())
    return std::move(status).At(fmt::format("the header of manifest '{}'", manifest.manifest_path));
  return reader;
}

Status ManifestReader::ReadHeader() {
  const avro::Schema& schema = container_->schema();
  const avro::Node& entry = schema.node(schema.root());
  if (entry.kind != avro::Kind::kRecord) return NoManifest("its entries are no records");
  entry_layout_ = LayoutOf(entry);
  const avro::Node* file = RecordInside(schema, entry, kDataFileField);
  if (file == nullptr) return NoManifest("its entries have no data_file (id 2)");
  file_layout_ = LayoutOf(*file);
  partition_ = RecordInside(schema, *file, kPartitionField);
  if (partition_ == nullptr) return NoManifest("its files have no partition (id 102)");
  partition_layout_ = LayoutOf(*partition_);

  spec_.spec_id = manifest_.partition_spec_id;
  const std::string* fields = container_->FindMetadata("partition-spec");
  if (fields == nullptr) return NoManifest("the metadata key 'partition-spec' is missing");
  ASSIGN_OR_RETURN(const Json json, ParseJsonDocument(*fields));
  Status error;
  spec_.fields = SpecFieldsFromJson(json, "partition-spec", &error);
  RETURN_IF_ERROR(error);
  if (const std::string* id = container_->FindMetadata("partition-spec-id");
      id != nullptr && *id != std::to_string(manifest_.partition_spec_id)) {
    return NoManifest(
        fmt::format("it is of spec {}, in the list it is of spec {}", *id, manifest_.partition_spec_id));
  }
  const std::string* content = container_->FindMetadata("content");  // not in format 1
  const bool deletes = content != nullptr && *content == "deletes";
  if (deletes != (manifest_.content == ManifestContent::kDeletes)) {
    return NoManifest(fmt::format("it holds {}, in the list the other", deletes ? "deletes" : "data"));
  }
  return {};
}

Result<std::optional<ManifestEntry>> ManifestReader::Next() {
  ASSIGN_OR_RETURN(const std::optional<avro::Value> value, container_->Next());
  if (!value) return std::optional<ManifestEntry>();
  Result<ManifestEntry> entry = Read(*value);
  Status status = entry.status();
  if (status.ok()) status = Inherit(&entry.value());
  if (!status.ok())
    return std::move(status).At(fmt::format("an entry of manifest '{}'", manifest_.manifest_path));
  return std::optional<ManifestEntry>(std::move(entry).value());
}

Result<ManifestEntry> ManifestReader::Read(const avro::Value& value) const {
  Status error;
  const AvroRecord record(entry_layout_, value, &error);
  ManifestEntry entry;
  entry.status = EnumOf<EntryStatus>(record.Integer(0, "status"), 2, "status", &error);
  entry.snapshot_id = record.OptionalInteger(1);
  entry.sequence_number = record.OptionalInteger(3);
  entry.file_sequence_number = record.OptionalInteger(4);
  const avro::Value* file = record.Find(kDataFileField);
  if (file == nullptr) return Status::Data("the field 'data_file' (id 2) is missing");
  ReadFile(AvroRecord(file_layout_, *file, &error), &entry.file, &error);
  if (!error.ok()) return error;
  const bool deletes = manifest_.content == ManifestContent::kDeletes;
  if ((entry.file.content != FileContent::kData) != deletes) {
    return Status::Data(fmt::format("'{}' is of content {} in a manifest of {}", entry.file.file_path,
                                    static_cast<int>(entry.file.content), deletes ? "deletes" : "data"));
  }
  return entry;
}

void ManifestReader::ReadFile(const AvroRecord& record, DataFile* file, Status* error) const {
  file->content = EnumOf<FileContent>(record.OptionalInteger(134).value_or(0), 2, "content", error);
  file->file_path = record.Text(100, "file_path");
  file->file_format = record.Text(101, "file_format");
  file->record_count = record.Integer(103, "record_count");
  file->file_size_in_bytes = record.Integer(104, "file_size_in_bytes");
  file->column_sizes = record.Counts(108);
  file->value_counts = record.Counts(109);
  file->null_value_counts = record.Counts(110);
  file->nan_value_counts = record.Counts(137);
  file->lower_bounds = record.Bounds(125);
  file->upper_bounds = record.Bounds(128);
  file->key_metadata = record.OptionalText(131);
  file->split_offsets = record.Integers(132);
  for (int64_t id : record.Integers(135)) file->equality_ids.push_back(static_cast<int32_t>(id));
  file->sort_order_id = record.OptionalInt(140);
  file->first_row_id = record.OptionalInteger(142);
  file->referenced_data_file = record.OptionalText(143);
  file->content_offset = record.OptionalInteger(144);
  file->content_size_in_bytes = record.OptionalInteger(145);
  if (error->ok() && file->record_count < 0) *error = Status::Data("record_count is below 0");

  const avro::Value* tuple = record.Find(kPartitionField);
  const avro::ValueList* values = tuple == nullptr ? nullptr : tuple->get<avro::ValueList>();
  for (const PartitionField& field : spec_.fields) {
    // A field that was dropped from the spec in format 1 may be missing here.
    const auto place = partition_layout_.find(field.field_id);
    if (values == nullptr || place == partition_layout_.end()) {
      file->partition.emplace_back();
      continue;
    }
    file->partition.push_back(PartitionFromAvro(container_->schema(), partition_->fields[place->second].type,
                                                (*values)[place->second]));
  }
}

Status ManifestReader::Inherit(ManifestEntry* entry) {
  if (!entry->snapshot_id) entry->snapshot_id = manifest_.added_snapshot_id;
  const int64_t from_list = manifest_.sequence_number.value_or(0);
  // Before format 2 nothing was numbered: 0 is older than everything.
  const bool inherits = entry->status == EntryStatus::kAdded || from_list == 0;
  if (!entry->sequence_number && inherits) entry->sequence_number = from_list;
  if (!entry->file_sequence_number && inherits) entry->file_sequence_number = from_list;
  if (!entry->sequence_number) {
    return Status::Data(
        fmt::format("'{}' was added before this manifest and has no sequence number", entry->file.file_path));
  }
  if (entry->file.content == FileContent::kData && entry->status != EntryStatus::kDeleted && next_row_id_ &&
      !entry->file.first_row_id) {
    entry->file.first_row_id = *next_row_id_;
    *next_row_id_ += entry->file.record_count;
  }
  return {};
}

}  // namespace caudal::iceberg
