#include "sql/parse/query_parser.h"

#include <fmt/format.h>

#include <charconv>

#include "sql/parse/name_parser.h"
#include "sql/parse/reserved_words.h"

namespace caudal::sql {
namespace {

constexpr int kMaxQueryNesting = 64;
constexpr int kMaxUnions = 500;
constexpr size_t kMaxJoins = 64;

QueryPtr MakeQuery(SourceRange range, decltype(Query::body) body) {
  auto query = std::make_unique<Query>();
  query->range = range;
  query->body = std::move(body);
  return query;
}

}  // namespace

Result<QueryPtr> QueryParser::Parse() {
  SourceRange begin = cursor_.Peek().range;
  if (++nesting_ > kMaxQueryNesting) {
    return cursor_.Fail(begin, fmt::format("queries are nested more than {} deep", kMaxQueryNesting));
  }
  std::vector<CommonTable> with;
  if (cursor_.NextIsKeyword("WITH")) {
    ASSIGN_OR_RETURN(with, ParseWith());
  }
  ASSIGN_OR_RETURN(QueryPtr query, ParseUnion());
  // A query in parentheses has its own WITH, ORDER BY and LIMIT; ours belong to a query around it.
  if (!query->with.empty() || !query->order_by.empty() || query->limit || query->offset) {
    SourceRange range = query->range;
    query = MakeQuery(range, std::move(query));
  }
  query->with = std::move(with);
  RETURN_IF_ERROR(ParseOrderAndLimit(*query));
  query->range = cursor_.RangeFrom(begin);
  --nesting_;
  return query;
}

Result<std::vector<CommonTable>> QueryParser::ParseWith() {
  cursor_.Take();
  if (cursor_.NextIsKeyword("RECURSIVE")) return cursor_.NotBuilt("WITH RECURSIVE");
  std::vector<CommonTable> with;
  do {
    CommonTable table;
    ASSIGN_OR_RETURN(table.name, ParseName(cursor_, "the name of a common table expression"));
    if (cursor_.NextIsSymbol("(")) {
      ASSIGN_OR_RETURN(table.columns, ParseNameList(cursor_, "a column name"));
    }
    RETURN_IF_ERROR(cursor_.ExpectKeyword("AS"));
    RETURN_IF_ERROR(cursor_.ExpectSymbol("("));
    ASSIGN_OR_RETURN(table.query, Parse());
    RETURN_IF_ERROR(cursor_.ExpectSymbol(")"));
    with.push_back(std::move(table));
  } while (cursor_.AcceptSymbol(","));
  return with;
}

Result<QueryPtr> QueryParser::ParseUnion() {
  SourceRange begin = cursor_.Peek().range;
  ASSIGN_OR_RETURN(QueryPtr left, ParseTerm());
  for (int count = 0;; ++count) {
    for (std::string_view word : {"INTERSECT", "EXCEPT", "MINUS"}) {
      if (cursor_.NextIsKeyword(word)) return cursor_.NotBuilt(word);
    }
    if (!cursor_.NextIsKeyword("UNION")) return left;
    Union node;
    SourceRange words = cursor_.Take().range;
    if (count >= kMaxUnions)
      return cursor_.Fail(words, fmt::format("more than {} UNIONs in one chain", kMaxUnions));
    node.all = cursor_.AcceptKeyword("ALL");
    if (!node.all) cursor_.AcceptKeyword("DISTINCT");
    node.range = cursor_.RangeFrom(words);
    node.left = std::move(left);
    ASSIGN_OR_RETURN(node.right, ParseTerm());
    left = MakeQuery(cursor_.RangeFrom(begin), std::move(node));
  }
}

// SELECT …, VALUES …, TABLE t, or a query in parentheses.
Result<QueryPtr> QueryParser::ParseTerm() {
  SourceRange begin = cursor_.Peek().range;
  if (cursor_.NextIsKeyword("SELECT")) return ParseSelect();
  if (cursor_.NextIsKeyword("VALUES")) {
    ASSIGN_OR_RETURN(Values values, ParseValues());
    return MakeQuery(cursor_.RangeFrom(begin), std::move(values));
  }
  if (cursor_.AcceptKeyword("TABLE")) {
    Select select;
    select.keyword = begin;
    NamedTable table;
    ASSIGN_OR_RETURN(table.name, ParseObjectName(cursor_, "a table name"));
    select.items.push_back({begin, true, {}, nullptr, std::nullopt});
    select.from.emplace();
    select.from->range = table.name.range;
    select.from->node = std::move(table);
    select.range = cursor_.RangeFrom(begin);
    return MakeQuery(select.range, std::move(select));
  }
  if (cursor_.AcceptSymbol("(")) {
    ASSIGN_OR_RETURN(QueryPtr query, Parse());
    RETURN_IF_ERROR(cursor_.ExpectSymbol(")"));
    query->range = cursor_.RangeFrom(begin);
    return query;
  }
  return cursor_.Unexpected("SELECT, VALUES or WITH");
}

Result<QueryPtr> QueryParser::ParseSelect() {
  Select select;
  select.keyword = cursor_.Take().range;
  RETURN_IF_ERROR(RefuseSelectHint());
  if (cursor_.NextIsKeyword("STREAM")) return cursor_.NotBuilt("SELECT STREAM");
  select.distinct_range = cursor_.Peek().range;
  select.distinct = cursor_.AcceptKeyword("DISTINCT");
  if (!select.distinct) cursor_.AcceptKeyword("ALL");
  RETURN_IF_ERROR(ParseSelectList(select));
  if (cursor_.AcceptKeyword("FROM")) {
    ASSIGN_OR_RETURN(select.from, ParseTableReference());
    ASSIGN_OR_RETURN(select.joins, ParseJoins());
  }
  if (cursor_.AcceptKeyword("WHERE")) {
    ASSIGN_OR_RETURN(select.where, expressions_.Parse());
  }
  RETURN_IF_ERROR(ParseGroupBy(select));
  if (cursor_.AcceptKeyword("HAVING")) {
    ASSIGN_OR_RETURN(select.having, expressions_.Parse());
  }
  if (cursor_.NextIsKeyword("WINDOW")) return cursor_.NotBuilt("the WINDOW clause");
  if (cursor_.NextIsKeyword("QUALIFY")) {
    return cursor_.NotBuilt("QUALIFY").Hint("put the query in FROM (…) and the condition in WHERE");
  }
  select.range = cursor_.RangeFrom(select.keyword);
  SourceRange range = select.range;
  return MakeQuery(range, std::move(select));
}

Status QueryParser::RefuseSelectHint() {
  if (!cursor_.NextIsSymbol("/*+")) return Status();
  const Token& name = cursor_.Peek(1);
  if (name.kind != TokenKind::kWord) return cursor_.Unexpected("the name of a hint");
  return cursor_.NotBuilt(name.range, fmt::format("the hint {}", name.keyword));
}

Status QueryParser::ParseSelectList(Select& select) {
  do {
    ASSIGN_OR_RETURN(SelectItem item, ParseSelectItem());
    select.items.push_back(std::move(item));
  } while (cursor_.AcceptSymbol(","));
  // `SELECT a FORM t` reads as the alias FORM before a stray t: better point at the slip.
  const std::optional<Name>& alias = select.items.back().alias;
  const Token& next = cursor_.Peek();
  if (alias && (NextIsName(cursor_) || next.kind == TokenKind::kString)) {
    std::string upper;
    for (char c : alias->text) upper += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    std::string_view meant = NearestKeyword(upper, {"FROM"});
    if (!meant.empty()) {
      return cursor_.Fail(alias->range, fmt::format("unexpected '{}', expected {}", alias->text, meant));
    }
  }
  return Status();
}

// *, t.*, or expression [[AS] alias]
Result<SelectItem> QueryParser::ParseSelectItem() {
  SelectItem item;
  SourceRange begin = cursor_.Peek().range;
  size_t ahead = 0;
  while (cursor_.Peek(ahead + 1).IsSymbol(".")) ahead += 2;
  item.star = cursor_.Peek(ahead).IsSymbol("*");
  if (item.star) {
    while (!cursor_.NextIsSymbol("*")) {
      ASSIGN_OR_RETURN(Name part, ParseName(cursor_, "a table name"));
      item.star_qualifier.push_back(std::move(part));
      RETURN_IF_ERROR(cursor_.ExpectSymbol("."));
    }
    cursor_.Take();
    item.range = cursor_.RangeFrom(begin);
    return item;
  }
  ASSIGN_OR_RETURN(item.expression, expressions_.Parse());
  if (cursor_.AcceptKeyword("AS") || NextIsName(cursor_)) {
    ASSIGN_OR_RETURN(item.alias, ParseName(cursor_, "a column name"));
  }
  item.range = cursor_.RangeFrom(begin);
  return item;
}

Status QueryParser::ParseGroupBy(Select& select) {
  SourceRange begin = cursor_.Peek().range;
  if (!cursor_.AcceptKeywords({"GROUP", "BY"})) return Status();
  select.group_by_range = cursor_.RangeFrom(begin);
  for (std::string_view word : {"DISTINCT", "ROLLUP", "CUBE"}) {
    if (cursor_.NextIsKeyword(word)) return cursor_.NotBuilt(fmt::format("GROUP BY {}", word));
  }
  if (cursor_.NextIsSymbol("(") && cursor_.Peek(1).IsSymbol(")")) {
    cursor_.Take();
    cursor_.Take();
    return Status();
  }
  do {
    if (cursor_.NextAreKeywords({"GROUPING", "SETS"})) return cursor_.NotBuilt("GROUPING SETS");
    for (std::string_view word : {"ROLLUP", "CUBE"}) {
      if (cursor_.NextIsKeyword(word)) return cursor_.NotBuilt(word);
    }
    ASSIGN_OR_RETURN(ExpressionPtr key, expressions_.Parse());
    select.group_by.push_back(std::move(key));
  } while (cursor_.AcceptSymbol(","));
  return Status();
}

// VALUES (1, 'a'), ROW(2, 'b'), 3
Result<Values> QueryParser::ParseValues() {
  Values values;
  SourceRange begin = cursor_.Take().range;
  do {
    ASSIGN_OR_RETURN(ExpressionPtr row, expressions_.Parse());
    ExpressionList fields;
    if (RowConstructor* constructor = std::get_if<RowConstructor>(&row->node)) {
      fields = std::move(constructor->fields);
    } else {
      fields.push_back(std::move(row));
    }
    if (!values.rows.empty() && values.rows.front().size() != fields.size()) {
      return cursor_.Fail(cursor_.last_range(),
                          fmt::format("row {} of VALUES has {} columns, the first has {}",
                                      values.rows.size() + 1, fields.size(), values.rows.front().size()));
    }
    values.rows.push_back(std::move(fields));
  } while (cursor_.AcceptSymbol(","));
  values.range = cursor_.RangeFrom(begin);
  return values;
}

Status QueryParser::ParseOrderAndLimit(Query& query) {
  SourceRange begin = cursor_.Peek().range;
  if (cursor_.AcceptKeywords({"ORDER", "BY"})) {
    ASSIGN_OR_RETURN(query.order_by, expressions_.ParseOrderItems());
    query.order_by_range = cursor_.RangeFrom(begin);
  }
  begin = cursor_.Peek().range;
  while (true) {
    if (cursor_.AcceptKeyword("LIMIT")) {
      if (cursor_.AcceptKeyword("ALL")) continue;
      ASSIGN_OR_RETURN(query.limit, ParseCount("a number of rows"));
      if (cursor_.NextIsSymbol(",")) return cursor_.Unexpected("OFFSET");
    } else if (cursor_.AcceptKeyword("OFFSET")) {
      ASSIGN_OR_RETURN(query.offset, ParseCount("a number of rows"));
      if (!cursor_.AcceptKeyword("ROWS")) cursor_.AcceptKeyword("ROW");
    } else if (cursor_.AcceptKeyword("FETCH")) {
      if (!cursor_.AcceptKeyword("FIRST") && !cursor_.AcceptKeyword("NEXT"))
        return cursor_.Unexpected("FIRST or NEXT");
      ASSIGN_OR_RETURN(query.limit, ParseCount("a number of rows"));
      if (!cursor_.AcceptKeyword("ROWS") && !cursor_.AcceptKeyword("ROW")) return cursor_.Unexpected("ROWS");
      RETURN_IF_ERROR(cursor_.ExpectKeyword("ONLY"));
    } else {
      break;
    }
    query.limit_range = cursor_.RangeFrom(begin);
  }
  return Status();
}

Result<int64_t> QueryParser::ParseCount(std::string_view expected) {
  if (cursor_.Peek().kind != TokenKind::kInteger) return cursor_.Unexpected(expected);
  Token token = cursor_.Take();
  int64_t value = 0;
  auto [end, error] = std::from_chars(token.text.data(), token.text.data() + token.text.size(), value);
  if (error != std::errc())
    return cursor_.Fail(token.range, fmt::format("{} is out of range: '{}'", expected, token.text));
  return value;
}

Result<TableReference> QueryParser::ParseTableReference() {
  TableReference table;
  SourceRange begin = cursor_.Peek().range;
  for (std::string_view word : {"LATERAL", "UNNEST"}) {
    if (cursor_.NextIsKeyword(word)) return cursor_.NotBuilt(word);
  }
  if (cursor_.NextIsSymbol("(")) {
    cursor_.Take();
    DerivedTable derived;
    ASSIGN_OR_RETURN(derived.query, Parse());
    RETURN_IF_ERROR(cursor_.ExpectSymbol(")"));
    table.node = std::move(derived);
  } else if (cursor_.NextIsKeyword("TABLE") && cursor_.Peek(1).IsSymbol("(")) {
    cursor_.Take();
    cursor_.Take();
    ASSIGN_OR_RETURN(TableFunction function, ParseTableFunction());
    RETURN_IF_ERROR(cursor_.ExpectSymbol(")"));
    table.node = std::move(function);
  } else if (cursor_.Peek().kind == TokenKind::kWord && cursor_.Peek(1).IsSymbol("(")) {
    ASSIGN_OR_RETURN(TableFunction function, ParseTableFunction());
    table.node = std::move(function);
  } else {
    NamedTable named;
    ASSIGN_OR_RETURN(named.name, ParseObjectName(cursor_, "a table name"));
    ASSIGN_OR_RETURN(named.options, ParseTableHints(cursor_));
    table.node = std::move(named);
  }
  table.range = cursor_.RangeFrom(begin);
  RETURN_IF_ERROR(RefuseAfterTable());
  RETURN_IF_ERROR(ParseSystemTime(table));
  RETURN_IF_ERROR(ParseAlias(table));
  RETURN_IF_ERROR(RefuseAfterTable());
  return table;
}

// [[AS] alias [(column, …)]]
Status QueryParser::ParseAlias(TableReference& table) {
  const bool with_as = cursor_.AcceptKeyword("AS");
  if (!with_as && !NextIsName(cursor_)) return Status();
  // `FROM t WERE a > 1` reads as the alias WERE before a stray a.
  const Token next = cursor_.Peek();
  const Token& behind = cursor_.Peek(1);
  if (!with_as && next.kind == TokenKind::kWord &&
      (behind.kind == TokenKind::kWord || behind.kind == TokenKind::kQuotedName)) {
    std::string_view meant =
        NearestKeyword(next.keyword, {"WHERE", "GROUP", "HAVING", "ORDER", "UNION", "LIMIT", "JOIN"});
    if (!meant.empty() && !IsReservedWord(behind.keyword)) {
      return cursor_.Fail(next.range, fmt::format("unexpected '{}', expected {}", next.text, meant));
    }
    if (meant == "GROUP" || meant == "ORDER") {
      return cursor_.Fail(next.range, fmt::format("unexpected '{}', expected {}", next.text, meant));
    }
  }
  ASSIGN_OR_RETURN(table.alias, ParseName(cursor_, "a table alias"));
  if (cursor_.NextIsSymbol("(")) {
    ASSIGN_OR_RETURN(table.column_aliases, ParseNameList(cursor_, "a column name"));
  }
  return Status();
}

Status QueryParser::RefuseAfterTable() const {
  if (cursor_.NextIsSymbol(",")) return cursor_.NotBuilt("a join by comma");
  for (std::string_view word : {"RIGHT", "FULL", "CROSS", "NATURAL"}) {
    if (cursor_.NextIsKeyword(word)) return cursor_.NotBuilt(fmt::format("{} JOIN", word));
  }
  for (std::string_view word : {"MATCH_RECOGNIZE", "TABLESAMPLE", "PIVOT", "UNPIVOT"}) {
    if (cursor_.NextIsKeyword(word)) return cursor_.NotBuilt(word);
  }
  return Status();
}

// FOR SYSTEM_TIME AS OF expression
Status QueryParser::ParseSystemTime(TableReference& table) {
  const SourceRange begin = cursor_.Peek().range;
  if (!cursor_.AcceptKeywords({"FOR", "SYSTEM_TIME"})) return Status();
  RETURN_IF_ERROR(cursor_.ExpectKeyword("AS"));
  RETURN_IF_ERROR(cursor_.ExpectKeyword("OF"));
  ASSIGN_OR_RETURN(table.system_time, expressions_.Parse());
  table.system_time_range = cursor_.RangeFrom(begin);
  return Status();
}

Result<std::vector<Join>> QueryParser::ParseJoins() {
  std::vector<Join> joins;
  while (cursor_.NextIsKeyword("JOIN") || cursor_.NextIsKeyword("INNER") || cursor_.NextIsKeyword("LEFT")) {
    if (joins.size() == kMaxJoins)
      return cursor_.Fail(cursor_.Peek().range, fmt::format("more than {} joins in one FROM", kMaxJoins));
    ASSIGN_OR_RETURN(Join join, ParseJoin());
    joins.push_back(std::move(join));
  }
  return joins;
}

// The one kind of join that is built is with what a table has for a key at this moment.
Result<Join> QueryParser::ParseJoin() {
  Join join;
  const Token first = cursor_.Peek();
  join.left = cursor_.AcceptKeyword("LEFT");
  if (join.left) {
    cursor_.AcceptKeyword("OUTER");
  } else {
    cursor_.AcceptKeyword("INNER");
  }
  RETURN_IF_ERROR(cursor_.ExpectKeyword("JOIN"));
  join.range = cursor_.RangeFrom(first.range);
  const Status not_built =
      cursor_.NotBuilt(first.range, first.keyword == "JOIN" ? "JOIN" : fmt::format("{} JOIN", first.keyword))
          .Hint("JOIN table FOR SYSTEM_TIME AS OF <processing time> looks up in a table");
  Result<TableReference> right = ParseTableReference();
  if (!right.ok() || !right->system_time) return right.ok() ? not_built : right.status();
  join.right = std::move(right).value();
  if (cursor_.NextIsKeyword("USING")) return cursor_.NotBuilt("USING").Hint("write the condition behind ON");
  RETURN_IF_ERROR(cursor_.ExpectKeyword("ON"));
  ASSIGN_OR_RETURN(join.condition, expressions_.Parse());
  return join;
}

Result<TableFunction> QueryParser::ParseTableFunction() {
  TableFunction function;
  const Token& word = cursor_.Peek();
  if (word.kind != TokenKind::kWord && word.kind != TokenKind::kQuotedName)
    return cursor_.Unexpected("the name of a table function");
  if (word.IsKeyword("UNNEST")) return cursor_.NotBuilt("UNNEST");
  ASSIGN_OR_RETURN(function.name, ParseName(cursor_, "the name of a table function"));
  RETURN_IF_ERROR(cursor_.ExpectSymbol("("));
  if (cursor_.AcceptSymbol(")")) return function;
  do {
    ASSIGN_OR_RETURN(TableFunctionArgument argument, ParseTableFunctionArgument());
    function.arguments.push_back(std::move(argument));
  } while (cursor_.AcceptSymbol(","));
  if (!cursor_.AcceptSymbol(")")) return cursor_.Unexpected("',' or ')'");
  return function;
}

// [name =>] TABLE t …, DESCRIPTOR(c), or an expression
Result<TableFunctionArgument> QueryParser::ParseTableFunctionArgument() {
  TableFunctionArgument argument;
  SourceRange begin = cursor_.Peek().range;
  if (NextIsName(cursor_) && cursor_.Peek(1).IsSymbol("=>")) {
    ASSIGN_OR_RETURN(argument.name, ParseName(cursor_, "the name of an argument"));
    cursor_.Take();
    begin = cursor_.Peek().range;
  }
  const Token& next = cursor_.Peek(1);
  const bool query = cursor_.NextIsSymbol("(") && (next.IsKeyword("SELECT") || next.IsKeyword("WITH") ||
                                                   next.IsKeyword("VALUES") || next.IsKeyword("TABLE"));
  if (query || cursor_.NextIsKeyword("TABLE")) {
    ASSIGN_OR_RETURN(TableArgument table, ParseTableArgument());
    argument.value = std::move(table);
  } else if (cursor_.NextIsKeyword("DESCRIPTOR") && next.IsSymbol("(")) {
    cursor_.Take();
    Descriptor descriptor;
    ASSIGN_OR_RETURN(descriptor.columns, ParseNameList(cursor_, "a column name"));
    argument.value = std::move(descriptor);
  } else {
    ASSIGN_OR_RETURN(argument.value, expressions_.Parse());
  }
  argument.range = cursor_.RangeFrom(begin);
  return argument;
}

// {TABLE t | (query)} [PARTITION BY a | (a, b)] [ORDER BY a | (a, b)]
Result<TableArgument> QueryParser::ParseTableArgument() {
  TableArgument table;
  SourceRange begin = cursor_.Peek().range;
  if (cursor_.AcceptKeyword("TABLE")) {
    if (cursor_.NextIsSymbol("(")) {
      return cursor_.Unexpected("a table name").Hint("write the query in parentheses without the word TABLE");
    }
    ASSIGN_OR_RETURN(table.table, ParseObjectName(cursor_, "a table name"));
  } else {
    cursor_.Take();
    ASSIGN_OR_RETURN(table.query, Parse());
    RETURN_IF_ERROR(cursor_.ExpectSymbol(")"));
    table.table.range = cursor_.RangeFrom(begin);
  }
  if (cursor_.AcceptKeywords({"PARTITION", "BY"})) {
    table.partitioned = true;
    // One key stands alone and several in parentheses, or a comma could begin the next argument.
    if (cursor_.AcceptSymbol("(")) {
      ASSIGN_OR_RETURN(table.partition_by, expressions_.ParseList());
      if (!cursor_.AcceptSymbol(")")) return cursor_.Unexpected("',' or ')'");
    } else {
      ASSIGN_OR_RETURN(ExpressionPtr key, expressions_.Parse());
      table.partition_by.push_back(std::move(key));
    }
  }
  if (cursor_.AcceptKeywords({"ORDER", "BY"})) {
    ASSIGN_OR_RETURN(table.order_by, ParseTableArgumentOrder());
  }
  return table;
}

Result<std::vector<OrderItem>> QueryParser::ParseTableArgumentOrder() {
  if (cursor_.AcceptSymbol("(")) {
    ASSIGN_OR_RETURN(std::vector<OrderItem> items, expressions_.ParseOrderItems());
    RETURN_IF_ERROR(cursor_.ExpectSymbol(")"));
    return items;
  }
  std::vector<OrderItem> items(1);
  ASSIGN_OR_RETURN(items[0].expression, expressions_.Parse());
  items[0].descending = cursor_.AcceptKeyword("DESC");
  if (!items[0].descending) cursor_.AcceptKeyword("ASC");
  return items;
}

}  // namespace caudal::sql
