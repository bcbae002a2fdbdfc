// PipelineToken: which epoch of which pipeline a snapshot is, kept in its summary, so that a commit whose
// answer was lost is found again by whoever repeats it.
//
// A value and pure functions; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "iceberg/metadata/table_metadata.h"

namespace caudal::iceberg {

struct PipelineToken {
  std::string pipeline;    // stable over restarts: two that differ do not know each other
  int64_t generation = 0;  // of the process
  int64_t epoch = 0;
  std::string positions;  // of the sources behind the epoch, in their own JSON
  bool operator==(const PipelineToken&) const = default;
};

// The members of a summary that hold it.
std::map<std::string, std::string> TokenSummary(const PipelineToken& token);
// The token in a summary; nothing if there is none.
std::optional<PipelineToken> TokenOf(const Snapshot& snapshot);

// What the history of a branch says about an epoch.
enum class TokenSearch {
  kAbsent,      // neither it nor a newer one: it may be committed
  kFound,       // it is there
  kSuperseded,  // a newer one is there: epochs are committed in order, so that this one is settled for ever
};
struct TokenFinding {
  TokenSearch search = TokenSearch::kAbsent;
  int64_t snapshot_id = 0;              // where it, or the newer one, was found
  std::optional<PipelineToken> newest;  // of this pipeline on the branch
};

// Goes from the head of the branch through its ancestors, as far as they are still listed, and
// to the snapshot that a TokenTag keeps behind a gap. Whoever acts on the answer must assert the very head
// that was searched.
TokenFinding FindToken(const TableMetadata& table, const std::string& branch, const PipelineToken& token);

}  // namespace caudal::iceberg
