#include "connect/iceberg/scan/changed_files.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace caudal {
namespace {

using iceberg::KeyHash;

// Of every row of one file that changed.
Status ForEachKey(const ScanSurroundings& around, const iceberg::TableMetadata& table,
                  const iceberg::ChangedRows& rows, const std::vector<ScanColumn>& key, uint64_t seed,
                  const std::function<void(const KeyHash&)>& each) {
  std::vector<int> columns(key.size());
  std::iota(columns.begin(), columns.end(), 0);
  ASSIGN_OR_RETURN(const auto reader,
                   DataFileReader::OpenChanged(around.files, table, rows, key, around.share, 0));
  RowKeys keys;
  while (true) {
    ASSIGN_OR_RETURN(const FileRows read, reader->Next());
    if (read.chunk.physical_rows() == 0) return Status();
    keys.Encode(read.chunk, columns, read.chunk.rows());
    for (int32_t i = 0; i < keys.size(); ++i) each(iceberg::HashKey(keys.key(i), seed));
  }
}

void SortOnce(std::vector<KeyHash>* keys) {
  std::sort(keys->begin(), keys->end());
  keys->erase(std::unique(keys->begin(), keys->end()), keys->end());
}

}  // namespace

Result<std::unique_ptr<FilesInTurn>> ChangedFiles::Make(const ScanSurroundings* around,
                                                        const iceberg::TableMetadata* table,
                                                        iceberg::SnapshotChanges changes,
                                                        const std::vector<ScanColumn>& key) {
  std::unique_ptr<ChangedFiles> made(new ChangedFiles(around, table, std::move(changes)));
  if (!key.empty() && made->changes_.both()) RETURN_IF_ERROR(made->FindUpdated(key));
  return std::unique_ptr<FilesInTurn>(std::move(made));
}

Status ChangedFiles::FindUpdated(const std::vector<ScanColumn>& key) {
  seed_ = iceberg::KeySeed(table_.table_uuid);
  std::vector<KeyHash> went;
  bool sorted = false;
  // Those that went stand before those that came.
  for (const iceberg::ChangedRows& rows : changes_.rows) {
    if (rows.added && !std::exchange(sorted, true)) SortOnce(&went);
    RETURN_IF_ERROR(ForEachKey(around_, table_, rows, key, seed_, [&](const KeyHash& each) {
      if (!rows.added) {
        went.push_back(each);
      } else if (std::binary_search(went.begin(), went.end(), each)) {
        updated_.push_back(each);
      }
    }));
  }
  SortOnce(&updated_);
  if (updated_.empty()) return Status();
  for (const ScanColumn& column : key) {
    // A file's column is asked for once.
    const auto found = std::ranges::find_if(columns_, [&](const ScanColumn& each) {
      return each.from == ScanColumn::From::kField && each.field.id == column.field.id;
    });
    key_.push_back(static_cast<int>(found - columns_.begin()));
    if (found == columns_.end()) columns_.push_back(column);
  }
  return Status();
}

bool ChangedFiles::IsUpdated(const KeyHash& key) const {
  return std::binary_search(updated_.begin(), updated_.end(), key);
}

Chunk ChangedFiles::Finish(size_t number, Chunk chunk) {
  const bool added = changes_.rows[number].added;
  if (added && updated_.empty()) return chunk;
  const int32_t physical = chunk.physical_rows();
  auto kinds = std::make_unique<std::vector<RowKind>>(static_cast<size_t>(physical),
                                                      added ? RowKind::kInsert : RowKind::kDelete);
  if (!updated_.empty()) {
    const RowSet rows = chunk.rows();
    keys_.Encode(chunk, key_, rows);
    for (int32_t i = 0; i < rows.count; ++i) {
      if (!IsUpdated(iceberg::HashKey(keys_.key(i), seed_))) continue;
      (*kinds)[static_cast<size_t>(rows[i])] = added ? RowKind::kUpdateAfter : RowKind::kUpdateBefore;
    }
  }
  std::vector<ColumnPtr> asked(chunk.columns().begin(),
                               chunk.columns().begin() + static_cast<ptrdiff_t>(around_.columns.size()));
  return Chunk(std::move(asked), physical, chunk.selection(), RowKindsPtr(std::move(kinds)));
}

}  // namespace caudal
