#include "sql/parse/parser.h"

#include <fmt/format.h>

#include "sql/parse/expression_parser.h"
#include "sql/parse/lexer.h"
#include "sql/parse/query_parser.h"
#include "sql/parse/reserved_words.h"
#include "sql/parse/statement/statement_parser.h"
#include "sql/parse/token_cursor.h"
#include "sql/parse/type_parser.h"

namespace caudal::sql {
namespace {

// A reserved word where the statement could end was most likely meant as a name.
Status UnexpectedEnd(const TokenCursor& cursor) {
  Status status = cursor.Unexpected("';' or the end of the statement");
  const Token& token = cursor.Peek();
  if (token.kind != TokenKind::kWord || !IsReservedWord(token.keyword)) return status;
  return std::move(status).Hint(fmt::format("write `{}` in backquotes if it is a name", token.text));
}

}  // namespace

Result<std::vector<StatementPtr>> ParseScript(const SourceText& source) {
  ASSIGN_OR_RETURN(std::vector<Token> tokens, Tokenize(source));
  TokenCursor cursor(source, std::move(tokens));
  StatementParser parser(cursor);
  std::vector<StatementPtr> statements;
  while (true) {
    while (cursor.AcceptSymbol(";")) {
    }
    if (cursor.AtEnd()) return statements;
    ASSIGN_OR_RETURN(StatementPtr statement, parser.Parse());
    statements.push_back(std::move(statement));
    if (!cursor.AtEnd() && !cursor.NextIsSymbol(";")) return UnexpectedEnd(cursor);
  }
}

Result<StatementPtr> ParseStatement(const SourceText& source) {
  ASSIGN_OR_RETURN(std::vector<StatementPtr> statements, ParseScript(source));
  if (statements.empty()) return Status::User("there is no statement");
  if (statements.size() > 1)
    return ErrorAt(source, statements[1]->range, "expected one statement, not several");
  return std::move(statements.front());
}

Result<QueryPtr> ParseQuery(const SourceText& source) {
  ASSIGN_OR_RETURN(std::vector<Token> tokens, Tokenize(source));
  TokenCursor cursor(source, std::move(tokens));
  ASSIGN_OR_RETURN(QueryPtr query, QueryParser(cursor).Parse());
  if (!cursor.AtEnd()) return cursor.Unexpected("the end of the query");
  return query;
}

Result<ExpressionPtr> ParseExpression(const SourceText& source) {
  ASSIGN_OR_RETURN(std::vector<Token> tokens, Tokenize(source));
  TokenCursor cursor(source, std::move(tokens));
  ASSIGN_OR_RETURN(ExpressionPtr expression, ExpressionParser(cursor).Parse());
  if (!cursor.AtEnd()) return cursor.Unexpected("the end of the expression");
  return expression;
}

Result<TypeName> ParseType(const SourceText& source) {
  ASSIGN_OR_RETURN(std::vector<Token> tokens, Tokenize(source));
  TokenCursor cursor(source, std::move(tokens));
  ASSIGN_OR_RETURN(TypeName type, ParseTypeName(cursor, /*with_nullability=*/true));
  if (!cursor.AtEnd()) return cursor.Unexpected("the end of the type");
  return type;
}

}  // namespace caudal::sql
