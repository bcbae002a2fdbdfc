// PlanBuilder: grows the nodes of a Plan, each with its schema and time attribute, and gives a node that is
// asked for twice only once.
//
// Two requests for the same work on the same inputs answer with the same node: a view used by two sinks is
// computed once. Ids are "owner/clause" while the plan grows; Plan's final ids get their ordinals at the end
// (id_assignment.h). One thread; nodes stay where they are until Take().
#pragma once

#include <string>
#include <vector>

#include "api/plan.h"

namespace caudal::sql {

// What becomes a column of a Calc.
struct Projection {
  Expr expr;
  std::string name;
};

class PlanBuilder {
 public:
  const PlanNode& node(int index) const { return nodes_[static_cast<size_t>(index)]; }
  const std::vector<PlanNode>& nodes() const { return nodes_; }
  std::vector<PlanNode> Take() { return std::move(nodes_); }

  // Adds a node whose schema is filled in, or finds the equal one.
  int Add(PlanNode node);

  // Makes the node with schema and time attribute. `id` is "owner/clause".
  int AddScan(std::string id, Table table, std::vector<int> columns, const SqlPosition& position);
  // The time attribute is the projection of the input's; `time_projection` says which if there are several.
  int AddCalc(std::string id, int input, std::vector<CalcNode::Filter> filters,
              std::vector<Projection> projections, const SqlPosition& position, int time_projection = -1);
  int AddWindow(std::string id, int input, WindowSpec window, const SqlPosition& position);
  int AddAggregate(std::string id, int input, AggregateNode aggregate, std::vector<std::string> call_names,
                   const SqlPosition& position);
  int AddTopN(std::string id, int input, TopNNode top, std::string rank_name, const SqlPosition& position);
  int AddDeduplicate(std::string id, int input, DeduplicateNode deduplicate, const SqlPosition& position);
  int AddUnion(std::string id, std::vector<int> inputs, const SqlPosition& position);
  // Columns of the table whose name is taken get a number: id0.
  int AddLookup(std::string id, int input, LookupNode lookup, const SqlPosition& position);
  int AddSort(std::string id, int input, SortNode sort, const SqlPosition& position);
  int AddSink(std::string id, int input, SinkNode sink, const SqlPosition& position);

 private:
  PlanNode Begin(std::string id, std::vector<int> inputs, const SqlPosition& position) const;

  std::vector<PlanNode> nodes_;
};

// Schema of an Aggregate over `input`: keys, results, window columns.
Schema AggregateSchema(const AggregateNode& aggregate, const Schema& input,
                       const std::vector<std::string>& call_names);
// Position of the ROWTIME window column in an Aggregate's output; -1 = none.
int AggregateTimeColumn(const AggregateNode& aggregate);
// The three columns that a Window adds.
std::vector<Field> WindowFields(const WindowSpec& window, const Schema& input);

}  // namespace caudal::sql
