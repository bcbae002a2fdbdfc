// CREATE TABLE and CREATE VIEW.
#include <fmt/format.h>

#include "sql/parse/name_parser.h"
#include "sql/parse/statement_parser.h"
#include "sql/parse/type_parser.h"

namespace caudal::sql {
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
