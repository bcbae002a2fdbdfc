// Plan: what to run, as plain data: nodes in topological order, inputs before their readers. It prints
// (EXPLAIN), compares (plan diff) and is instantiated by run/, which decides nothing about it. Built by sql/,
// immutable after.
//
// A node read by several others is computed once. The nodes themselves are in plan_node.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/changelog.h"
#include "api/lookup_node.h"
#include "api/plan_node.h"
#include "api/table.h"
#include "data/schema.h"

namespace caudal {

// How rows reach a node from its input.
struct Exchange {
  enum class Kind : uint8_t {
    kChain,  // same task, direct call
    kLane,   // another task, one to one
    kHash,   // by key group of `keys` to the tasks of the reader
  };
  Kind kind = Kind::kChain;
  std::vector<int> keys;  // kHash: columns of the input's schema
};

struct PlanInput {
  int node = 0;  // position in Plan::nodes
  Exchange exchange;
};

using PlanPayload = std::variant<ScanNode, ValuesNode, CalcNode, WindowNode, AggregateNode, TopNNode,
                                 DeduplicateNode, MaterializeNode, UnionNode, SortNode, LookupNode, SinkNode>;

struct PlanNode {
  // View or sink name + clause + ordinal among the stateful nodes ("features/group-by/1"): the operator's
  // name in checkpoints, metrics and errors. Unique in the plan; a change of it loses the state.
  std::string id;
  std::vector<PlanInput> inputs;
  Schema schema;  // of the output, hidden columns last
  ChangelogKinds kinds;
  std::vector<std::vector<int>> upsert_keys;  // each a set of columns that is unique in the folded output
  int time_column = -1;                       // the rowtime attribute; -1 = none
  SqlPosition position;
  PlanPayload payload;

  template <typename T>
  const T* as() const {
    return std::get_if<T>(&payload);
  }
  // "Scan", "Calc", …: the one word for the class, the file, EXPLAIN and metrics.
  std::string_view label() const;
};

// Where rejected rows of a query go.
struct DeadLetter {
  Table table;
};

struct Plan {
  std::string query;  // the first sink's name unless it is told: names the checkpoint folder
  std::vector<PlanNode> nodes;
  std::optional<DeadLetter> dead_letter;
  Options settings;     // what SET said, those that change meaning or pace
  bool batch = false;   // kEnd is the only watermark and nothing is late
  int parallelism = 1;  // tasks behind a hash exchange

  // The setting's value or, when not set, `fallback`.
  std::string_view setting(std::string_view key, std::string_view fallback = "") const {
    auto found = settings.find(key);
    return found == settings.end() ? fallback : std::string_view(found->second);
  }
};

}  // namespace caudal
