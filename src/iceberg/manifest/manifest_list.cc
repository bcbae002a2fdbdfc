#include "iceberg/manifest/manifest_list.h"

#include <fmt/format.h>

#include "iceberg/manifest/avro_record.h"
#include "iceberg/manifest/manifest_schema.h"

namespace caudal::iceberg {
namespace {

constexpr int64_t kPartitionsField = 507;

avro::Value OptionalBytes(const std::optional<std::string>& bytes) {
  return bytes ? avro::Branch(1, avro::Value(*bytes)) : avro::Branch(0, avro::Value());
}

avro::Value SummariesToAvro(const std::vector<FieldSummary>& summaries) {
  avro::ValueList items;
  for (const FieldSummary& summary : summaries) {
    avro::Value nan = summary.contains_nan ? avro::Branch(1, avro::Value(*summary.contains_nan))
                                           : avro::Branch(0, avro::Value());
    items.emplace_back(avro::ValueList{avro::Value(summary.contains_null), std::move(nan),
                                       OptionalBytes(summary.lower_bound),
                                       OptionalBytes(summary.upper_bound)});
  }
  return avro::Branch(1, avro::Value(std::move(items)));
}

avro::Value ManifestToAvro(const ManifestFile& manifest, const ManifestListOptions& options) {
  const int64_t number = manifest.sequence_number.value_or(options.sequence_number);
  avro::ValueList record = {
      avro::Value(manifest.manifest_path),
      avro::Value(manifest.manifest_length),
      avro::Value(manifest.partition_spec_id),
      avro::Value(static_cast<int32_t>(manifest.content)),
      avro::Value(number),
      avro::Value(manifest.min_sequence_number.value_or(number)),
      avro::Value(manifest.added_snapshot_id.value_or(options.snapshot_id)),
      avro::Value(manifest.added_files_count),
      avro::Value(manifest.existing_files_count),
      avro::Value(manifest.deleted_files_count),
      avro::Value(manifest.added_rows_count),
      avro::Value(manifest.existing_rows_count),
      avro::Value(manifest.deleted_rows_count),
      SummariesToAvro(manifest.partitions),
      OptionalBytes(manifest.key_metadata),
  };
  if (options.format_version >= 3) {
    record.push_back(manifest.first_row_id ? avro::Branch(1, avro::Value(*manifest.first_row_id))
                                           : avro::Branch(0, avro::Value()));
  }
  return avro::Value(std::move(record));
}

std::vector<FieldSummary> SummariesFromAvro(const AvroRecord& record, const AvroLayout& layout,
                                            Status* error) {
  std::vector<FieldSummary> summaries;
  const avro::Value* list = record.Find(kPartitionsField);
  const avro::ValueList* items = list == nullptr ? nullptr : list->get<avro::ValueList>();
  for (size_t i = 0; items != nullptr && i < items->size(); ++i) {
    const AvroRecord item(layout, (*items)[i], error);
    summaries.push_back({.contains_null = item.OptionalBoolean(509).value_or(true),
                         .contains_nan = item.OptionalBoolean(518),
                         .lower_bound = item.OptionalText(510),
                         .upper_bound = item.OptionalText(511)});
  }
  return summaries;
}

ManifestFile ManifestFromAvro(const avro::Value& value, const AvroLayout& layout,
                              const AvroLayout& summary_layout, Status* error) {
  const AvroRecord record(layout, value, error);
  ManifestFile manifest;
  manifest.manifest_path = record.Text(500, "manifest_path");
  manifest.manifest_length = record.Integer(501, "manifest_length");
  manifest.partition_spec_id = static_cast<int32_t>(record.Integer(502, "partition_spec_id"));
  const int64_t content = record.OptionalInteger(517).value_or(0);
  if (error->ok() && (content < 0 || content > 1))
    *error = Status::Data(fmt::format("content {} is not known", content));
  manifest.content = content == 1 ? ManifestContent::kDeletes : ManifestContent::kData;
  manifest.sequence_number = record.OptionalInteger(515).value_or(0);
  manifest.min_sequence_number = record.OptionalInteger(516).value_or(0);
  manifest.added_snapshot_id = record.OptionalInteger(503);
  // Format 1 may leave the counts out; what is not counted may be there.
  const auto count = [&](int64_t id) { return record.OptionalInt(id).value_or(1); };
  manifest.added_files_count = count(504);
  manifest.existing_files_count = count(505);
  manifest.deleted_files_count = count(506);
  manifest.added_rows_count = record.OptionalInteger(512).value_or(0);
  manifest.existing_rows_count = record.OptionalInteger(513).value_or(0);
  manifest.deleted_rows_count = record.OptionalInteger(514).value_or(0);
  manifest.partitions = SummariesFromAvro(record, summary_layout, error);
  manifest.key_metadata = record.OptionalText(519);
  manifest.first_row_id = record.OptionalInteger(520);
  return manifest;
}

avro::Metadata HeaderOf(const ManifestListOptions& options) {
  const auto& parent = options.parent_snapshot_id;
  avro::Metadata header = {{"snapshot-id", std::to_string(options.snapshot_id)},
                           {"parent-snapshot-id", parent ? std::to_string(*parent) : "null"},
                           {"sequence-number", std::to_string(options.sequence_number)},
                           {"format-version", std::to_string(options.format_version)}};
  if (options.format_version >= 3) header.emplace_back("first-row-id", std::to_string(options.first_row_id));
  return header;
}

}  // namespace

Result<WrittenManifestList> WriteManifestList(const std::vector<ManifestFile>& manifests,
                                              const ManifestListOptions& options) {
  avro::ContainerWriter container(ManifestListSchema(options.format_version), HeaderOf(options),
                                  options.codec, options.sync);
  WrittenManifestList written;
  for (ManifestFile manifest : manifests) {
    if (options.format_version >= 3 && manifest.content == ManifestContent::kData && !manifest.first_row_id) {
      manifest.first_row_id = options.first_row_id + written.added_rows;
      written.added_rows += manifest.added_rows_count + manifest.existing_rows_count;
    }
    RETURN_IF_ERROR(container.Append(ManifestToAvro(manifest, options)));
  }
  ASSIGN_OR_RETURN(written.bytes, container.Finish());
  return written;
}

Result<std::vector<ManifestFile>> ReadManifestList(std::string_view bytes, const std::string& name,
                                                   const avro::Limits& limits) {
  ASSIGN_OR_RETURN(const auto container, avro::ContainerReader::Open(bytes, name, limits));
  const avro::Schema& schema = container->schema();
  const avro::Node& node = schema.node(schema.root());
  if (node.kind != avro::Kind::kRecord) return Status::Data("no manifest list: it holds no records").At(name);
  const AvroLayout layout = LayoutOf(node);
  const avro::Node* summary = RecordInside(schema, node, kPartitionsField);
  const AvroLayout summary_layout = summary == nullptr ? AvroLayout() : LayoutOf(*summary);
  std::vector<ManifestFile> manifests;
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<avro::Value> value, container->Next());
    if (!value) return manifests;
    Status error;
    manifests.push_back(ManifestFromAvro(*value, layout, summary_layout, &error));
    if (!error.ok()) {
      return std::move(error).At(fmt::format("record {} of manifest list '{}'", manifests.size() - 1, name));
    }
  }
}

}  // namespace caudal::iceberg
