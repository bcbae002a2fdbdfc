// TokenTag: a tag on the snapshot with the newest token of a pipeline, put there before the snapshots between
// it and the head of its branch expire, so that the token is found although the history has a gap.
//
// Pure functions; any thread. Whoever else expires snapshots leaves those that a tag is at.
#pragma once

#include <map>
#include <string>

#include "iceberg/commit/pipeline_token.h"

namespace caudal::iceberg {

inline constexpr std::string_view kTokenTagPrefix = "caudal-token-";

// A member of the summary of commits whose pipeline ends with its process: nobody will ask for their tokens.
inline constexpr const char* kOnceKey = "caudal.once";

// The name of the tag: the same for ever.
std::string TokenTagName(const std::string& branch, const std::string& pipeline);
// The snapshot with the newest token of each pipeline on a branch, by pipeline; those of tags among them, but
// not those of pipelines that ran once.
std::map<std::string, const Snapshot*> NewestTokens(const TableMetadata& table, const std::string& branch);
// The tagged snapshot of the pipeline, if the branch's history has a gap behind which it lies; else null.
// `oldest` is the last of the history that is still listed.
const Snapshot* TaggedToken(const TableMetadata& table, const std::string& branch,
                            const std::string& pipeline, const Snapshot& oldest);

}  // namespace caudal::iceberg
