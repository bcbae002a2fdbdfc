#include "iceberg/commit/branch_history.h"

#include "iceberg/commit/token_tag.h"

namespace caudal::iceberg {

const std::string& HistoryOf(const TableMetadata& table, const std::string& branch) {
  static const std::string kMain = "main";
  return table.FindRef(branch) == nullptr ? kMain : branch;
}

const Snapshot* HeadOf(const TableMetadata& table, const std::string& branch) {
  const SnapshotRef* ref = table.FindRef(HistoryOf(table, branch));
  return ref == nullptr ? nullptr : table.FindSnapshot(ref->snapshot_id);
}

std::map<std::string, SnapshotRef> CarriedTokenTags(const TableMetadata& table, const std::string& from,
                                                    const std::string& to) {
  std::map<std::string, SnapshotRef> carried;
  for (const auto& [pipeline, snapshot] : NewestTokens(table, from)) {
    const SnapshotRef* tag = table.FindRef(TokenTagName(from, pipeline));
    if (tag != nullptr && tag->snapshot_id == snapshot->snapshot_id)
      carried[TokenTagName(to, pipeline)] = *tag;
  }
  return carried;
}

}  // namespace caudal::iceberg
