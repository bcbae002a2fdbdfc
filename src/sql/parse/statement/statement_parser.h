// StatementParser: tokens to Statement, one at a time.
//
// Borrows the cursor. Statements of Flink that are not built are refused by name. One thread.
#pragma once

#include "base/status.h"
#include "sql/parse/ast_statement.h"
#include "sql/parse/expression_parser.h"
#include "sql/parse/query_parser.h"
#include "sql/parse/token_cursor.h"

namespace caudal::sql {

class StatementParser {
 public:
  explicit StatementParser(TokenCursor& cursor) : cursor_(cursor), expressions_(cursor), queries_(cursor) {}

  // One statement, up to its end or ';', which is left.
  Result<StatementPtr> Parse();

 private:
  Result<Statement::Node> ParseNode();
  Status RefuseStatement() const;
  Result<Statement::Node> ParseCreate();
  Result<Statement::Node> ParseDrop();
  Result<Statement::Node> ParseInsert();
  Result<Statement::Node> ParseExecute();
  Result<Statement::Node> ParseStatementSet();
  Result<Statement::Node> ParseBeginStatementSet();
  Status ParseInsertsUntilEnd(StatementSet& set);
  Result<Statement::Node> ParseExplain();
  Result<Statement::Node> ParseShow();
  Result<Statement::Node> ParseDescribe();
  Result<Statement::Node> ParseSet();
  Result<Statement::Node> ParseReset();
  Result<Statement::Node> ParseSelect();
  Result<Show> ParseShowKind();
  Result<bool> ParseIfNotExists();

  // CREATE TABLE and CREATE VIEW.
  Result<Statement::Node> ParseCreateTable(bool temporary);
  Result<Statement::Node> ParseCreateView(bool temporary);
  Status ParseTableElements(CreateTable& table);
  Status ParseTableElement(CreateTable& table);
  Result<ColumnDefinition> ParseColumn(CreateTable& table);
  Status ParseColumnConstraints(const ColumnDefinition& column, CreateTable& table);
  Result<WatermarkDefinition> ParseWatermark();
  Result<PrimaryKeyDefinition> ParsePrimaryKey();
  Status ParseEnforcement(PrimaryKeyDefinition& key);
  Result<std::optional<std::string>> ParseComment();
  Result<LikeClause> ParseLike();

  // Catalogs and databases (catalog_parser.cc), ALTER TABLE (alter_parser.cc).
  Result<Statement::Node> ParseCreateCatalog();
  Result<Statement::Node> ParseDropCatalog();
  Result<Statement::Node> ParseCreateDatabase();
  Result<Statement::Node> ParseDropDatabase();
  Result<Statement::Node> ParseUse();
  Result<Statement::Node> ParseAlter();
  Result<AlterTable::Change> ParseTableChange();
  template <typename Components>
  Result<AlterTable::Change> ParseComponents();
  template <typename Components>
  Status ParseComponent(Components& into);
  Result<AlterTable::Change> ParseDropComponents();
  Result<AlterTable::Change> ParseResetOptions();

  TokenCursor& cursor_;
  ExpressionParser expressions_;
  QueryParser queries_;
};

}  // namespace caudal::sql
