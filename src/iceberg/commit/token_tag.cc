#include "iceberg/commit/token_tag.h"

#include <fmt/format.h>

#include <set>
#include <tuple>

namespace caudal::iceberg {

std::string TokenTagName(const std::string& branch, const std::string& pipeline) {
  uint64_t hash = 0xCBF29CE484222325;  // FNV-1a
  for (const std::string* text : {&branch, &pipeline}) {
    for (const char c : *text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
    hash *= 0x100000001B3;  // the text's end
  }
  return fmt::format("{}{:016x}", kTokenTagPrefix, hash);
}

const Snapshot* TaggedToken(const TableMetadata& table, const std::string& branch,
                            const std::string& pipeline, const Snapshot& oldest) {
  if (!oldest.parent_snapshot_id || table.FindSnapshot(*oldest.parent_snapshot_id) != nullptr) return nullptr;
  const SnapshotRef* tag = table.FindRef(TokenTagName(branch, pipeline));
  const Snapshot* snapshot = tag == nullptr ? nullptr : table.FindSnapshot(tag->snapshot_id);
  // One that is newer was of a history that the branch was set back from.
  if (snapshot == nullptr || snapshot->sequence_number >= oldest.sequence_number) return nullptr;
  const auto token = TokenOf(*snapshot);
  return token && token->pipeline == pipeline ? snapshot : nullptr;
}

std::map<std::string, const Snapshot*> NewestTokens(const TableMetadata& table, const std::string& branch) {
  std::map<std::string, const Snapshot*> newest;
  const auto take = [&](const Snapshot& snapshot) {
    const auto token = TokenOf(snapshot);
    if (!token || snapshot.summary.contains(kOnceKey)) return;
    const Snapshot*& kept = newest[token->pipeline];
    const auto order = [](const PipelineToken& one) { return std::tuple(one.generation, one.epoch); };
    if (kept == nullptr || order(*TokenOf(*kept)) < order(*token)) kept = &snapshot;
  };
  const SnapshotRef* ref = table.FindRef(branch);
  const Snapshot* at = ref == nullptr ? nullptr : table.FindSnapshot(ref->snapshot_id);
  std::set<int64_t> seen;
  const Snapshot* oldest = nullptr;
  while (at != nullptr && seen.insert(at->snapshot_id).second) {
    take(*at);
    oldest = at;
    at = at->parent_snapshot_id ? table.FindSnapshot(*at->parent_snapshot_id) : nullptr;
  }
  if (oldest == nullptr) return newest;
  for (const auto& [name, tag] : table.refs) {
    const Snapshot* snapshot = table.FindSnapshot(tag.snapshot_id);
    const auto token = snapshot == nullptr ? std::nullopt : TokenOf(*snapshot);
    if (token && name == TokenTagName(branch, token->pipeline) &&
        TaggedToken(table, branch, token->pipeline, *oldest) != nullptr)
      take(*snapshot);
  }
  return newest;
}

}  // namespace caudal::iceberg
