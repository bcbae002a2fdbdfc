#include "sql/parse/parser.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace caudal::sql {
namespace {

std::string Text(const ExpressionPtr& expression);

std::string TextOf(const ExpressionList& list) {
  std::string text;
  for (const ExpressionPtr& expression : list) text += (text.empty() ? "" : ", ") + Text(expression);
  return text;
}

std::string TextOf(const TypeName& type) {
  std::string text = type.name;
  if (type.precision)
    text += fmt::format("({}{})", *type.precision, type.scale ? fmt::format(",{}", *type.scale) : "");
  std::string children;
  for (const TypeField& child : type.children) {
    children += (children.empty() ? "" : ",") + (child.name.text.empty() ? "" : child.name.text + " ") +
                TextOf(child.type);
  }
  if (!type.children.empty() || type.name == "ROW") text += "<" + children + ">";
  return text + (type.not_null ? " NOT NULL" : "");
}

// Prints a tree with all its parentheses, so that precedence shows.
struct Printer {
  std::string operator()(const Identifier& node) const {
    std::string text;
    for (const Name& part : node.parts) text += (text.empty() ? "" : ".") + part.text;
    return text;
  }
  std::string operator()(const Literal& node) const {
    switch (node.kind) {
      case LiteralKind::kString:
        return "'" + node.text + "'";
      case LiteralKind::kBinary:
        return "X'" + node.text + "'";
      case LiteralKind::kDate:
        return "DATE '" + node.text + "'";
      case LiteralKind::kTime:
        return "TIME '" + node.text + "'";
      case LiteralKind::kTimestamp:
        return "TIMESTAMP '" + node.text + "'";
      default:
        return node.text;
    }
  }
  std::string operator()(const IntervalLiteral& node) const {
    static constexpr const char* kUnits[] = {"YEAR", "QUARTER", "MONTH",  "WEEK",
                                             "DAY",  "HOUR",    "MINUTE", "SECOND"};
    std::string text = fmt::format("INTERVAL {}'{}' {}", node.negative ? "-" : "", node.text,
                                   kUnits[static_cast<int>(node.from)]);
    if (node.to) text += fmt::format(" TO {}", kUnits[static_cast<int>(*node.to)]);
    return text;
  }
  std::string operator()(const Unary& node) const {
    static constexpr const char* kSigns[] = {"+", "-", "NOT "};
    return fmt::format("({}{})", kSigns[static_cast<int>(node.op)], Text(node.operand));
  }
  std::string operator()(const Binary& node) const {
    static constexpr const char* kSigns[] = {
        "OR", "AND", "=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM",
        "+",  "-",   "*", "/",  "%", "||"};
    return fmt::format("({} {} {})", Text(node.left), kSigns[static_cast<int>(node.op)], Text(node.right));
  }
  std::string operator()(const Is& node) const {
    static constexpr const char* kWords[] = {"NULL", "TRUE",        "FALSE",      "UNKNOWN",
                                             "JSON", "JSON OBJECT", "JSON ARRAY", "JSON SCALAR"};
    return fmt::format("({} IS {}{})", Text(node.operand), node.negated ? "NOT " : "",
                       kWords[static_cast<int>(node.predicate)]);
  }
  std::string operator()(const Between& node) const {
    return fmt::format("({} {}BETWEEN {}{} AND {})", Text(node.operand), node.negated ? "NOT " : "",
                       node.symmetric ? "SYMMETRIC " : "", Text(node.low), Text(node.high));
  }
  std::string operator()(const InList& node) const {
    return fmt::format("({} {}IN [{}])", Text(node.operand), node.negated ? "NOT " : "", TextOf(node.values));
  }
  std::string operator()(const Like& node) const {
    return fmt::format("({} {}{} {}{})", Text(node.operand), node.negated ? "NOT " : "",
                       node.similar ? "SIMILAR TO" : "LIKE", Text(node.pattern),
                       node.escape ? " ESCAPE " + Text(node.escape) : "");
  }
  std::string operator()(const Case& node) const {
    std::string text = "CASE" + (node.operand ? " " + Text(node.operand) : "");
    for (const Case::When& when : node.whens)
      text += fmt::format(" WHEN {} THEN {}", TextOf(when.conditions), Text(when.result));
    return text + (node.otherwise ? " ELSE " + Text(node.otherwise) : "") + " END";
  }
  std::string operator()(const Cast& node) const {
    return fmt::format("{}({} AS {})", node.is_try ? "TRY_CAST" : "CAST", Text(node.operand),
                       TextOf(node.type));
  }
  std::string operator()(const Symbol& node) const { return ":" + node.text; }
  std::string operator()(const Call& node) const {
    std::string text = node.name.text;
    if (!node.parentheses) return text;
    text += node.star ? "(*" : node.distinct ? "(DISTINCT " : "(";
    for (size_t i = 0; i < node.arguments.size(); ++i) {
      const Argument& argument = node.arguments[i];
      text += (i > 0 ? ", " : "") + (argument.name.text.empty() ? "" : argument.name.text + " => ") +
              Text(argument.value);
    }
    text += ")";
    if (node.filter) text += " FILTER " + Text(node.filter);
    if (node.over) {
      text += " OVER [" + TextOf(node.over->partition_by) + ";";
      for (const OrderItem& item : node.over->order_by) {
        text += " " + Text(item.expression) + (item.descending ? " DESC" : "");
      }
      text += "]";
    }
    return text;
  }
  static std::string Behavior(const std::optional<JsonBehavior>& behavior, const char* on) {
    static constexpr const char* kWords[] = {"NULL",  "ERROR",   "DEFAULT", "TRUE",
                                             "FALSE", "UNKNOWN", "[]",      "{}"};
    if (!behavior) return "";
    return fmt::format(" {}{} ON {}", kWords[static_cast<int>(behavior->kind)],
                       behavior->default_value ? " " + Text(behavior->default_value) : "", on);
  }
  std::string operator()(const JsonCall& node) const {
    return fmt::format("{}({}, {}{}{}{})", node.name.text, Text(node.input), Text(node.path),
                       node.returning ? " RETURNING " + TextOf(*node.returning) : "",
                       Behavior(node.on_empty, "EMPTY"), Behavior(node.on_error, "ERROR"));
  }
  std::string operator()(const JsonConstructor& node) const {
    return fmt::format("{}({}{})", node.name.text, TextOf(node.arguments),
                       !node.null_on_null   ? ""
                       : *node.null_on_null ? " NULL"
                                            : " ABSENT");
  }
  std::string operator()(const RowConstructor& node) const { return "ROW(" + TextOf(node.fields) + ")"; }
  std::string operator()(const ArrayConstructor& node) const {
    return "ARRAY[" + TextOf(node.elements) + "]";
  }
  std::string operator()(const MapConstructor& node) const { return "MAP[" + TextOf(node.entries) + "]"; }
  std::string operator()(const ItemAccess& node) const {
    return Text(node.collection) + "[" + Text(node.index) + "]";
  }
  std::string operator()(const FieldAccess& node) const {
    return Text(node.operand) + "->" + node.field.text;
  }
};

std::string Text(const ExpressionPtr& expression) { return std::visit(Printer(), expression->node); }

std::string Parsed(std::string text) {
  SourceText source(std::move(text));
  Result<ExpressionPtr> expression = ParseExpression(source);
  return expression.ok() ? Text(*expression) : expression.status().ToString();
}

std::string ParsedType(std::string text) {
  SourceText source(std::move(text));
  Result<TypeName> type = ParseType(source);
  return type.ok() ? TextOf(*type) : type.status().ToString();
}

// "ok", or the error.
std::string Check(std::string text) {
  SourceText source(std::move(text));
  Result<std::vector<StatementPtr>> script = ParseScript(source);
  return script.ok() ? "ok" : script.status().ToString();
}

// The first line of the error and its position: "message @ line 1, column 2".
std::string Brief(std::string text) {
  SourceText source(std::move(text));
  Result<std::vector<StatementPtr>> script = ParseScript(source);
  if (script.ok()) return "ok";
  Status status = script.status();
  const std::string& frame = status.frames().at(0);
  return status.message() + " @ " + frame.substr(0, frame.find('\n'));
}

template <typename T>
T Parse(std::string text) {
  SourceText source(std::move(text));
  Result<StatementPtr> statement = ParseStatement(source);
  EXPECT_TRUE(statement.ok()) << statement.status().ToString();
  return statement.ok() ? std::get<T>(std::move((*statement)->node)) : T{};
}

TEST(ExpressionParserTest, BindsAsFlinkDoes) {
  EXPECT_EQ(Parsed("NOT a = b AND c OR d IS NOT TRUE"), "(((NOT (a = b)) AND c) OR (d IS NOT TRUE))");
  EXPECT_EQ(Parsed("1 + 2 * 3 - 4 || 'x'"), "((1 + (2 * 3)) - (4 || 'x'))");
  EXPECT_EQ(Parsed("a - b - c"), "((a - b) - c)");
  EXPECT_EQ(Parsed("a IS NULL = b"), "((a IS NULL) = b)");
  EXPECT_EQ(Parsed("b = a IS NULL"), "((b = a) IS NULL)");
  EXPECT_EQ(Parsed("- - a * +b"), "((-(-a)) * (+b))");
  EXPECT_EQ(Parsed("a BETWEEN 1 AND 2 AND b"), "((a BETWEEN 1 AND 2) AND b)");
  EXPECT_EQ(Parsed("a NOT BETWEEN SYMMETRIC 1 AND 2 + 3"), "(a NOT BETWEEN SYMMETRIC 1 AND (2 + 3))");
  EXPECT_EQ(Parsed("a LIKE 'x' || 'y' ESCAPE '!' = TRUE"), "((a LIKE ('x' || 'y') ESCAPE '!') = TRUE)");
  EXPECT_EQ(Parsed("a IS NOT DISTINCT FROM b AND c"), "((a IS NOT DISTINCT FROM b) AND c)");
  EXPECT_EQ(Parsed("a NOT IN (1, 2) OR b"), "((a NOT IN [1, 2]) OR b)");
  EXPECT_EQ(Parsed("(a + b) * c"), "((a + b) * c)");
  EXPECT_EQ(Parsed("a NOT SIMILAR TO 'x+' OR b"), "((a NOT SIMILAR TO 'x+') OR b)");
  EXPECT_EQ(Parsed("a IS JSON OBJECT"), "(a IS JSON OBJECT)");
}

TEST(ExpressionParserTest, ReadsOperands) {
  EXPECT_EQ(Parsed("-a.b[1].c"), "(-a.b[1]->c)");
  EXPECT_EQ(Parsed("DATE '2020-01-01'"), "DATE '2020-01-01'");
  EXPECT_EQ(Parsed("TIMESTAMP '2020-01-01 00:00:00'"), "TIMESTAMP '2020-01-01 00:00:00'");
  EXPECT_EQ(Parsed("INTERVAL -'1 02' DAY TO HOUR"), "INTERVAL -'1 02' DAY TO HOUR");
  EXPECT_EQ(Parsed("INTERVAL '5' MINUTES"), "INTERVAL '5' MINUTE");
  EXPECT_EQ(Parsed("ROW(1, (2, 3))"), "ROW(1, ROW(2, 3))");
  EXPECT_EQ(Parsed("MAP['a', ARRAY[]]"), "MAP['a', ARRAY[]]");
  EXPECT_EQ(Parsed("CASE a WHEN 1, 2 THEN x ELSE y END"), "CASE a WHEN 1, 2 THEN x ELSE y END");
  EXPECT_EQ(Parsed("CASE WHEN a THEN b END"), "CASE WHEN a THEN b END");
  EXPECT_EQ(Parsed("TRY_CAST(a AS DECIMAL(10, 2))"), "TRY_CAST(a AS DECIMAL(10,2))");
  EXPECT_EQ(Parsed("CURRENT_TIMESTAMP"), "CURRENT_TIMESTAMP");
  EXPECT_EQ(Parsed("'a'\n 'b'"), "'ab'");
}

TEST(ExpressionParserTest, ReadsCallsWithWords) {
  EXPECT_EQ(Parsed("EXTRACT(DAY FROM a)"), "EXTRACT(:DAY, a)");
  EXPECT_EQ(Parsed("FLOOR(a TO HOUR)"), "FLOOR(a, :HOUR)");
  EXPECT_EQ(Parsed("TRIM(LEADING FROM y)"), "TRIM(:LEADING, ' ', y)");
  EXPECT_EQ(Parsed("TRIM('x' FROM y)"), "TRIM(:BOTH, 'x', y)");
  EXPECT_EQ(Parsed("POSITION('a' IN b)"), "POSITION('a', b)");
  EXPECT_EQ(Parsed("SUBSTRING(a FROM 1 FOR 2)"), "SUBSTRING(a, 1, 2)");
  EXPECT_EQ(Parsed("OVERLAY(a PLACING b FROM 1)"), "OVERLAY(a, b, 1)");
  EXPECT_EQ(Parsed("TIMESTAMPADD(SQL_TSI_DAY, 1, a)"), "TIMESTAMPADD(:DAY, 1, a)");
  EXPECT_EQ(Parsed("COUNT(*)"), "COUNT(*)");
  EXPECT_EQ(Parsed("COUNT(DISTINCT a) FILTER (WHERE b > 1)"), "COUNT(DISTINCT a) FILTER (b > 1)");
  EXPECT_EQ(Parsed("ROW_NUMBER() OVER (PARTITION BY a, b ORDER BY c DESC, d)"),
            "ROW_NUMBER() OVER [a, b; c DESC d]");
  EXPECT_EQ(Parsed("f(x => 1, 2)"), "f(x => 1, 2)");
  EXPECT_EQ(Parsed("JSON_VALUE(a, '$.x' RETURNING INT DEFAULT 1 ON EMPTY ERROR ON ERROR)"),
            "JSON_VALUE(a, '$.x' RETURNING INT DEFAULT 1 ON EMPTY ERROR ON ERROR)");
  EXPECT_EQ(Parsed("JSON_OBJECT(KEY 'a' VALUE 1, 'b' : 2 ABSENT ON NULL)"),
            "JSON_OBJECT('a', 1, 'b', 2 ABSENT)");
}

TEST(ExpressionParserTest, StopsRunawayNesting) {
  EXPECT_TRUE(Parsed(std::string(100000, '('))
                  .starts_with("error[user]: the expression is nested more than 200 deep"));
  std::string chain = "a";
  for (int i = 0; i < 5000; ++i) chain += "+a";
  EXPECT_TRUE(
      Parsed(chain).starts_with("error[user]: the expression has more than 1000 operators in one chain"));
  // Chains inside chains add up.
  std::string towers = "a";
  for (int i = 0; i < 20; ++i) {
    towers = "(" + towers + ")";
    for (int k = 0; k < 100; ++k) towers += "+a";
  }
  EXPECT_TRUE(
      Parsed(towers).starts_with("error[user]: the expression has more than 1000 operators in one chain"));
  EXPECT_TRUE(
      Check("SELECT +" + std::string(5000, '+')).starts_with("error[user]: the expression is nested"));
}

TEST(TypeParserTest, ReadsTypes) {
  EXPECT_EQ(ParsedType("INTEGER NOT NULL"), "INT NOT NULL");
  EXPECT_EQ(ParsedType("TIMESTAMP(3) WITH LOCAL TIME ZONE"), "TIMESTAMP_LTZ(3)");
  EXPECT_EQ(ParsedType("ROW<a INT NOT NULL 'c', b ARRAY<MAP<STRING, ROW(x DEC(3, 1))>>>"),
            "ROW<a INT NOT NULL,b ARRAY<MAP<STRING,ROW<x DECIMAL(3,1)>>>>");
  EXPECT_EQ(ParsedType("CHARACTER VARYING(10)"), "VARCHAR(10)");
  EXPECT_EQ(ParsedType("INT NOT NULL ARRAY NOT NULL"), "ARRAY<INT NOT NULL> NOT NULL");
  EXPECT_EQ(ParsedType("INTT"),
            "error[user]: unknown type 'INTT'\n"
            "  at line 1, column 1\n"
            "      INTT\n"
            "      ^^^^");
  EXPECT_EQ(ParsedType("RAW('a', 'b')"),
            "error[user]: the type RAW is not built yet\n"
            "  at line 1, column 1\n"
            "      RAW('a', 'b')\n"
            "      ^^^");
}

TEST(QueryParserTest, PointsAtTheSlip) {
  EXPECT_EQ(Check("\n\nSELECT a FORM t"),
            "error[user]: unexpected 'FORM', expected FROM\n"
            "  at line 3, column 10\n"
            "      SELECT a FORM t\n"
            "               ^^^^");
  EXPECT_EQ(Brief("SELECT a FROM t WERE a > 1"), "unexpected 'WERE', expected WHERE @ line 1, column 17");
  EXPECT_EQ(Brief("SELECT a FROM t GRUOP BY a"), "unexpected 'GRUOP', expected GROUP @ line 1, column 17");
  EXPECT_EQ(Check("SELECT a value FROM t"),
            "error[user]: unexpected 'value', expected ';' or the end of the statement\n"
            "  at line 1, column 10\n"
            "      SELECT a value FROM t\n"
            "               ^^^^^\n"
            "  hint: write `value` in backquotes if it is a name");
  EXPECT_EQ(Check("SELECT user_id, timestamp FROM t"),
            "error[user]: unexpected reserved word 'timestamp', expected an expression\n"
            "  at line 1, column 17\n"
            "      SELECT user_id, timestamp FROM t\n"
            "                      ^^^^^^^^^\n"
            "  hint: write `timestamp` in backquotes if it is a name");
  EXPECT_EQ(Brief("SELECT"), "unexpected end of the text, expected an expression @ line 1, column 7");
}

TEST(QueryParserTest, TakesJoinsWithTheTableOfThisMoment) {
  constexpr std::string_view kJoin = "b FOR SYSTEM_TIME AS OF a.t AS c ON a.x = c.x";
  for (const std::string_view words : {"JOIN", "INNER JOIN", "LEFT JOIN", "LEFT OUTER JOIN"}) {
    EXPECT_EQ(Brief(fmt::format("SELECT * FROM a {} {} WHERE a.y > 1", words, kJoin)), "ok") << words;
  }
  EXPECT_EQ(Brief("SELECT * FROM a JOIN b FOR SYSTEM_TIME AS OF a.t WHERE a.y > 1"),
            "unexpected 'WHERE', expected ON @ line 1, column 50");
}

TEST(QueryParserTest, RefusesByName) {
  EXPECT_EQ(Brief("SELECT * FROM a JOIN b ON a.x = b.x"), "JOIN is not built yet @ line 1, column 17");
  EXPECT_EQ(Brief("SELECT * FROM a x LEFT JOIN b"), "LEFT JOIN is not built yet @ line 1, column 19");
  EXPECT_EQ(Brief("SELECT * FROM a, b"), "a join by comma is not built yet @ line 1, column 16");
  EXPECT_EQ(Brief("SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY a)"),
            "MATCH_RECOGNIZE is not built yet @ line 1, column 17");
  EXPECT_EQ(Brief("SELECT a FROM t GROUP BY GROUPING SETS ((a), ())"),
            "GROUPING SETS is not built yet @ line 1, column 26");
  EXPECT_EQ(Brief("SELECT a FROM t GROUP BY b, CUBE (a)"), "CUBE is not built yet @ line 1, column 29");
  EXPECT_EQ(Brief("SELECT a FROM t INTERSECT SELECT b FROM u"),
            "INTERSECT is not built yet @ line 1, column 17");
  EXPECT_EQ(Brief("SELECT a IN (SELECT b FROM u) FROM t"),
            "IN (subquery) is not built yet @ line 1, column 14");
  EXPECT_EQ(Brief("SELECT EXISTS (SELECT 1)"), "EXISTS (subquery) is not built yet @ line 1, column 8");
  EXPECT_EQ(Brief("SELECT a ILIKE 'x' FROM t"), "ILIKE is not built yet @ line 1, column 10");
  EXPECT_EQ(Brief("SELECT a FROM t WHERE a NOT ILIKE 'x'"), "ILIKE is not built yet @ line 1, column 29");
  EXPECT_EQ(Brief("SELECT SUM(a) OVER (ORDER BY b ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t"),
            "the window frame ROWS is not built yet @ line 1, column 32");
  EXPECT_EQ(Brief("SELECT * FROM UNNEST(a)"), "UNNEST is not built yet @ line 1, column 15");
  EXPECT_EQ(Brief("ALTER VIEW v RENAME TO u"), "ALTER VIEW is not built yet @ line 1, column 7");
  EXPECT_EQ(Brief("CREATE FUNCTION f AS 'x'"), "CREATE FUNCTION is not built yet @ line 1, column 8");
  EXPECT_EQ(Brief("INSERT OVERWRITE t SELECT 1"), "INSERT OVERWRITE is not built yet @ line 1, column 8");
  EXPECT_EQ(Brief("SHOW MODULES"), "SHOW MODULES is not built yet @ line 1, column 6");
}

TEST(QueryParserTest, ReadsTheShapeOfAQuery) {
  auto statement = Parse<SelectStatement>(
      "WITH c(x) AS (SELECT 1) SELECT DISTINCT a AS b, t.*, * FROM (SELECT 1) AS t (a, b) WHERE a GROUP BY "
      "b, c "
      "HAVING d ORDER BY e DESC LIMIT 5 OFFSET 2");
  const Query& query = *statement.query;
  EXPECT_EQ(query.with.at(0).columns.at(0).text, "x");
  EXPECT_EQ(query.order_by.size(), 1u);
  EXPECT_EQ(query.limit, 5);
  EXPECT_EQ(query.offset, 2);
  const Select& select = std::get<Select>(query.body);
  EXPECT_TRUE(select.distinct);
  ASSERT_EQ(select.items.size(), 3u);
  EXPECT_EQ(select.items[0].alias->text, "b");
  EXPECT_EQ(select.items[1].star_qualifier.at(0).text, "t");
  EXPECT_TRUE(select.items[2].star);
  EXPECT_EQ(select.from->column_aliases.size(), 2u);
  EXPECT_EQ(select.group_by.size(), 2u);
}

TEST(QueryParserTest, UnionsFromTheLeft) {
  auto statement = Parse<SelectStatement>("SELECT 1 UNION ALL SELECT 2 UNION (SELECT 3 LIMIT 1)");
  const Union& outer = std::get<Union>(statement.query->body);
  EXPECT_FALSE(outer.all);
  EXPECT_TRUE(std::get<Union>(outer.left->body).all);
  EXPECT_EQ(outer.right->limit, 1);
}

TEST(QueryParserTest, ReadsTableFunctions) {
  auto statement = Parse<SelectStatement>(
      "SELECT * FROM DEDUPLICATE(input => TABLE t PARTITION BY id, on_time => DESCRIPTOR(ts), "
      "retain => INTERVAL '5' MINUTE) AS d");
  const TableReference& from = *std::get<Select>(statement.query->body).from;
  EXPECT_EQ(from.alias->text, "d");
  const TableFunction& function = std::get<TableFunction>(from.node);
  ASSERT_EQ(function.arguments.size(), 3u);
  const TableArgument& table = std::get<TableArgument>(function.arguments[0].value);
  EXPECT_EQ(table.table.parts.at(0).text, "t");
  EXPECT_EQ(TextOf(table.partition_by), "id");
  EXPECT_EQ(std::get<Descriptor>(function.arguments[1].value).columns.at(0).text, "ts");
  EXPECT_EQ(function.arguments[2].name.text, "retain");

  statement = Parse<SelectStatement>(
      "SELECT * FROM TABLE(HOP((SELECT 1) PARTITION BY (a, b), DESCRIPTOR(ts), INTERVAL '1' HOUR))");
  const TableFunction& hop = std::get<TableFunction>(std::get<Select>(statement.query->body).from->node);
  EXPECT_EQ(TextOf(std::get<TableArgument>(hop.arguments.at(0).value).partition_by), "a, b");
  EXPECT_EQ(Text(std::get<ExpressionPtr>(hop.arguments.at(2).value)), "INTERVAL '1' HOUR");
}

TEST(StatementParserTest, ReadsCreateTable) {
  auto table = Parse<CreateTable>(
      "CREATE TEMPORARY TABLE IF NOT EXISTS d.t (a INT COMMENT 'x', b AS a + 1, c TIMESTAMP(3) METADATA FROM "
      "'timestamp' VIRTUAL, d INT PRIMARY KEY NOT ENFORCED, WATERMARK FOR c AS c - INTERVAL '5' SECOND, "
      "CONSTRAINT pk PRIMARY KEY (a, d) NOT ENFORCED) COMMENT 'q' PARTITIONED BY (a) WITH ('x'='y') "
      "LIKE s (INCLUDING ALL EXCLUDING OPTIONS)");
  EXPECT_TRUE(table.temporary);
  EXPECT_TRUE(table.if_not_exists);
  EXPECT_EQ(table.name.parts.at(1).text, "t");
  ASSERT_EQ(table.columns.size(), 4u);
  EXPECT_EQ(table.columns[0].comment, "x");
  EXPECT_EQ(Text(table.columns[1].computed), "(a + 1)");
  EXPECT_EQ(table.columns[2].metadata_key, "timestamp");
  EXPECT_TRUE(table.columns[2].is_virtual);
  EXPECT_EQ(Text(table.watermarks.at(0).expression), "(c - INTERVAL '5' SECOND)");
  ASSERT_EQ(table.primary_keys.size(), 2u);
  EXPECT_TRUE(table.primary_keys[1].not_enforced);
  EXPECT_EQ(table.partitioned_by.at(0).text, "a");
  EXPECT_EQ(table.options.at(0).value, "y");
  EXPECT_EQ(table.like->rules.size(), 2u);
}

TEST(StatementParserTest, AnOptionIsThereOnce) {
  EXPECT_THAT(Check("CREATE TABLE t (a INT) WITH ('k' = '1', 'l' = '2', 'k' = '3')"),
              ::testing::AllOf(::testing::HasSubstr("option 'k' is there twice"),
                               ::testing::HasSubstr("hint: remove one of them")));
  EXPECT_THAT(Check("SELECT * FROM t /*+ OPTIONS('k' = '1', 'k' = '1') */"),
              ::testing::HasSubstr("option 'k' is there twice"));
}

TEST(StatementParserTest, ReadsScripts) {
  EXPECT_EQ(
      Check(";; SET 'a' = 'b'; RESET; CREATE VIEW v (a) AS SELECT 1; SHOW TABLES LIKE 'a%'; DESC t;"
            "EXPLAIN CHANGELOG_MODE SELECT * FROM v; DROP TABLE IF EXISTS t;"
            "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; INSERT INTO b (x, y) VALUES (1, 2); END;"
            "BEGIN STATEMENT SET; INSERT INTO a /*+ OPTIONS('k'='v') */ (SELECT 1); END;"
            "EXPLAIN STATEMENT SET BEGIN INSERT INTO a TABLE b; END; SHOW CREATE VIEW v"),
      "ok");
  EXPECT_EQ(Brief("SELECT 1 SELECT 2"),
            "unexpected 'SELECT', expected ';' or the end of the statement @ line 1, column 10");
  EXPECT_EQ(Brief("EXECUTE STATEMENT SET BEGIN SELECT 1; END"),
            "unexpected 'SELECT', expected INSERT INTO @ line 1, column 29");
  EXPECT_EQ(Check("SET a = b"),
            "error[user]: unexpected 'a', expected a key in single quotes\n"
            "  at line 1, column 5\n"
            "      SET a = b\n"
            "          ^\n"
            "  hint: write SET 'key' = 'value'");
}

TEST(StatementParserTest, ReadsCatalogsAndDatabases) {
  EXPECT_EQ(
      Check("CREATE CATALOG IF NOT EXISTS c WITH ('type' = 'x'); USE CATALOG c; USE d; USE c.d;"
            "CREATE DATABASE IF NOT EXISTS c.d; DROP DATABASE IF EXISTS d CASCADE; DROP DATABASE d RESTRICT;"
            "DROP CATALOG IF EXISTS c; SHOW CATALOGS LIKE 'c%'; SHOW DATABASES FROM c NOT LIKE 'd';"
            "SHOW TABLES IN c.d; SHOW CURRENT CATALOG; SHOW CURRENT DATABASE; SHOW CREATE CATALOG c"),
      "ok");
  EXPECT_EQ(Brief("USE MODULES a"), "USE MODULES is not built yet @ line 1, column 5");
  EXPECT_EQ(Brief("CREATE DATABASE d WITH ('a' = 'b')"),
            "WITH of a database is not built yet @ line 1, column 19");
}

TEST(StatementParserTest, ReadsAlterTable) {
  EXPECT_EQ(
      Check(
          "ALTER TABLE t ADD a INT FIRST; ALTER TABLE t ADD (a INT COMMENT 'x' AFTER b, PRIMARY KEY (c) NOT "
          "ENFORCED); ALTER TABLE IF EXISTS t MODIFY a BIGINT; ALTER TABLE t DROP a; ALTER TABLE t DROP (a, "
          "b);"
          "ALTER TABLE t DROP PRIMARY KEY; ALTER TABLE t RENAME a TO b; ALTER TABLE t RENAME TO u;"
          "ALTER TABLE t SET ('k' = 'v'); ALTER TABLE t RESET ('k', 'l')"),
      "ok");
  const auto add = Parse<AlterTable>("ALTER TABLE c.d.t ADD (a INT COMMENT 'x' AFTER b, e INT FIRST)");
  const auto& columns = std::get<AlterTable::Add>(add.change).columns;
  ASSERT_EQ(columns.size(), 2u);
  EXPECT_EQ(columns[0].definition.comment, "x");
  EXPECT_EQ(columns[0].position.after->text, "b");
  EXPECT_TRUE(columns[1].position.first);
  EXPECT_EQ(Brief("ALTER TABLE t ADD WATERMARK FOR a AS a"),
            "ALTER TABLE … WATERMARK is not built yet @ line 1, column 19");
  EXPECT_EQ(Brief("ALTER TABLE t TRUNCATE"),
            "unexpected 'TRUNCATE', expected ADD, MODIFY, DROP, RENAME, SET or RESET @ line 1, "
            "column 15");
}

TEST(ParserTest, SurvivesEveryPrefixOfAStatement) {
  std::string text =
      "CREATE TABLE t (a INT, b AS JSON_VALUE(a, '$' RETURNING INT NULL ON EMPTY), WATERMARK FOR c AS c) "
      "WITH ('x' = "
      "'y'); INSERT INTO t SELECT a, CASE b WHEN 1 THEN 2 END, COUNT(*) FILTER (WHERE x IS JSON) FROM "
      "TABLE(HOP(TABLE "
      "t PARTITION BY (a), DESCRIPTOR(ts), INTERVAL '1' DAY TO HOUR)) /*c*/ WHERE a IN (1, 2) AND b LIKE 'x' "
      "ESCAPE "
      "'y' GROUP BY a HAVING ROW_NUMBER() OVER (PARTITION BY a ORDER BY b NULLS LAST) = 1 ORDER BY a LIMIT 5";
  EXPECT_EQ(Check(text), "ok");
  for (size_t length = 0; length < text.size(); ++length) Check(text.substr(0, length));
}

}  // namespace
}  // namespace caudal::sql
