// PlanFingerprint: what the state of each node was made for, as text; and PlanDiff, which compares it with a
// checkpoint's, to tell whether the checkpoint can be restored.
//
// Columns are described by the expressions behind them, down to the columns of the tables, so that a new
// column elsewhere changes nothing and a changed definition is seen. The first format did not say this, the
// second one not which tables: of those only what they say is compared.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/plan.h"
#include "run/task_graph.h"
#include "state/manifest.h"

namespace caudal {

// One entry a plan node (and "dead-letter" if there is one): id, label, fingerprint, tables. Makes each
// stateful operator once to ask it.
Result<std::vector<NodeState>> Fingerprints(const Plan& plan, const OperatorFactory& make_operator,
                                            const EvaluatorOptions& evaluator, Env* env);

struct PlanDiff {
  enum class Change {
    kIdentical,
    kAdded,      // begins empty
    kDropped,    // its state, or what a sink has not yet published, would be lost
    kChanged,    // its state means something else
    kStateless,  // what it computes differs, and it remembers nothing: rows from here on are the new query's
  };
  struct Entry {
    std::string id;
    Change change = Change::kIdentical;
    std::string was;  // kChanged, kStateless: the fingerprint in the checkpoint
    std::string is;   // and that of the plan
  };
  std::vector<Entry> entries;  // stateful nodes, sources and sinks only

  // OK if the checkpoint can be restored. `allow_dropped`: ids whose state may go, "*" = any.
  Status Check(const std::vector<std::string>& allow_dropped) const;
};

PlanDiff Compare(const Manifest& checkpoint, const std::vector<NodeState>& plan);

}  // namespace caudal
