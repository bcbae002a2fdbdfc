#include "iceberg/maintenance/manifest_check.h"

#include <fmt/format.h>

#include <cmath>

#include "iceberg/bounds.h"
#include "iceberg/manifest/manifest_reader.h"
#include "iceberg/manifest/manifest_schema.h"
#include "iceberg/single_value.h"

namespace caudal::iceberg {
namespace {

bool IsNan(const Value& value) {
  const double* number = std::get_if<double>(&value.data);
  return number != nullptr && std::isnan(*number);
}

class ManifestCheck {
 public:
  ManifestCheck(const TableMetadata& table, const ManifestFile& line, const std::string& place,
                Violations* found)
      : table_(table), line_(line), place_(place), found_(found) {
    const PartitionSpec* spec = table.FindSpec(line.partition_spec_id);
    if (spec == nullptr) {
      Fail(fmt::format("there is no partition spec {}", line.partition_spec_id));
      return;
    }
    // Of a spec that is in use no more the columns may be gone.
    if (auto types = PartitionTypes(*table.FindSchema(table.current_schema_id), *spec); types.ok())
      types_ = std::move(types).value();
  }

  void Add(const ManifestEntry& entry) {
    Count(entry);
    if (entry.status == EntryStatus::kDeleted) return;
    place_of_file_ = fmt::format("{}, file '{}'", place_, entry.file.file_path);
    CheckNumbers(entry);
    CheckPartition(entry.file);
    if (entry.file.content == FileContent::kData) CheckColumns(entry.file);
    if (!lowest_ || *entry.sequence_number < *lowest_) lowest_ = entry.sequence_number;
  }

  void End() {
    if (line_.sequence_number.value_or(0) == 0) return;  // format 1 may leave the counts out
    const auto compare = [&](const char* what, int64_t said, int64_t counted) {
      if (said != counted)
        Fail(fmt::format("the list says {} = {}, and the manifest has {}", what, said, counted));
    };
    compare("added_files_count", line_.added_files_count, files_[1]);
    compare("existing_files_count", line_.existing_files_count, files_[0]);
    compare("deleted_files_count", line_.deleted_files_count, files_[2]);
    compare("added_rows_count", line_.added_rows_count, rows_[1]);
    compare("existing_rows_count", line_.existing_rows_count, rows_[0]);
    compare("deleted_rows_count", line_.deleted_rows_count, rows_[2]);
    if (lowest_ && line_.min_sequence_number.value_or(0) > *lowest_) {
      Fail(fmt::format("the list says min_sequence_number = {}, and a file has {}",
                       *line_.min_sequence_number, *lowest_));
    }
  }

 private:
  void Fail(std::string what) { found_->Add(place_, std::move(what)); }
  void FailFile(std::string what) { found_->Add(place_of_file_, std::move(what)); }

  void Count(const ManifestEntry& entry) {
    const auto status = static_cast<size_t>(entry.status);
    ++files_[status];
    rows_[status] += entry.file.record_count;
  }

  void CheckNumbers(const ManifestEntry& entry) {
    const int64_t most = line_.sequence_number.value_or(0);
    if (*entry.sequence_number > most) {
      FailFile(fmt::format("its data has the sequence number {}, and the manifest {}", *entry.sequence_number,
                           most));
    }
    if (entry.file_sequence_number && *entry.file_sequence_number > most) {
      FailFile(fmt::format("it has the sequence number {}, and the manifest {}", *entry.file_sequence_number,
                           most));
    }
    const DataFile& file = entry.file;
    if (file.is_deletion_vector() && table_.format_version < 3)
      FailFile("a deletion vector in a table of format 2");
    if (file.is_deletion_vector() && (!file.referenced_data_file || !file.content_size_in_bytes))
      FailFile("a deletion vector without its data file or its length");
    if (table_.format_version >= 3 && line_.first_row_id && file.content == FileContent::kData &&
        file.first_row_id.value_or(0) + file.record_count > table_.next_row_id) {
      FailFile(fmt::format("its row ids end at {}, and next-row-id is {}",
                           *file.first_row_id + file.record_count, table_.next_row_id));
    }
    for (size_t i = 0; i < file.split_offsets.size(); ++i) {
      const int64_t least = i == 0 ? 0 : file.split_offsets[i - 1] + 1;
      if (file.split_offsets[i] < least || file.split_offsets[i] >= file.file_size_in_bytes)
        return FailFile("its split_offsets are not ascending places in the file");
    }
  }

  // The line sums up what partitions the manifest has, by which readers pass it over.
  void CheckPartition(const DataFile& file) {
    const PartitionSpec* spec = table_.FindSpec(line_.partition_spec_id);
    if (spec != nullptr && file.partition.size() != spec->fields.size()) {
      return FailFile(fmt::format("its partition has {} values, and the spec {}", file.partition.size(),
                                  spec->fields.size()));
    }
    if (types_.size() != file.partition.size() || line_.partitions.size() != types_.size()) return;
    for (size_t i = 0; i < types_.size(); ++i) {
      if (!IsWithin(types_[i], line_.partitions[i], file.partition[i])) {
        FailFile(
            fmt::format("its partition '{}' is not among those that the list says", spec->fields[i].name));
      }
    }
  }

