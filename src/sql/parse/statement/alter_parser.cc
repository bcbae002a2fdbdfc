#include <fmt/format.h>

#include "sql/parse/name_parser.h"
#include "sql/parse/statement/statement_parser.h"

namespace caudal::sql {

// ALTER TABLE [IF EXISTS] name change
Result<Statement::Node> StatementParser::ParseAlter() {
  cursor_.Take();
  if (!cursor_.AcceptKeyword("TABLE")) {
    for (std::string_view word : {"CATALOG", "DATABASE", "VIEW", "FUNCTION", "MODEL", "MATERIALIZED"}) {
      if (cursor_.NextIsKeyword(word)) return cursor_.NotBuilt(fmt::format("ALTER {}", word));
    }
    return cursor_.Unexpected("TABLE");
  }
  AlterTable alter;
  alter.if_exists = cursor_.AcceptKeywords({"IF", "EXISTS"});
  ASSIGN_OR_RETURN(alter.name, ParseObjectName(cursor_, "a table name"));
  ASSIGN_OR_RETURN(alter.change, ParseTableChange());
  return Statement::Node(std::move(alter));
}

Result<AlterTable::Change> StatementParser::ParseTableChange() {
  if (cursor_.AcceptKeyword("ADD")) return ParseComponents<AlterTable::Add>();
  if (cursor_.AcceptKeyword("MODIFY")) return ParseComponents<AlterTable::Modify>();
  if (cursor_.AcceptKeyword("DROP")) return ParseDropComponents();
  if (cursor_.AcceptKeywords({"RENAME", "TO"})) {
    AlterTable::RenameTo rename;
    ASSIGN_OR_RETURN(rename.to, ParseObjectName(cursor_, "a table name"));
    return AlterTable::Change(std::move(rename));
  }
  if (cursor_.AcceptKeyword("RENAME")) {
    AlterTable::RenameColumn rename;
    ASSIGN_OR_RETURN(rename.name, ParseName(cursor_, "a column name"));
    if (cursor_.NextIsSymbol(".")) return cursor_.NotBuilt("RENAME of a field inside a column");
    RETURN_IF_ERROR(cursor_.ExpectKeyword("TO"));
    ASSIGN_OR_RETURN(rename.to, ParseName(cursor_, "a column name"));
    return AlterTable::Change(std::move(rename));
  }
  if (cursor_.AcceptKeyword("SET")) {
    AlterTable::SetOptions set;
    ASSIGN_OR_RETURN(set.options, ParseOptions(cursor_));
    return AlterTable::Change(std::move(set));
  }
  if (cursor_.AcceptKeyword("RESET")) return ParseResetOptions();
  return cursor_.Unexpected("ADD, MODIFY, DROP, RENAME, SET or RESET");
}

// One component, or several in brackets.
template <typename Components>
Result<AlterTable::Change> StatementParser::ParseComponents() {
  Components components;
  if (!cursor_.AcceptSymbol("(")) {
    RETURN_IF_ERROR(ParseComponent(components));
    return AlterTable::Change(std::move(components));
  }
  do {
    RETURN_IF_ERROR(ParseComponent(components));
  } while (cursor_.AcceptSymbol(","));
  if (!cursor_.AcceptSymbol(")")) return cursor_.Unexpected("',' or ')'");
  return AlterTable::Change(std::move(components));
}

// A column with its place, or a key.
template <typename Components>
Status StatementParser::ParseComponent(Components& into) {
  if (cursor_.NextAreKeywords({"WATERMARK", "FOR"})) return cursor_.NotBuilt("ALTER TABLE … WATERMARK");
  for (std::string_view word : {"PARTITION", "DISTRIBUTION", "UNIQUE"}) {
    if (cursor_.NextIsKeyword(word)) return cursor_.NotBuilt(fmt::format("ALTER TABLE … {}", word));
  }
  if (cursor_.NextIsKeyword("CONSTRAINT") || cursor_.NextAreKeywords({"PRIMARY", "KEY"})) {
    ASSIGN_OR_RETURN(PrimaryKeyDefinition key, ParsePrimaryKey());
    into.primary_keys.push_back(std::move(key));
    return Status();
  }
  CreateTable keys;  // a PRIMARY KEY behind the column's type
  AlterTable::Column column;
  ASSIGN_OR_RETURN(column.definition, ParseColumn(keys));
  for (PrimaryKeyDefinition& key : keys.primary_keys) into.primary_keys.push_back(std::move(key));
  column.position.first = cursor_.AcceptKeyword("FIRST");
  if (!column.position.first && cursor_.AcceptKeyword("AFTER")) {
    ASSIGN_OR_RETURN(column.position.after, ParseName(cursor_, "a column name"));
  }
  into.columns.push_back(std::move(column));
  return Status();
}

Result<AlterTable::Change> StatementParser::ParseDropComponents() {
  AlterTable::Drop drop;
  if (cursor_.NextIsKeyword("WATERMARK")) return cursor_.NotBuilt("ALTER TABLE … DROP WATERMARK");
  for (std::string_view word : {"PARTITION", "CONSTRAINT", "DISTRIBUTION"}) {
    if (cursor_.NextIsKeyword(word)) return cursor_.NotBuilt(fmt::format("ALTER TABLE … DROP {}", word));
  }
  drop.primary_key = cursor_.AcceptKeywords({"PRIMARY", "KEY"});
  if (drop.primary_key) return AlterTable::Change(std::move(drop));
  if (cursor_.NextIsSymbol("(")) {
    ASSIGN_OR_RETURN(drop.columns, ParseNameList(cursor_, "a column name"));
    return AlterTable::Change(std::move(drop));
  }
  ASSIGN_OR_RETURN(Name column, ParseName(cursor_, "a column name"));
  drop.columns.push_back(std::move(column));
  return AlterTable::Change(std::move(drop));
}

// ('key', …)
Result<AlterTable::Change> StatementParser::ParseResetOptions() {
  AlterTable::ResetOptions reset;
  RETURN_IF_ERROR(cursor_.ExpectSymbol("("));
  do {
    ASSIGN_OR_RETURN(Token key, cursor_.ExpectString("an option name in single quotes"));
    reset.names.push_back({std::move(key.text), key.range});
  } while (cursor_.AcceptSymbol(","));
  if (!cursor_.AcceptSymbol(")")) return cursor_.Unexpected("',' or ')'");
  return AlterTable::Change(std::move(reset));
}

}  // namespace caudal::sql
