#include "sql/parse/name_parser.h"
#include "sql/parse/statement/statement_parser.h"

namespace caudal::sql {

// CREATE CATALOG is taken: [IF NOT EXISTS] name [COMMENT 'text'] [WITH (…)]
Result<Statement::Node> StatementParser::ParseCreateCatalog() {
  CreateCatalog create;
  ASSIGN_OR_RETURN(create.if_not_exists, ParseIfNotExists());
  ASSIGN_OR_RETURN(create.name, ParseName(cursor_, "a catalog name"));
  RETURN_IF_ERROR(ParseComment().status());
  if (cursor_.AcceptKeyword("WITH")) {
    ASSIGN_OR_RETURN(create.options, ParseOptions(cursor_));
  }
  return Statement::Node(std::move(create));
}

Result<Statement::Node> StatementParser::ParseDropCatalog() {
  DropCatalog drop;
  drop.if_exists = cursor_.AcceptKeywords({"IF", "EXISTS"});
  ASSIGN_OR_RETURN(drop.name, ParseName(cursor_, "a catalog name"));
  return Statement::Node(std::move(drop));
}

// [IF NOT EXISTS] [catalog.]name; what else may be said of a database is kept nowhere, and refused.
Result<Statement::Node> StatementParser::ParseCreateDatabase() {
  CreateDatabase create;
  ASSIGN_OR_RETURN(create.if_not_exists, ParseIfNotExists());
  ASSIGN_OR_RETURN(create.name, ParseObjectName(cursor_, "a database name"));
  if (cursor_.NextIsKeyword("COMMENT")) return cursor_.NotBuilt("COMMENT of a database");
  if (cursor_.NextIsKeyword("WITH")) return cursor_.NotBuilt("WITH of a database");
  return Statement::Node(std::move(create));
}

Result<Statement::Node> StatementParser::ParseDropDatabase() {
  DropDatabase drop;
  drop.if_exists = cursor_.AcceptKeywords({"IF", "EXISTS"});
  ASSIGN_OR_RETURN(drop.name, ParseObjectName(cursor_, "a database name"));
  drop.cascade = cursor_.AcceptKeyword("CASCADE");
  if (!drop.cascade) cursor_.AcceptKeyword("RESTRICT");
  return Statement::Node(std::move(drop));
}

// USE CATALOG name, USE [catalog.]database
Result<Statement::Node> StatementParser::ParseUse() {
  cursor_.Take();
  if (cursor_.NextIsKeyword("MODULES")) return cursor_.NotBuilt("USE MODULES");
  if (cursor_.AcceptKeyword("CATALOG")) {
    UseCatalog use;
    ASSIGN_OR_RETURN(use.name, ParseName(cursor_, "a catalog name"));
    return Statement::Node(std::move(use));
  }
  UseDatabase use;
  ASSIGN_OR_RETURN(use.name, ParseObjectName(cursor_, "a database name"));
  return Statement::Node(std::move(use));
}

}  // namespace caudal::sql