  static bool IsWithin(const Type& type, const FieldSummary& summary, const Value& value) {
    if (value.is_null()) return summary.contains_null;
    if (IsNan(value)) return summary.contains_nan.value_or(true);
    if (!summary.lower_bound || !summary.upper_bound) return false;
    const auto lower = DecodeSingleValue(type, *summary.lower_bound);
    const auto upper = DecodeSingleValue(type, *summary.upper_bound);
    if (!lower.ok() || !upper.ok() || lower->data.index() != value.data.index()) return false;
    return !SortsBefore(value, *lower) && !SortsBefore(*upper, value);
  }

  void CheckColumns(const DataFile& file) {
    for (const auto& [id, nulls] : file.null_value_counts) {
      const auto values = file.value_counts.find(id);
      if (nulls < 0 || (values != file.value_counts.end() && nulls > values->second))
        FailFile(fmt::format("column {} has {} NULLs among {} values", id, nulls, values->second));
    }
    for (const auto& [id, bytes] : file.lower_bounds) CheckBounds(file, id, bytes);
  }

  void CheckBounds(const DataFile& file, int32_t id, const std::string& low) {
    const Field* field = table_.FindSchema(table_.current_schema_id)->FindField(id);
    if (field == nullptr || field->type.is_nested()) return;
    if (field->type.id == TypeId::kGeometry || field->type.id == TypeId::kGeography) return;
    const auto lower = DecodeSingleValue(field->type, low);
    if (!lower.ok())
      return FailFile(
          fmt::format("the lower bound of column '{}' is no {}", field->name, TypeText(field->type)));
    const auto high = file.upper_bounds.find(id);
    if (high == file.upper_bounds.end()) return;
    const auto upper = DecodeSingleValue(field->type, high->second);
    if (!upper.ok())
      return FailFile(
          fmt::format("the upper bound of column '{}' is no {}", field->name, TypeText(field->type)));
    if (!IsNan(*lower) && !IsNan(*upper) && SortsBefore(*upper, *lower))
      FailFile(fmt::format("the bounds of column '{}' are the wrong way round", field->name));
  }

  const TableMetadata& table_;
  const ManifestFile& line_;
  const std::string& place_;
  Violations* found_;
  std::string place_of_file_;
  std::vector<Type> types_;               // of the partition's fields; empty if they are not known
  int64_t files_[3] = {}, rows_[3] = {};  // by status
  std::optional<int64_t> lowest_;
};

}  // namespace

Result<std::optional<std::string>> ReadIfThere(const TableFiles& files, const std::string& location,
                                               const std::string& place, Violations* found) {
  ASSIGN_OR_RETURN(const std::string path, PathOf(location));
  ASSIGN_OR_RETURN(const bool there, files.file_system()->Exists(path));
  if (!there) {
    found->Add(place, "the file is not there");
    return std::optional<std::string>();
  }
  ASSIGN_OR_RETURN(std::string bytes, files.Read(location));
  return std::optional(std::move(bytes));
}

Result<CheckedManifest> CheckManifest(const TableFiles& files, const TableMetadata& table,
                                      const ManifestFile& line, const std::string& place, Violations* found) {
  CheckedManifest checked{line, {}};
  ASSIGN_OR_RETURN(const auto bytes, ReadIfThere(files, line.manifest_path, place, found));
  if (!bytes) return checked;
  if (static_cast<int64_t>(bytes->size()) != line.manifest_length) {
    found->Add(place,
               fmt::format("it has {} bytes, and the list says {}", bytes->size(), line.manifest_length));
    return checked;
  }
  const auto reader = ManifestReader::Open(*bytes, line);
  if (!reader.ok()) {
    found->Add(place, reader.status().message());
    return checked;
  }
  ManifestCheck check(table, line, place, found);
  while (!found->enough()) {
    Result<std::optional<ManifestEntry>> entry = (*reader)->Next();
    if (!entry.ok()) {
      found->Add(place, entry.status().message());
      return checked;
    }
    if (!*entry) break;
    check.Add(**entry);
    if ((*entry)->status == EntryStatus::kDeleted) continue;
    for (auto* bounds : {&(*entry)->file.lower_bounds, &(*entry)->file.upper_bounds}) bounds->clear();
    for (auto* counts : {&(*entry)->file.column_sizes, &(*entry)->file.value_counts,
                         &(*entry)->file.null_value_counts, &(*entry)->file.nan_value_counts})
      counts->clear();
    checked.live.push_back(std::move(**entry));
  }
  check.End();
  return checked;
}

}  // namespace caudal::iceberg
