// Which history a branch has: a branch that is not there begins where 'main' is, when it is first committed
// to, as in other engines; and what a branch must take along to find its tokens in it.
//
// Pure functions; any thread.
#pragma once

#include <map>
#include <string>

#include "iceberg/metadata/table_metadata.h"

namespace caudal::iceberg {

// The ref that tells the history of a branch: its own, or, until there is one, that of 'main'. "main" where
// neither is there.
const std::string& HistoryOf(const TableMetadata& table, const std::string& branch);
// What a commit to the branch is made upon; null: there is no snapshot.
const Snapshot* HeadOf(const TableMetadata& table, const std::string& branch);
// The tags (token_tag.h) by which the branch `to` finds behind gaps what `from` finds there, once it is at
// the same snapshot.
std::map<std::string, SnapshotRef> CarriedTokenTags(const TableMetadata& table, const std::string& from,
                                                    const std::string& to);

}  // namespace caudal::iceberg
