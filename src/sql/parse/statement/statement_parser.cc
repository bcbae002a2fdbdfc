#include "sql/parse/statement/statement_parser.h"

#include <fmt/format.h>

#include "sql/parse/name_parser.h"
#include "sql/parse/type_parser.h"

namespace caudal::sql {
namespace {

constexpr std::string_view kUnbuiltStatements[] = {
    "DELETE", "UPDATE", "MERGE",   "UPSERT",  "TRUNCATE", "CALL",     "LOAD",   "UNLOAD",
    "ADD",    "REMOVE", "ANALYZE", "COMPILE", "STOP",     "ROLLBACK", "COMMIT", "REFRESH"};

}  // namespace

Result<StatementPtr> StatementParser::Parse() {
  SourceRange begin = cursor_.Peek().range;
  ASSIGN_OR_RETURN(Statement::Node node, ParseNode());
  auto statement = std::make_unique<Statement>(Statement{{}, std::move(node)});
  statement->range = cursor_.RangeFrom(begin);
  return statement;
}

Result<Statement::Node> StatementParser::ParseNode() {
  const Token& word = cursor_.Peek();
  if (word.IsKeyword("CREATE")) return ParseCreate();
  if (word.IsKeyword("DROP")) return ParseDrop();
  if (word.IsKeyword("INSERT")) return ParseInsert();
  if (word.IsKeyword("EXECUTE")) return ParseExecute();
  if (word.IsKeyword("BEGIN")) return ParseBeginStatementSet();
  if (word.IsKeyword("EXPLAIN")) return ParseExplain();
  if (word.IsKeyword("SHOW")) return ParseShow();
  if (word.IsKeyword("DESCRIBE") || word.IsKeyword("DESC")) return ParseDescribe();
  if (word.IsKeyword("SET")) return ParseSet();
  if (word.IsKeyword("RESET")) return ParseReset();
  if (word.IsKeyword("USE")) return ParseUse();
  if (word.IsKeyword("ALTER")) return ParseAlter();
  if (word.IsKeyword("SELECT") || word.IsKeyword("WITH") || word.IsKeyword("VALUES") ||
      word.IsKeyword("TABLE") || word.IsSymbol("(")) {
    return ParseSelect();
  }
  RETURN_IF_ERROR(RefuseStatement());
  const std::vector<std::string> known = {"CREATE",  "DROP", "INSERT",   "EXECUTE", "BEGIN",
                                          "EXPLAIN", "SHOW", "DESCRIBE", "SET",     "RESET",
                                          "SELECT",  "WITH", "VALUES",   "USE",     "ALTER"};
  const std::string nearest = NearestName(word.keyword, known);
  Status status = cursor_.Unexpected("a statement");
  if (!nearest.empty()) return std::move(status).Hint(fmt::format("did you mean {}?", nearest));
  return std::move(status).Hint("statements begin with SELECT, CREATE, INSERT INTO, EXPLAIN, SHOW or SET");
}

Status StatementParser::RefuseStatement() const {
  for (std::string_view word : kUnbuiltStatements) {
    if (cursor_.NextIsKeyword(word)) return cursor_.NotBuilt(word);
  }
  return Status();
}

Result<Statement::Node> StatementParser::ParseCreate() {
  SourceRange begin = cursor_.Take().range;
  for (std::string_view word : {"REPLACE", "ALTER"}) {
    if (!cursor_.AcceptKeywords({"OR", word})) continue;
    return cursor_.NotBuilt(cursor_.RangeFrom(begin), fmt::format("CREATE OR {}", word));
  }
  const bool temporary = cursor_.AcceptKeyword("TEMPORARY");
  if (cursor_.AcceptKeyword("TABLE")) return ParseCreateTable(temporary);
  if (cursor_.AcceptKeyword("VIEW")) return ParseCreateView(temporary);
  if (!temporary && cursor_.AcceptKeyword("CATALOG")) return ParseCreateCatalog();
  if (!temporary && cursor_.AcceptKeyword("DATABASE")) return ParseCreateDatabase();
  if (temporary) cursor_.AcceptKeyword("SYSTEM");
  for (std::string_view word : {"FUNCTION", "MODEL", "MATERIALIZED", "CONNECTION"}) {
    if (!cursor_.NextIsKeyword(word)) continue;
    return cursor_.NotBuilt(fmt::format("CREATE {}", word == "MATERIALIZED" ? "MATERIALIZED TABLE" : word));
  }
  return cursor_.Unexpected("TABLE, VIEW, DATABASE or CATALOG");
}

Result<Statement::Node> StatementParser::ParseDrop() {
  cursor_.Take();
  DropObject drop{};
  drop.temporary = cursor_.AcceptKeyword("TEMPORARY");
  if (cursor_.AcceptKeyword("TABLE")) {
    drop.kind = ObjectKind::kTable;
  } else if (cursor_.AcceptKeyword("VIEW")) {
    drop.kind = ObjectKind::kView;
  } else {
    if (!drop.temporary && cursor_.AcceptKeyword("CATALOG")) return ParseDropCatalog();
    if (!drop.temporary && cursor_.AcceptKeyword("DATABASE")) return ParseDropDatabase();
    for (std::string_view word : {"FUNCTION", "MODEL", "MATERIALIZED", "CONNECTION", "SYSTEM"}) {
      if (cursor_.NextIsKeyword(word)) return cursor_.NotBuilt(fmt::format("DROP {}", word));
    }
    return cursor_.Unexpected("TABLE, VIEW, DATABASE or CATALOG");
  }
  drop.if_exists = cursor_.AcceptKeywords({"IF", "EXISTS"});
  ASSIGN_OR_RETURN(
      drop.name, ParseObjectName(cursor_, drop.kind == ObjectKind::kTable ? "a table name" : "a view name"));
  return Statement::Node(std::move(drop));
}

// INSERT INTO t [/*+ OPTIONS(…) */] [(columns)] query
Result<Statement::Node> StatementParser::ParseInsert() {
  cursor_.Take();
  if (cursor_.NextIsKeyword("OVERWRITE")) return cursor_.NotBuilt("INSERT OVERWRITE");
  RETURN_IF_ERROR(cursor_.ExpectKeyword("INTO"));
  Insert insert;
  ASSIGN_OR_RETURN(insert.target, ParseObjectName(cursor_, "a table name"));
  ASSIGN_OR_RETURN(insert.options, ParseTableHints(cursor_));
  if (cursor_.NextIsKeyword("PARTITION")) {
    return cursor_.NotBuilt("INSERT … PARTITION").Hint("select the partition columns with the others");
  }
  const Token& behind = cursor_.Peek(1);
  if (cursor_.NextIsSymbol("(") && !behind.IsKeyword("SELECT") && !behind.IsKeyword("WITH") &&
      !behind.IsKeyword("VALUES") && !behind.IsKeyword("TABLE") && !behind.IsSymbol("(")) {
    ASSIGN_OR_RETURN(insert.columns, ParseNameList(cursor_, "a column name"));
  }
  ASSIGN_OR_RETURN(insert.query, queries_.Parse());
  if (cursor_.NextAreKeywords({"ON", "CONFLICT"})) return cursor_.NotBuilt("ON CONFLICT");
  return Statement::Node(std::move(insert));
}

Result<Statement::Node> StatementParser::ParseExecute() {
  cursor_.Take();
  if (cursor_.NextIsKeyword("STATEMENT")) return ParseStatementSet();
  if (cursor_.NextIsKeyword("INSERT")) return ParseInsert();
  if (cursor_.NextIsKeyword("PLAN")) return cursor_.NotBuilt("EXECUTE PLAN");
  return ParseSelect();
}

// STATEMENT SET BEGIN insert; … END
Result<Statement::Node> StatementParser::ParseStatementSet() {
  RETURN_IF_ERROR(cursor_.ExpectKeyword("STATEMENT"));
  RETURN_IF_ERROR(cursor_.ExpectKeyword("SET"));
  RETURN_IF_ERROR(cursor_.ExpectKeyword("BEGIN"));
  StatementSet set;
  RETURN_IF_ERROR(ParseInsertsUntilEnd(set));
  return Statement::Node(std::move(set));
}

// BEGIN STATEMENT SET; insert; … END: how Flink's client wrote it at first.
Result<Statement::Node> StatementParser::ParseBeginStatementSet() {
  cursor_.Take();
  RETURN_IF_ERROR(cursor_.ExpectKeyword("STATEMENT"));
  RETURN_IF_ERROR(cursor_.ExpectKeyword("SET"));
  RETURN_IF_ERROR(cursor_.ExpectSymbol(";"));
  StatementSet set;
  RETURN_IF_ERROR(ParseInsertsUntilEnd(set));
  return Statement::Node(std::move(set));
}

Status StatementParser::ParseInsertsUntilEnd(StatementSet& set) {
  while (!cursor_.NextIsKeyword("END")) {
    if (!cursor_.NextIsKeyword("INSERT"))
      return cursor_.Unexpected(set.inserts.empty() ? "INSERT INTO" : "INSERT INTO or END");
    ASSIGN_OR_RETURN(StatementPtr insert, Parse());
    set.inserts.push_back(std::move(insert));
    RETURN_IF_ERROR(cursor_.ExpectSymbol(";"));
  }
  if (set.inserts.empty()) return cursor_.Unexpected("INSERT INTO");
  cursor_.Take();
  return Status();
}

// EXPLAIN [PLAN FOR | detail, …] {query | insert | STATEMENT SET …}
Result<Statement::Node> StatementParser::ParseExplain() {
  cursor_.Take();
  Explain explain;
  if (!cursor_.AcceptKeywords({"PLAN", "FOR"})) {
    do {
      if (cursor_.AcceptKeyword("CHANGELOG_MODE")) {
        explain.changelog_mode = true;
        continue;
      }
      for (std::string_view word : {"ESTIMATED_COST", "JSON_EXECUTION_PLAN", "PLAN_ADVICE"}) {
        if (cursor_.NextIsKeyword(word)) return cursor_.NotBuilt(fmt::format("EXPLAIN {}", word));
      }
      break;
    } while (cursor_.AcceptSymbol(","));
  }
  SourceRange begin = cursor_.Peek().range;
  Result<Statement::Node> node = cursor_.NextIsKeyword("INSERT")      ? ParseInsert()
                                 : cursor_.NextIsKeyword("STATEMENT") ? ParseStatementSet()
                                 : cursor_.NextIsKeyword("EXECUTE")   ? ParseExecute()
                                                                      : ParseSelect();
  if (!node.ok()) return std::move(node).status();
  explain.target = std::make_unique<Statement>(Statement{cursor_.RangeFrom(begin), std::move(node).value()});
  return Statement::Node(std::move(explain));
}

Result<Statement::Node> StatementParser::ParseDescribe() {
  cursor_.Take();
  for (std::string_view word : {"CATALOG", "DATABASE", "FUNCTION", "JOB", "MODEL", "EXTENDED"}) {
    const Token& behind = cursor_.Peek(1);
    bool named = behind.kind == TokenKind::kWord || behind.kind == TokenKind::kQuotedName;
    if (cursor_.NextIsKeyword(word) && named) return cursor_.NotBuilt(fmt::format("DESCRIBE {}", word));
  }
  Describe describe;
  ASSIGN_OR_RETURN(describe.name, ParseObjectName(cursor_, "a table name"));
  return Statement::Node(std::move(describe));
}

Result<Statement::Node> StatementParser::ParseSet() {
  cursor_.Take();
  Set set;
  if (cursor_.AtEnd() || cursor_.NextIsSymbol(";")) return Statement::Node(std::move(set));
  if (cursor_.Peek().kind == TokenKind::kWord) {
    return cursor_.Unexpected("a key in single quotes").Hint("write SET 'key' = 'value'");
  }
  ASSIGN_OR_RETURN(Token key, cursor_.ExpectString("a key in single quotes"));
  RETURN_IF_ERROR(cursor_.ExpectSymbol("="));
  ASSIGN_OR_RETURN(Token value, cursor_.ExpectString("a value in single quotes"));
  set.option = Option{std::move(key.text), std::move(value.text), key.range, value.range};
  return Statement::Node(std::move(set));
}

Result<Statement::Node> StatementParser::ParseReset() {
  cursor_.Take();
  Reset reset;
  if (cursor_.AtEnd() || cursor_.NextIsSymbol(";")) return Statement::Node(std::move(reset));
  ASSIGN_OR_RETURN(Token key, cursor_.ExpectString("a key in single quotes"));
  reset.key = Name{std::move(key.text), key.range};
  return Statement::Node(std::move(reset));
}

Result<Statement::Node> StatementParser::ParseSelect() {
  SelectStatement select;
  ASSIGN_OR_RETURN(select.query, queries_.Parse());
  return Statement::Node(std::move(select));
}

Result<bool> StatementParser::ParseIfNotExists() {
  if (!cursor_.NextIsKeyword("IF")) return false;
  if (!cursor_.AcceptKeywords({"IF", "NOT", "EXISTS"})) return cursor_.Unexpected("IF NOT EXISTS");
  return true;
}

namespace {

struct FeatureWord {
  std::string_view word;
  LikeFeature feature;
};

constexpr FeatureWord kFeatures[] = {{"ALL", LikeFeature::kAll},
                                     {"CONSTRAINTS", LikeFeature::kConstraints},
                                     {"DISTRIBUTION", LikeFeature::kDistribution},
                                     {"GENERATED", LikeFeature::kGenerated},
                                     {"METADATA", LikeFeature::kMetadata},
                                     {"OPTIONS", LikeFeature::kOptions},
                                     {"PARTITIONS", LikeFeature::kPartitions},
                                     {"WATERMARKS", LikeFeature::kWatermarks}};

}  // namespace

// REQUIRES: CREATE [TEMPORARY] TABLE is taken.
Result<Statement::Node> StatementParser::ParseCreateTable(bool temporary) {
  CreateTable table;
  table.temporary = temporary;
  ASSIGN_OR_RETURN(table.if_not_exists, ParseIfNotExists());
  ASSIGN_OR_RETURN(table.name, ParseObjectName(cursor_, "a table name"));
  if (cursor_.NextIsSymbol("(")) RETURN_IF_ERROR(ParseTableElements(table));
  ASSIGN_OR_RETURN(table.comment, ParseComment());
  if (cursor_.NextIsKeyword("DISTRIBUTED")) return cursor_.NotBuilt("DISTRIBUTED BY");
  if (cursor_.AcceptKeywords({"PARTITIONED", "BY"})) {
    ASSIGN_OR_RETURN(table.partitioned_by, ParseNameList(cursor_, "a column name"));
  }
  if (cursor_.AcceptKeyword("WITH")) {
    ASSIGN_OR_RETURN(table.options, ParseOptions(cursor_));
  }
  if (cursor_.AcceptKeyword("LIKE")) {
    ASSIGN_OR_RETURN(table.like, ParseLike());
  }
  if (cursor_.NextIsKeyword("AS")) return cursor_.NotBuilt("CREATE TABLE … AS SELECT");
  return Statement::Node(std::move(table));
}

Result<Statement::Node> StatementParser::ParseCreateView(bool temporary) {
  CreateView view;
  view.temporary = temporary;
  ASSIGN_OR_RETURN(view.if_not_exists, ParseIfNotExists());
  ASSIGN_OR_RETURN(view.name, ParseObjectName(cursor_, "a view name"));
  if (cursor_.NextIsSymbol("(")) {
    ASSIGN_OR_RETURN(view.columns, ParseNameList(cursor_, "a column name"));
  }
  ASSIGN_OR_RETURN(view.comment, ParseComment());
  RETURN_IF_ERROR(cursor_.ExpectKeyword("AS"));
  ASSIGN_OR_RETURN(view.query, queries_.Parse());
  return Statement::Node(std::move(view));
}

Status StatementParser::ParseTableElements(CreateTable& table) {
  cursor_.Take();
  do {
    RETURN_IF_ERROR(ParseTableElement(table));
  } while (cursor_.AcceptSymbol(","));
  return cursor_.AcceptSymbol(")") ? Status() : cursor_.Unexpected("',' or ')'");
}

Status StatementParser::ParseTableElement(CreateTable& table) {
  if (cursor_.NextAreKeywords({"WATERMARK", "FOR"})) {
    ASSIGN_OR_RETURN(WatermarkDefinition watermark, ParseWatermark());
    table.watermarks.push_back(std::move(watermark));
    return Status();
  }
  if (cursor_.NextIsKeyword("CONSTRAINT") || cursor_.NextAreKeywords({"PRIMARY", "KEY"})) {
    ASSIGN_OR_RETURN(PrimaryKeyDefinition key, ParsePrimaryKey());
    table.primary_keys.push_back(std::move(key));
    return Status();
  }
  if (cursor_.NextIsKeyword("UNIQUE")) return cursor_.NotBuilt("UNIQUE");
  ASSIGN_OR_RETURN(ColumnDefinition column, ParseColumn(table));
  table.columns.push_back(std::move(column));
  return Status();
}

// name {AS expression | type [METADATA [FROM 'key'] [VIRTUAL]] | type [PRIMARY KEY NOT ENFORCED]} [COMMENT
// 'text']
Result<ColumnDefinition> StatementParser::ParseColumn(CreateTable& table) {
  ColumnDefinition column;
  SourceRange begin = cursor_.Peek().range;
  ASSIGN_OR_RETURN(column.name, ParseName(cursor_, "a column name"));
  if (cursor_.AcceptKeyword("AS")) {
    ASSIGN_OR_RETURN(column.computed, expressions_.Parse());
  } else {
    ASSIGN_OR_RETURN(column.type, ParseTypeName(cursor_, /*with_nullability=*/true));
    if (cursor_.AcceptKeyword("METADATA")) {
      column.metadata = true;
      if (cursor_.AcceptKeyword("FROM")) {
        ASSIGN_OR_RETURN(Token key, cursor_.ExpectString("a metadata key in single quotes"));
        column.metadata_key = std::move(key.text);
      }
      column.is_virtual = cursor_.AcceptKeyword("VIRTUAL");
    } else {
      RETURN_IF_ERROR(ParseColumnConstraints(column, table));
    }
  }
  ASSIGN_OR_RETURN(column.comment, ParseComment());
  column.range = cursor_.RangeFrom(begin);
  return column;
}

Status StatementParser::ParseColumnConstraints(const ColumnDefinition& column, CreateTable& table) {
  for (std::string_view word : {"UNIQUE", "DEFAULT", "CHECK", "REFERENCES"}) {
    if (cursor_.NextIsKeyword(word)) return cursor_.NotBuilt(word);
  }
  SourceRange begin = cursor_.Peek().range;
  if (!cursor_.AcceptKeywords({"PRIMARY", "KEY"})) return Status();
  PrimaryKeyDefinition key;
  key.columns.push_back(column.name);
  RETURN_IF_ERROR(ParseEnforcement(key));
  key.range = cursor_.RangeFrom(begin);
  table.primary_keys.push_back(std::move(key));
  return Status();
}

Result<WatermarkDefinition> StatementParser::ParseWatermark() {
  WatermarkDefinition watermark;
  SourceRange begin = cursor_.Take().range;
  cursor_.Take();
  do {
    ASSIGN_OR_RETURN(Name part, ParseName(cursor_, "a column name"));
    watermark.column.push_back(std::move(part));
  } while (cursor_.AcceptSymbol("."));
  RETURN_IF_ERROR(cursor_.ExpectKeyword("AS"));
  ASSIGN_OR_RETURN(watermark.expression, expressions_.Parse());
  watermark.range = cursor_.RangeFrom(begin);
  return watermark;
}

// [CONSTRAINT name] PRIMARY KEY (a, b) [NOT ENFORCED]
Result<PrimaryKeyDefinition> StatementParser::ParsePrimaryKey() {
  PrimaryKeyDefinition key;
  SourceRange begin = cursor_.Peek().range;
  if (cursor_.AcceptKeyword("CONSTRAINT")) {
    ASSIGN_OR_RETURN(key.constraint, ParseName(cursor_, "the name of a constraint"));
    if (cursor_.NextIsKeyword("UNIQUE")) return cursor_.NotBuilt("UNIQUE");
  }
  RETURN_IF_ERROR(cursor_.ExpectKeyword("PRIMARY"));
  RETURN_IF_ERROR(cursor_.ExpectKeyword("KEY"));
  ASSIGN_OR_RETURN(key.columns, ParseNameList(cursor_, "a column name"));
  RETURN_IF_ERROR(ParseEnforcement(key));
  key.range = cursor_.RangeFrom(begin);
  return key;
}

Status StatementParser::ParseEnforcement(PrimaryKeyDefinition& key) {
  key.not_enforced = cursor_.AcceptKeywords({"NOT", "ENFORCED"});
  if (!key.not_enforced) cursor_.AcceptKeyword("ENFORCED");
  return Status();
}

Result<std::optional<std::string>> StatementParser::ParseComment() {
  if (!cursor_.AcceptKeyword("COMMENT")) return std::optional<std::string>();
  ASSIGN_OR_RETURN(Token text, cursor_.ExpectString("a comment in single quotes"));
  return std::optional<std::string>(std::move(text.text));
}

// LIKE source [(INCLUDING | EXCLUDING | OVERWRITING feature …)]
Result<LikeClause> StatementParser::ParseLike() {
  LikeClause like;
  ASSIGN_OR_RETURN(like.source, ParseObjectName(cursor_, "a table name"));
  if (!cursor_.AcceptSymbol("(")) return like;
  while (!cursor_.AcceptSymbol(")")) {
    LikeClause::Rule rule{};
    rule.range = cursor_.Peek().range;
    if (cursor_.AcceptKeyword("INCLUDING")) {
      rule.merge = LikeMerge::kIncluding;
    } else if (cursor_.AcceptKeyword("EXCLUDING")) {
      rule.merge = LikeMerge::kExcluding;
    } else if (cursor_.AcceptKeyword("OVERWRITING")) {
      rule.merge = LikeMerge::kOverwriting;
    } else {
      return cursor_.Unexpected("INCLUDING, EXCLUDING, OVERWRITING or ')'");
    }
    bool found = false;
    for (const FeatureWord& word : kFeatures) {
      if (found || !cursor_.AcceptKeyword(word.word)) continue;
      rule.feature = word.feature;
      found = true;
    }
    if (!found)
      return cursor_.Unexpected("ALL, CONSTRAINTS, GENERATED, METADATA, OPTIONS, PARTITIONS or WATERMARKS");
    rule.range = cursor_.RangeFrom(rule.range);
    like.rules.push_back(rule);
  }
  return like;
}

}  // namespace caudal::sql
