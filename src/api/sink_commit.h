// SinkCommit: one commit of a sink as its target knows it, and when it became visible there.
//
// CommitTeller: a SinkCommitter whose target names its commits. A role of its own, since most targets have no
// names for them. The thread that calls Commit fills it; taken while no Commit runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/message.h"

namespace caudal {

struct SinkCommit {
  std::string sink;    // its id in the plan
  std::string table;   // catalog.database.table
  std::string branch;  // of the table
  Epoch epoch;
  int64_t snapshot_id = 0;
  int64_t sequence_number = 0;
  // Wall clock: when the catalog acknowledged it; unless `exact`, when its snapshot was made, which is a
  // little earlier: nobody was there to see the answer.
  int64_t published_millis = 0;
  bool exact = true;
  int64_t commit_millis = -1;  // how long the commit took; -1: not known
};

class CommitTeller {
 public:
  virtual ~CommitTeller() = default;
  // Those since the last call, oldest first; after a start also what the target has of before. `sink` is
  // empty.
  virtual std::vector<SinkCommit> TakeCommits() = 0;
};

}  // namespace caudal
