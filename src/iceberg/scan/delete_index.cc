#include "iceberg/scan/delete_index.h"

#include <fmt/format.h>

#include <algorithm>

#include "iceberg/manifest/partition_key.h"

namespace caudal::iceberg {

Result<DeleteIndex> DeleteIndex::Make(const std::vector<LiveFile>* deletes, const TableMetadata& table) {
  DeleteIndex index;
  index.deletes_ = deletes;
  std::set<int32_t> unpartitioned;
  for (const PartitionSpec& spec : table.partition_specs) {
    const auto is_void = [](const PartitionField& field) { return field.transform == "void"; };
    if (std::all_of(spec.fields.begin(), spec.fields.end(), is_void)) unpartitioned.insert(spec.spec_id);
  }
  for (size_t i = 0; i < deletes->size(); ++i) RETURN_IF_ERROR(index.Add(i, unpartitioned));
  return index;
}

Status DeleteIndex::Add(size_t number, const std::set<int32_t>& unpartitioned) {
  const LiveFile& deletes = (*deletes_)[number];
  const auto& path = deletes.file.referenced_data_file;
  if (deletes.file.is_deletion_vector()) {
    if (!path)
      return Status::Data(
          fmt::format("the deletion vector in '{}' names no data file", deletes.file.file_path));
    if (vectors_.emplace(*path, number).second) return {};
    return Status::Data(fmt::format("the data file '{}' has two deletion vectors", *path))
        .Hint(
            "the table was damaged by a writer that did not merge them; its newest good snapshot is read "
            "with a tag");
  }
  if (deletes.file.content == FileContent::kPositionDeletes && path) {
    by_file_[*path].push_back(number);
  } else if (deletes.file.content == FileContent::kEqualityDeletes &&
             unpartitioned.count(deletes.spec_id) > 0) {
    everywhere_.push_back(number);
  } else {
    by_partition_[PartitionKey(deletes.spec_id, deletes.file.partition)].push_back(number);
  }
  return {};
}

bool DeleteIndex::Applies(size_t number, const LiveFile& data) const {
  const LiveFile& deletes = (*deletes_)[number];
  // An equality delete never touches rows of its own commit; a position may.
  const bool equality = deletes.file.content == FileContent::kEqualityDeletes;
  return equality ? data.sequence_number < deletes.sequence_number
                  : data.sequence_number <= deletes.sequence_number;
}

std::vector<size_t> DeleteIndex::Find(const LiveFile& data) const {
  std::vector<size_t> found;
  const auto take = [&](const std::vector<size_t>& numbers, bool positions) {
    for (size_t number : numbers) {
      const bool equality = (*deletes_)[number].file.content == FileContent::kEqualityDeletes;
      if ((positions || equality) && Applies(number, data)) found.push_back(number);
    }
  };
  const auto vector = vectors_.find(data.file.file_path);
  const bool has_vector = vector != vectors_.end() && Applies(vector->second, data);
  if (has_vector) found.push_back(vector->second);
  // A vector holds what the position deletes of its file said.
  if (const auto file = by_file_.find(data.file.file_path); file != by_file_.end())
    take(file->second, !has_vector);
  if (const auto part = by_partition_.find(PartitionKey(data.spec_id, data.file.partition));
      part != by_partition_.end()) {
    take(part->second, !has_vector);
  }
  take(everywhere_, false);
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace caudal::iceberg
