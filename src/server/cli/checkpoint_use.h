// CheckpointUse: which checkpoints of a state folder the queries of a program take up, and which nothing
// does.
//
// A query finds its checkpoint by its name. Whoever renames one, by a change of its first sink or by moving
// it into a statement set, would begin it from nothing without a word, and write every row a second time.
#pragma once

#include <string>
#include <vector>

#include "api/plan.h"
#include "server/cli/query_folder.h"

namespace caudal {

struct CheckpointUse {
  // A stored query that no query of the program takes up.
  struct Abandoned {
    std::string name;
    std::string last;                // epoch and time
    std::vector<std::string> sinks;  // node ids
  };
  // A sink that goes on in another query, which knows nothing of what was written to it.
  struct MovedSink {
    std::string sink;
    std::string from;
    std::string to;
  };
  std::string pipeline;
  std::vector<std::string> fresh;  // queries of the program that have committed nothing
  std::vector<Abandoned> abandoned;
  std::vector<MovedSink> moved;  // from abandoned queries to queries with a checkpoint
  // Pipelines that hold queries of the same names, while this pipeline holds none.
  std::vector<std::string> namesakes;

  // User error when an abandoned query may be what a fresh one, or a moved sink's, was called before.
  // `allow`: names of queries that may stay behind, "*" = any.
  Status Check(const std::vector<std::string>& allow) const;
};

// No state folder is no checkpoint.
Result<CheckpointUse> FindCheckpointUse(const std::string& state_root, const std::string& pipeline,
                                        const std::vector<Plan>& plans);

}  // namespace caudal
