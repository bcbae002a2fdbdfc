// QueryParser: tokens to Query.
//
// Borrows the cursor. What Flink has and caudal has not (most joins, MATCH_RECOGNIZE, GROUPING SETS, …) is
// refused by name at its word. Nesting is bounded. One thread.
#pragma once

#include "base/status.h"
#include "sql/parse/ast_query.h"
#include "sql/parse/expression_parser.h"
#include "sql/parse/token_cursor.h"

namespace caudal::sql {

class QueryParser {
 public:
  explicit QueryParser(TokenCursor& cursor) : cursor_(cursor), expressions_(cursor) {}

  // [WITH …] body [ORDER BY …] [LIMIT …]
  Result<QueryPtr> Parse();

 private:
  Result<std::vector<CommonTable>> ParseWith();
  Result<QueryPtr> ParseUnion();
  Result<QueryPtr> ParseTerm();
  Result<QueryPtr> ParseSelect();
  Status RefuseSelectHint();
  Status ParseSelectList(Select& select);
  Result<SelectItem> ParseSelectItem();
  Status ParseGroupBy(Select& select);
  Result<Values> ParseValues();
  Status ParseOrderAndLimit(Query& query);
  Result<int64_t> ParseCount(std::string_view expected);

  Result<TableReference> ParseTableReference();
  Result<std::vector<Join>> ParseJoins();
  Result<Join> ParseJoin();
  Status ParseSystemTime(TableReference& table);
  Status ParseAlias(TableReference& table);
  Status RefuseAfterTable() const;
  Result<TableFunction> ParseTableFunction();
  Result<TableFunctionArgument> ParseTableFunctionArgument();
  Result<TableArgument> ParseTableArgument();
  Result<std::vector<OrderItem>> ParseTableArgumentOrder();

  TokenCursor& cursor_;
  ExpressionParser expressions_;
  int nesting_ = 0;
};

}  // namespace caudal::sql
