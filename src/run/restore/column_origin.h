// ColumnOrigin: what the columns of a plan's nodes are made of, down to the columns of the tables, as text.
//
// Two plans give a column the same text if they compute it alike. Long texts are cut to a hash, so that views
// over views stay short. Belongs to one plan, which outlives it; one thread.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "api/plan.h"

namespace caudal {

class ColumnOrigin {
 public:
  // Without `names_tables` as in checkpoints of before, where columns of two tables may have the same text.
  explicit ColumnOrigin(const Plan& plan, bool names_tables = true)
      : plan_(plan), names_tables_(names_tables) {}

  // Column `column` of node `node`.
  const std::string& Of(int node, int column);
  // The expression over the columns of node `node`.
  std::string Of(int node, const Expr& expr);
  // The conditions that rows on their way into `node` have passed since they left a table or an operator that
  // keeps rows, and the branches of UNION ALL; "" if there are none.
  std::string Conditions(int node);
  // The WATERMARK expressions behind `node`'s time attribute.
  std::string Watermarks(int node);

 private:
  std::string Make(int node, int column);
  void AddConditions(int node, std::vector<std::string>* conditions);
  std::string Named(const ScanNode& scan, std::string column) const;
  std::string Expand(const Table& table, const Expr& expr) const;

  const Plan& plan_;
  bool names_tables_;
  std::map<std::pair<int, int>, std::string> known_;
};

}  // namespace caudal
