#include <fmt/format.h>

#include "sql/parse/name_parser.h"
#include "sql/parse/statement/statement_parser.h"

namespace caudal::sql {
namespace {

struct ShowWord {
  std::string_view word;
  ShowKind kind;
};
constexpr ShowWord kCreated[] = {{"TABLE", ShowKind::kCreateTable},
                                 {"VIEW", ShowKind::kCreateView},
                                 {"CATALOG", ShowKind::kCreateCatalog}};
constexpr ShowWord kListed[] = {{"TABLES", ShowKind::kTables},       {"VIEWS", ShowKind::kViews},
                                {"FUNCTIONS", ShowKind::kFunctions}, {"COLUMNS", ShowKind::kColumns},
                                {"CATALOGS", ShowKind::kCatalogs},   {"DATABASES", ShowKind::kDatabases}};

}  // namespace

// SHOW is taken.
Result<Show> StatementParser::ParseShowKind() {
  Show show{};
  for (const ShowWord& created : kCreated) {
    if (!cursor_.AcceptKeywords({"CREATE", created.word})) continue;
    show.kind = created.kind;
    ASSIGN_OR_RETURN(show.name,
                     ParseObjectName(cursor_, created.kind == ShowKind::kCreateCatalog ? "a catalog name"
                                                                                       : "a table name"));
    return show;
  }
  if (cursor_.AcceptKeywords({"CURRENT", "CATALOG"})) {
    show.kind = ShowKind::kCurrentCatalog;
    return show;
  }
  if (cursor_.AcceptKeywords({"CURRENT", "DATABASE"})) {
    show.kind = ShowKind::kCurrentDatabase;
    return show;
  }
  for (const ShowWord& listed : kListed) {
    if (!cursor_.AcceptKeyword(listed.word)) continue;
    show.kind = listed.kind;
    return show;
  }
  if (cursor_.Peek().kind == TokenKind::kWord)
    return cursor_.NotBuilt(fmt::format("SHOW {}", cursor_.Peek().keyword));
  return cursor_.Unexpected("TABLES, VIEWS, FUNCTIONS, COLUMNS, CATALOGS, DATABASES or CREATE TABLE");
}

// SHOW what [{FROM | IN} name] [[NOT] LIKE 'pattern']
Result<Statement::Node> StatementParser::ParseShow() {
  cursor_.Take();
  ASSIGN_OR_RETURN(Show show, ParseShowKind());
  const bool lists = show.kind == ShowKind::kTables || show.kind == ShowKind::kDatabases ||
                     show.kind == ShowKind::kColumns || show.kind == ShowKind::kCatalogs ||
                     show.kind == ShowKind::kViews || show.kind == ShowKind::kFunctions;
  if (!lists) return Statement::Node(std::move(show));
  if (cursor_.NextIsKeyword("FROM") || cursor_.NextIsKeyword("IN")) {
    if (show.kind == ShowKind::kCatalogs) return cursor_.Unexpected("LIKE or the end");
    if (show.kind == ShowKind::kViews || show.kind == ShowKind::kFunctions)
      return cursor_.NotBuilt("SHOW … FROM a database");
    cursor_.Take();
    ASSIGN_OR_RETURN(show.name,
                     ParseObjectName(cursor_, show.kind == ShowKind::kTables      ? "a database name"
                                              : show.kind == ShowKind::kDatabases ? "a catalog name"
                                                                                  : "a table name"));
  } else if (show.kind == ShowKind::kColumns) {
    return cursor_.Unexpected("FROM or IN");
  }
  show.not_like = cursor_.NextAreKeywords({"NOT", "LIKE"});
  if (show.not_like) cursor_.Take();
  if (cursor_.NextIsKeyword("ILIKE")) return cursor_.NotBuilt("ILIKE");
  if (cursor_.AcceptKeyword("LIKE")) {
    ASSIGN_OR_RETURN(Token pattern, cursor_.ExpectString("a pattern in single quotes"));
    show.like = std::move(pattern.text);
  }
  return Statement::Node(std::move(show));
}

}  // namespace caudal::sql
