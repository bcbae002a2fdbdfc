#include "iceberg/manifest/manifest_writer.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "iceberg/bounds.h"
#include "iceberg/manifest/manifest_schema.h"
#include "iceberg/metadata/partition_json.h"
#include "iceberg/single_value.h"

namespace caudal::iceberg {
namespace {

avro::Value Absent() { return avro::Branch(0, avro::Value()); }

avro::Value Long(const std::optional<int64_t>& number) {
  return number ? avro::Branch(1, avro::Value(*number)) : Absent();
}

avro::Value Text(const std::optional<std::string>& text) {
  return text ? avro::Branch(1, avro::Value(*text)) : Absent();
}

template <typename Map>
avro::Value Pairs(const Map& map) {
  if (map.empty()) return Absent();
  avro::ValueList pairs;
  for (const auto& [key, value] : map)
    pairs.emplace_back(avro::ValueList{avro::Value(key), avro::Value(value)});
  return avro::Branch(1, avro::Value(std::move(pairs)));
}

template <typename List>
avro::Value Items(const List& list) {
  if (list.empty()) return Absent();
  avro::ValueList items;
  for (const auto& item : list) items.emplace_back(item);
  return avro::Branch(1, avro::Value(std::move(items)));
}

avro::Value FileToAvro(const DataFile& file, int format_version, const std::vector<Type>& types) {
  avro::ValueList partition;
  for (size_t i = 0; i < types.size(); ++i) partition.push_back(PartitionToAvro(types[i], file.partition[i]));
  avro::ValueList record = {
      avro::Value(static_cast<int32_t>(file.content)),
      avro::Value(file.file_path),
      avro::Value(file.file_format),
      avro::Value(std::move(partition)),
      avro::Value(file.record_count),
      avro::Value(file.file_size_in_bytes),
      Pairs(file.column_sizes),
      Pairs(file.value_counts),
      Pairs(file.null_value_counts),
      Pairs(file.nan_value_counts),
      Pairs(file.lower_bounds),
      Pairs(file.upper_bounds),
      Text(file.key_metadata),
      Items(file.split_offsets),
      Items(file.equality_ids),
      file.sort_order_id ? avro::Branch(1, avro::Value(*file.sort_order_id)) : Absent(),
  };
  if (format_version >= 3) record.push_back(Long(file.first_row_id));
  record.push_back(Text(file.referenced_data_file));
  if (format_version >= 3) {
    record.push_back(Long(file.content_offset));
    record.push_back(Long(file.content_size_in_bytes));
  }
  return avro::Value(std::move(record));
}

avro::Metadata HeaderOf(const Schema& schema, const PartitionSpec& spec,
                        const ManifestWriter::Options& options) {
  return {{"schema", SchemaText(schema)},
          {"schema-id", std::to_string(schema.schema_id)},
          {"partition-spec", SpecFieldsToJson(spec).dump()},
          {"partition-spec-id", std::to_string(spec.spec_id)},
          {"format-version", std::to_string(options.format_version)},
          {"content", options.content == ManifestContent::kData ? "data" : "deletes"}};
}

}  // namespace

Result<ManifestWriter> ManifestWriter::Make(const Schema& schema, const PartitionSpec& spec,
                                            const Options& options) {
  ASSIGN_OR_RETURN(std::vector<Type> types, PartitionTypes(schema, spec));
  avro::ContainerWriter container(ManifestEntrySchema(options.format_version, spec, types),
                                  HeaderOf(schema, spec, options), options.codec, options.sync);
  return ManifestWriter(options, spec, std::move(types), std::move(container));
}

ManifestWriter::ManifestWriter(const Options& options, PartitionSpec spec, std::vector<Type> types,
                               avro::ContainerWriter container)
    : options_(options), spec_(std::move(spec)), types_(std::move(types)), container_(std::move(container)) {
  manifest_.content = options.content;
  manifest_.partition_spec_id = spec_.spec_id;
  manifest_.partitions.resize(types_.size());
  bounds_.resize(types_.size());
}

Status ManifestWriter::Check(const ManifestEntry& entry) const {
  const DataFile& file = entry.file;
  const auto refuse = [&](std::string_view what) {
    return Status::Internal(fmt::format("'{}' cannot be written to a manifest: {}", file.file_path, what));
  };
  const bool deletes = options_.content == ManifestContent::kDeletes;
  if ((file.content != FileContent::kData) != deletes) return refuse("it is of the other content");
  if (file.partition.size() != types_.size()) return refuse("its partition is of another spec");
  if (entry.status != EntryStatus::kAdded && (!entry.sequence_number || !entry.file_sequence_number)) {
    return refuse("it was added before and has no sequence numbers");
  }
  if (entry.status == EntryStatus::kExisting && !entry.snapshot_id) return refuse("it has no snapshot id");
  if (entry.status == EntryStatus::kAdded && entry.file_sequence_number) {
    return refuse("it is added now and has a file sequence number");
  }
  const bool placed = file.content_offset && file.content_size_in_bytes && file.referenced_data_file;
  if (file.file_format == "PUFFIN" && !placed) return refuse("a deletion vector without its place");
  if (options_.format_version < 3 && file.content_offset) return refuse("deletion vectors are of format 3");
  if (file.content == FileContent::kEqualityDeletes && file.equality_ids.empty())
    return refuse("it has no equality ids");
  return {};
}

Status ManifestWriter::Add(const ManifestEntry& entry) {
  RETURN_IF_ERROR(Check(entry));
  avro::Value record(avro::ValueList{avro::Value(static_cast<int32_t>(entry.status)), Long(entry.snapshot_id),
                                     Long(entry.sequence_number), Long(entry.file_sequence_number),
                                     FileToAvro(entry.file, options_.format_version, types_)});
  RETURN_IF_ERROR(container_.Append(record));
  Count(entry);
  Summarize(entry.file);
  return {};
}

void ManifestWriter::Count(const ManifestEntry& entry) {
  const int64_t rows = entry.file.record_count;
  switch (entry.status) {
    case EntryStatus::kAdded:
      ++manifest_.added_files_count;
      manifest_.added_rows_count += rows;
      break;
    case EntryStatus::kExisting:
      ++manifest_.existing_files_count;
      manifest_.existing_rows_count += rows;
      break;
    case EntryStatus::kDeleted:
      ++manifest_.deleted_files_count;
      manifest_.deleted_rows_count += rows;
      return;  // no longer live: it does not count towards the smallest number
  }
  // An open number will be the snapshot's, which no number that is written already exceeds.
  if (entry.sequence_number) {
    manifest_.min_sequence_number =
        std::min(manifest_.min_sequence_number.value_or(*entry.sequence_number), *entry.sequence_number);
  }
}

void ManifestWriter::Summarize(const DataFile& file) {
  for (size_t i = 0; i < types_.size(); ++i) bounds_[i].Add(file.partition[i]);
}

Result<ManifestWriter::Written> ManifestWriter::Finish() {
  Written written;
  ASSIGN_OR_RETURN(written.bytes, container_.Finish());
  for (size_t i = 0; i < types_.size(); ++i) {
    FieldSummary& summary = manifest_.partitions[i];
    summary.contains_null = bounds_[i].nulls() > 0;
    summary.contains_nan = bounds_[i].nans() > 0;
    if (const auto lowest = bounds_[i].lowest()) summary.lower_bound = EncodeSingleValue(types_[i], *lowest);
    if (const auto highest = bounds_[i].highest())
      summary.upper_bound = EncodeSingleValue(types_[i], *highest);
  }
  manifest_.manifest_length = static_cast<int64_t>(written.bytes.size());
  written.manifest = manifest_;
  return written;
}

}  // namespace caudal::iceberg
