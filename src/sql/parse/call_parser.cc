// Function calls, with the forms that have words between their arguments and the clauses of JSON functions.
#include <fmt/format.h>

#include "sql/parse/expression_parser.h"
#include "sql/parse/name_parser.h"
#include "sql/parse/reserved_words.h"
#include "sql/parse/type_parser.h"

namespace caudal::sql {
namespace {

// Units that EXTRACT, FLOOR, CEIL, TIMESTAMPADD and TIMESTAMPDIFF know in Flink.
constexpr std::string_view kUnitSymbols[] = {"YEAR",        "QUARTER",     "MONTH",      "WEEK",   "DAY",
                                             "HOUR",        "MINUTE",      "SECOND",     "DOW",    "DOY",
                                             "MILLISECOND", "MICROSECOND", "NANOSECOND", "EPOCH",  "DECADE",
                                             "CENTURY",     "MILLENNIUM",  "ISODOW",     "ISOYEAR"};

// Functions of Flink's grammar whose inner words are not understood here.
constexpr std::string_view kUnbuiltCalls[] = {
    "CONVERT",         "CONTAINS_SUBSTR",  "DATE_TRUNC",      "DATETIME_TRUNC", "TIME_TRUNC",
    "TIMESTAMP_TRUNC", "DATETIME_DIFF",    "TIMESTAMP_DIFF",  "TIME_DIFF",      "STRING_AGG",
    "GROUP_CONCAT",    "ARRAY_CONCAT_AGG", "MATCH_NUMBER",    "CLASSIFIER",     "PREV",
    "RUNNING",         "SAFE_CAST",        "SUBSTRING_REGEX", "TRANSLATE_REGEX"};

}  // namespace

// REQUIRES: the next tokens are the name and '('.
Result<ExpressionPtr> ExpressionParser::ParseCall(const Token& name) {
  if (name.kind == TokenKind::kWord) {
    for (std::string_view unbuilt : kUnbuiltCalls) {
      if (name.keyword != unbuilt) continue;
      Status refused = cursor_.NotBuilt(name.keyword);
      return unbuilt.ends_with("_TRUNC") ? std::move(refused).Hint("write FLOOR(ts TO HOUR)") : refused;
    }
    return ParseSpecialCall(name);
  }
  Call call;
  call.name = {name.text, name.range};
  RETURN_IF_ERROR(cursor_.ExpectSymbol("("));
  RETURN_IF_ERROR(ParseArguments(call));
  RETURN_IF_ERROR(cursor_.ExpectSymbol(")"));
  RETURN_IF_ERROR(ParseCallSuffixes(call));
  return Make(name.range, std::move(call));
}

Result<ExpressionPtr> ExpressionParser::ParseSpecialCall(const Token& name) {
  struct Form {
    std::string_view name;
    Status (ExpressionParser::*parse)(Call&);
  };
  static constexpr Form kForms[] = {{"EXTRACT", &ExpressionParser::ParseExtract},
                                    {"FLOOR", &ExpressionParser::ParseFloor},
                                    {"CEIL", &ExpressionParser::ParseFloor},
                                    {"CEILING", &ExpressionParser::ParseFloor},
                                    {"TRIM", &ExpressionParser::ParseTrim},
                                    {"POSITION", &ExpressionParser::ParsePosition},
                                    {"SUBSTRING", &ExpressionParser::ParseSubstring},
                                    {"OVERLAY", &ExpressionParser::ParseOverlay},
                                    {"TIMESTAMPADD", &ExpressionParser::ParseTimestampArithmetic},
                                    {"TIMESTAMPDIFF", &ExpressionParser::ParseTimestampArithmetic}};
  Status (ExpressionParser::*parse)(Call&) = &ExpressionParser::ParseArguments;
  bool special = false;
  for (const Form& form : kForms) {
    if (form.name != name.keyword) continue;
    parse = form.parse;
    special = true;
  }
  if (!special && IsReservedWord(name.keyword) && !IsReservedFunctionName(name.keyword)) {
    return ParseIdentifier();  // answers with the reserved word's error
  }
  cursor_.Take();
  Call call;
  call.name = {name.text, name.range};
  RETURN_IF_ERROR(cursor_.ExpectSymbol("("));
  RETURN_IF_ERROR((this->*parse)(call));
  if (!cursor_.AcceptSymbol(")")) return cursor_.Unexpected("',' or ')'");
  RETURN_IF_ERROR(ParseCallSuffixes(call));
  return Make(name.range, std::move(call));
}

Status ExpressionParser::AddArgument(Call& call) {
  Argument argument;
  if (NextIsName(cursor_) && cursor_.Peek(1).IsSymbol("=>")) {
    ASSIGN_OR_RETURN(argument.name, ParseName(cursor_, "the name of an argument"));
    cursor_.Take();
    if (cursor_.NextIsKeyword("DEFAULT")) return cursor_.NotBuilt("DEFAULT as an argument");
  }
  ASSIGN_OR_RETURN(argument.value, Parse());
  call.arguments.push_back(std::move(argument));
  return Status();
}

// [* | [DISTINCT | ALL] a, b => c, …] up to the closing parenthesis.
Status ExpressionParser::ParseArguments(Call& call) {
  if (cursor_.NextIsSymbol(")")) return Status();
  if (cursor_.AcceptSymbol("*")) {
    call.star = true;
    return Status();
  }
  call.distinct = cursor_.AcceptKeyword("DISTINCT");
  if (!call.distinct) cursor_.AcceptKeyword("ALL");
  do {
    RETURN_IF_ERROR(AddArgument(call));
  } while (cursor_.AcceptSymbol(","));
  if (cursor_.NextIsKeyword("ORDER")) return cursor_.NotBuilt("ORDER BY inside an aggregate");
  for (std::string_view nulls : {"IGNORE", "RESPECT"}) {
    if (cursor_.NextIsKeyword(nulls)) return cursor_.NotBuilt(fmt::format("{} NULLS", nulls));
  }
  return Status();
}

// WITHIN GROUP, FILTER, OVER.
Status ExpressionParser::ParseCallSuffixes(Call& call) {
  for (std::string_view nulls : {"IGNORE", "RESPECT"}) {
    if (cursor_.NextAreKeywords({nulls, "NULLS"})) return cursor_.NotBuilt(fmt::format("{} NULLS", nulls));
  }
  if (cursor_.NextAreKeywords({"WITHIN", "GROUP"})) return cursor_.NotBuilt("WITHIN GROUP");
  if (cursor_.NextIsKeyword("FILTER") && cursor_.Peek(1).IsSymbol("(")) {
    cursor_.Take();
    cursor_.Take();
    RETURN_IF_ERROR(cursor_.ExpectKeyword("WHERE"));
    ASSIGN_OR_RETURN(call.filter, Parse());
    RETURN_IF_ERROR(cursor_.ExpectSymbol(")"));
  }
  if (cursor_.NextIsKeyword("OVER")) {
    ASSIGN_OR_RETURN(call.over, ParseOver());
  }
  return Status();
}

Result<Over> ExpressionParser::ParseOver() {
  Over over;
  SourceRange begin = cursor_.Take().range;
  if (!cursor_.AcceptSymbol("(")) {
    if (NextIsName(cursor_)) return cursor_.NotBuilt("a named window");
    return cursor_.Unexpected("'('");
  }
  if (NextIsName(cursor_)) return cursor_.NotBuilt("a named window");
  if (cursor_.AcceptKeywords({"PARTITION", "BY"})) {
    ASSIGN_OR_RETURN(over.partition_by, ParseList());
  }
  if (cursor_.AcceptKeywords({"ORDER", "BY"})) {
    ASSIGN_OR_RETURN(over.order_by, ParseOrderItems());
  }
  if (cursor_.NextIsKeyword("ROWS") || cursor_.NextIsKeyword("RANGE") || cursor_.NextIsKeyword("GROUPS")) {
    return cursor_.NotBuilt(fmt::format("the window frame {}", cursor_.Peek().keyword));
  }
  if (!cursor_.AcceptSymbol(")")) return cursor_.Unexpected("PARTITION BY, ORDER BY or ')'");
  over.range = cursor_.RangeFrom(begin);
  return over;
}

// DAY, also written SQL_TSI_DAY.
Result<ExpressionPtr> ExpressionParser::ParseUnitSymbol() {
  const Token& word = cursor_.Peek();
  std::string_view unit = word.keyword;
  if (unit.starts_with("SQL_TSI_")) unit.remove_prefix(8);
  if (unit == "FRAC_SECOND") unit = "MICROSECOND";
  for (std::string_view known : kUnitSymbols) {
    if (unit != known) continue;
    SourceRange range = cursor_.Take().range;
    return Make(range, Symbol{std::string(known)});
  }
  return cursor_.Unexpected("a unit of time such as DAY or HOUR");
}

Status ExpressionParser::ParseExtract(Call& call) {
  ASSIGN_OR_RETURN(ExpressionPtr unit, ParseUnitSymbol());
  call.arguments.push_back({{}, std::move(unit)});
  RETURN_IF_ERROR(cursor_.ExpectKeyword("FROM"));
  return AddArgument(call);
}

Status ExpressionParser::ParseFloor(Call& call) {
  RETURN_IF_ERROR(AddArgument(call));
  if (!cursor_.AcceptKeyword("TO")) return Status();
  ASSIGN_OR_RETURN(ExpressionPtr unit, ParseUnitSymbol());
  call.arguments.push_back({{}, std::move(unit)});
  return Status();
}

// TRIM([BOTH | LEADING | TRAILING] [characters] [FROM] text); always three arguments afterwards.
Status ExpressionParser::ParseTrim(Call& call) {
  SourceRange begin = cursor_.Peek().range;
  std::string side = "BOTH";
  bool with_side = false;
  for (std::string_view word : {"BOTH", "LEADING", "TRAILING"}) {
    if (!cursor_.AcceptKeyword(word)) continue;
    side = word;
    with_side = true;
  }
  ExpressionPtr characters, text;
  if (cursor_.AcceptKeyword("FROM")) {
    if (!with_side) return cursor_.Fail(cursor_.last_range(), "unexpected 'FROM', expected an expression");
    ASSIGN_OR_RETURN(text, Parse());
  } else {
    ASSIGN_OR_RETURN(text, Parse());
    if (cursor_.AcceptKeyword("FROM")) {
      characters = std::move(text);
      ASSIGN_OR_RETURN(text, Parse());
    } else if (with_side) {
      return cursor_.Unexpected("FROM");
    }
  }
  auto implicit = [&](Expression::Node node) {
    return std::make_unique<Expression>(Expression{begin, std::move(node)});
  };
  if (!characters) characters = implicit(Literal{LiteralKind::kString, " "});
  call.arguments.push_back({{}, implicit(Symbol{side})});
  call.arguments.push_back({{}, std::move(characters)});
  call.arguments.push_back({{}, std::move(text)});
  return Status();
}

// POSITION(a IN b): IN binds tighter than `=`, so the first operand is parsed without it.
Status ExpressionParser::ParsePosition(Call& call) {
  constexpr int kTighterThanIn = 33;
  ASSIGN_OR_RETURN(ExpressionPtr part, ParseAbove(kTighterThanIn));
  call.arguments.push_back({{}, std::move(part)});
  RETURN_IF_ERROR(cursor_.ExpectKeyword("IN"));
  RETURN_IF_ERROR(AddArgument(call));
  if (cursor_.NextIsKeyword("FROM")) return cursor_.NotBuilt("POSITION(… FROM start)");
  return Status();
}

Status ExpressionParser::ParseSubstring(Call& call) {
  RETURN_IF_ERROR(AddArgument(call));
  bool words = cursor_.AcceptKeyword("FROM");
  if (!words && !cursor_.AcceptSymbol(",")) return cursor_.Unexpected("FROM or ','");
  RETURN_IF_ERROR(AddArgument(call));
  if (words ? cursor_.AcceptKeyword("FOR") : cursor_.AcceptSymbol(",")) return AddArgument(call);
  return Status();
}

Status ExpressionParser::ParseOverlay(Call& call) {
  RETURN_IF_ERROR(AddArgument(call));
  RETURN_IF_ERROR(cursor_.ExpectKeyword("PLACING"));
  RETURN_IF_ERROR(AddArgument(call));
  RETURN_IF_ERROR(cursor_.ExpectKeyword("FROM"));
  RETURN_IF_ERROR(AddArgument(call));
  return cursor_.AcceptKeyword("FOR") ? AddArgument(call) : Status();
}

Status ExpressionParser::ParseTimestampArithmetic(Call& call) {
  ASSIGN_OR_RETURN(ExpressionPtr unit, ParseUnitSymbol());
  call.arguments.push_back({{}, std::move(unit)});
  RETURN_IF_ERROR(cursor_.ExpectSymbol(","));
  RETURN_IF_ERROR(AddArgument(call));
  RETURN_IF_ERROR(cursor_.ExpectSymbol(","));
  return AddArgument(call);
}

Result<ExpressionPtr> ExpressionParser::ParseJsonCall(const Token& name) {
  if (name.keyword == "JSON_OBJECT" || name.keyword == "JSON_ARRAY") return ParseJsonConstructor(name);
  if (name.keyword == "JSON_OBJECTAGG" || name.keyword == "JSON_ARRAYAGG")
    return cursor_.NotBuilt(name.keyword);
  if (name.keyword != "JSON_VALUE" && name.keyword != "JSON_EXISTS" && name.keyword != "JSON_QUERY") {
    return ParseCall(name);  // JSON_STRING and the like have no clauses
  }
  cursor_.Take();
  JsonCall call;
  call.function = name.keyword == "JSON_VALUE"    ? JsonFunction::kValue
                  : name.keyword == "JSON_EXISTS" ? JsonFunction::kExists
                                                  : JsonFunction::kQuery;
  call.name = {name.text, name.range};
  RETURN_IF_ERROR(cursor_.ExpectSymbol("("));
  ASSIGN_OR_RETURN(call.input, Parse());
  RETURN_IF_ERROR(cursor_.ExpectSymbol(","));
  ASSIGN_OR_RETURN(call.path, Parse());
  RETURN_IF_ERROR(ParseJsonClauses(call));
  RETURN_IF_ERROR(cursor_.ExpectSymbol(")"));
  return Make(name.range, std::move(call));
}

// [RETURNING type] [wrapper] [behavior ON EMPTY] [behavior ON ERROR]
Status ExpressionParser::ParseJsonClauses(JsonCall& call) {
  if (cursor_.NextIsKeyword("RETURNING")) {
    if (call.function == JsonFunction::kExists) {
      return cursor_.Fail(cursor_.Peek().range, "JSON_EXISTS has no RETURNING");
    }
    cursor_.Take();
    ASSIGN_OR_RETURN(call.returning, ParseTypeName(cursor_, /*with_nullability=*/false));
  }
  if (call.function == JsonFunction::kQuery) RETURN_IF_ERROR(ParseJsonWrapper(call));
  while (!cursor_.NextIsSymbol(")")) RETURN_IF_ERROR(ParseJsonBehavior(call));
  return Status();
}

// {WITH [CONDITIONAL | UNCONDITIONAL] | WITHOUT} [ARRAY] WRAPPER
Status ExpressionParser::ParseJsonWrapper(JsonCall& call) {
  if (cursor_.AcceptKeyword("WITHOUT")) {
    call.wrapper = JsonWrapper::kWithout;
  } else if (cursor_.AcceptKeyword("WITH")) {
    call.wrapper =
        cursor_.AcceptKeyword("CONDITIONAL") ? JsonWrapper::kConditional : JsonWrapper::kUnconditional;
    if (call.wrapper == JsonWrapper::kUnconditional) cursor_.AcceptKeyword("UNCONDITIONAL");
  } else {
    return Status();
  }
  cursor_.AcceptKeyword("ARRAY");
  return cursor_.ExpectKeyword("WRAPPER");
}

Status ExpressionParser::ParseJsonBehavior(JsonCall& call) {
  SourceRange begin = cursor_.Peek().range;
  JsonBehavior behavior{};
  if (cursor_.AcceptKeyword("NULL")) {
    behavior.kind = JsonBehaviorKind::kNull;
  } else if (cursor_.AcceptKeyword("ERROR")) {
    behavior.kind = JsonBehaviorKind::kError;
  } else if (cursor_.AcceptKeyword("TRUE")) {
    behavior.kind = JsonBehaviorKind::kTrue;
  } else if (cursor_.AcceptKeyword("FALSE")) {
    behavior.kind = JsonBehaviorKind::kFalse;
  } else if (cursor_.AcceptKeyword("UNKNOWN")) {
    behavior.kind = JsonBehaviorKind::kUnknown;
  } else if (cursor_.AcceptKeywords({"EMPTY", "ARRAY"})) {
    behavior.kind = JsonBehaviorKind::kEmptyArray;
  } else if (cursor_.AcceptKeywords({"EMPTY", "OBJECT"})) {
    behavior.kind = JsonBehaviorKind::kEmptyObject;
  } else if (cursor_.AcceptKeyword("DEFAULT")) {
    behavior.kind = JsonBehaviorKind::kDefault;
    ASSIGN_OR_RETURN(behavior.default_value, Parse());
  } else {
    return cursor_.Unexpected("NULL, ERROR, DEFAULT or ')'");
  }
  RETURN_IF_ERROR(cursor_.ExpectKeyword("ON"));
  bool empty = cursor_.AcceptKeyword("EMPTY");
  if (!empty && !cursor_.AcceptKeyword("ERROR")) return cursor_.Unexpected("EMPTY or ERROR");
  std::optional<JsonBehavior>& target = empty ? call.on_empty : call.on_error;
  if (target || (empty && call.on_error)) {
    return cursor_.Fail(cursor_.RangeFrom(begin), "ON EMPTY and ON ERROR may each stand once, in this order");
  }
  target = std::move(behavior);
  return Status();
}

// JSON_OBJECT([KEY] k VALUE v, …), JSON_OBJECT(k : v), JSON_ARRAY(v, …), each with {NULL | ABSENT} ON NULL.
Result<ExpressionPtr> ExpressionParser::ParseJsonConstructor(const Token& name) {
  cursor_.Take();
  JsonConstructor constructor;
  constructor.name = {name.text, name.range};
  const bool object = name.keyword == "JSON_OBJECT";
  RETURN_IF_ERROR(cursor_.ExpectSymbol("("));
  auto at_null_clause = [&] {
    return cursor_.NextAreKeywords({"NULL", "ON"}) || cursor_.NextAreKeywords({"ABSENT", "ON"});
  };
  while (!cursor_.NextIsSymbol(")") && !at_null_clause()) {
    if (!constructor.arguments.empty() && !cursor_.AcceptSymbol(",")) return cursor_.Unexpected("',' or ')'");
    if (object) {
      cursor_.AcceptKeyword("KEY");
      ASSIGN_OR_RETURN(ExpressionPtr key, Parse());
      constructor.arguments.push_back(std::move(key));
      if (!cursor_.AcceptKeyword("VALUE") && !cursor_.AcceptSymbol(":"))
        return cursor_.Unexpected("VALUE or ':'");
    }
    ASSIGN_OR_RETURN(ExpressionPtr value, Parse());
    constructor.arguments.push_back(std::move(value));
  }
  RETURN_IF_ERROR(ParseJsonNullClause(constructor));
  RETURN_IF_ERROR(cursor_.ExpectSymbol(")"));
  return Make(name.range, std::move(constructor));
}

Status ExpressionParser::ParseJsonNullClause(JsonConstructor& constructor) {
  if (cursor_.AcceptKeywords({"NULL", "ON", "NULL"})) {
    constructor.null_on_null = true;
  } else if (cursor_.AcceptKeywords({"ABSENT", "ON", "NULL"})) {
    constructor.null_on_null = false;
  }
  return Status();
}

}  // namespace caudal::sql
