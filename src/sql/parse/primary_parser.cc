// The operands of expressions: literals, names, CASE, CAST and the constructors.
#include <fmt/format.h>

#include "sql/parse/expression_parser.h"
#include "sql/parse/name_parser.h"
#include "sql/parse/reserved_words.h"
#include "sql/parse/type_parser.h"

namespace caudal::sql {
namespace {

struct UnitWord {
  std::string_view singular, plural;
  TimeUnit unit;
};

constexpr UnitWord kUnits[] = {
    {"YEAR", "YEARS", TimeUnit::kYear},       {"QUARTER", "QUARTERS", TimeUnit::kQuarter},
    {"MONTH", "MONTHS", TimeUnit::kMonth},    {"WEEK", "WEEKS", TimeUnit::kWeek},
    {"DAY", "DAYS", TimeUnit::kDay},          {"HOUR", "HOURS", TimeUnit::kHour},
    {"MINUTE", "MINUTES", TimeUnit::kMinute}, {"SECOND", "SECONDS", TimeUnit::kSecond},
};

bool BeginsQuery(const Token& token) {
  return token.IsKeyword("SELECT") || token.IsKeyword("WITH") || token.IsKeyword("VALUES") ||
         token.IsKeyword("TABLE");
}

}  // namespace

Result<ExpressionPtr> ExpressionParser::ParsePrimary() {
  const Token token = cursor_.Peek();
  switch (token.kind) {
    case TokenKind::kString:
    case TokenKind::kBinary:
    case TokenKind::kInteger:
    case TokenKind::kDecimal:
    case TokenKind::kApproximate:
      return ParseLiteral();
    case TokenKind::kQuotedName:
      return ParseIdentifier();
    case TokenKind::kWord:
      return ParseKeyword(token);
    case TokenKind::kSymbol:
      if (token.text == "(") return ParseParenthesized();
      if (token.text == "?") return cursor_.NotBuilt("a parameter '?'");
      if (token.text == "{") return cursor_.NotBuilt("'{'");
      return cursor_.Unexpected("an expression");
    case TokenKind::kEnd:
      return cursor_.Unexpected("an expression");
  }
  return cursor_.Unexpected("an expression");
}

// An operand that begins with a word.
Result<ExpressionPtr> ExpressionParser::ParseKeyword(const Token& word) {
  const std::string& keyword = word.keyword;
  const Token& next = cursor_.Peek(1);
  struct Constant {
    std::string_view word;
    LiteralKind kind;
  };
  constexpr Constant kConstants[] = {{"NULL", LiteralKind::kNull},
                                     {"TRUE", LiteralKind::kTrue},
                                     {"FALSE", LiteralKind::kFalse},
                                     {"UNKNOWN", LiteralKind::kUnknown}};
  for (const Constant& constant : kConstants) {
    if (keyword == constant.word) {
      cursor_.Take();
      return Make(word.range, Literal{constant.kind, keyword});
    }
  }
  constexpr Constant kTimes[] = {{"DECIMAL", LiteralKind::kDecimal},
                                 {"DATE", LiteralKind::kDate},
                                 {"TIME", LiteralKind::kTime},
                                 {"TIMESTAMP", LiteralKind::kTimestamp}};
  for (const Constant& time : kTimes) {
    if (keyword == time.word && next.kind == TokenKind::kString) {
      cursor_.Take();
      return Make(word.range, Literal{time.kind, cursor_.Take().text});
    }
  }
  if (keyword == "TIMESTAMP" && next.IsKeyword("WITH")) {
    return cursor_.NotBuilt("a literal of TIMESTAMP WITH LOCAL TIME ZONE")
        .Hint("write CAST(TIMESTAMP '…' AS TIMESTAMP_LTZ(3))");
  }
  if (keyword == "INTERVAL") return ParseInterval();
  if (keyword == "CASE") return ParseCase();
  if (keyword == "CAST" || keyword == "TRY_CAST") return ParseCast();
  if (keyword == "ARRAY" || keyword == "MAP" || keyword == "MULTISET" || keyword == "ROW") {
    if (keyword == "ROW" || next.IsSymbol("[") || next.IsSymbol("(")) return ParseCollection(word);
  }
  if (keyword == "EXISTS" || keyword == "UNIQUE")
    return cursor_.NotBuilt(fmt::format("{} (subquery)", keyword));
  if (next.IsSymbol("(")) {
    if (keyword.starts_with("JSON_")) return ParseJsonCall(word);
    return ParseCall(word);
  }
  if (IsContextFunction(keyword)) {
    cursor_.Take();
    Call call;
    call.name = {word.text, word.range};
    call.parentheses = false;
    return Make(word.range, std::move(call));
  }
  return ParseIdentifier();
}

Result<ExpressionPtr> ExpressionParser::ParseLiteral() {
  Token token = cursor_.Take();
  LiteralKind kind = token.kind == TokenKind::kString    ? LiteralKind::kString
                     : token.kind == TokenKind::kBinary  ? LiteralKind::kBinary
                     : token.kind == TokenKind::kInteger ? LiteralKind::kInteger
                     : token.kind == TokenKind::kDecimal ? LiteralKind::kDecimal
                                                         : LiteralKind::kApproximate;
  SourceRange last = token.range;
  while (kind == LiteralKind::kString && cursor_.Peek().kind == TokenKind::kString) {
    // The standard joins fragments of a string that stand on separate lines.
    Token fragment = cursor_.Peek();
    std::string_view between = cursor_.source().Slice({last.end(), fragment.range.offset - last.end()});
    if (between.find('\n') == std::string_view::npos) {
      return cursor_.Fail(fragment.range, "two strings stand beside each other")
          .Hint("write '||' between them");
    }
    cursor_.Take();
    last = fragment.range;
    token.text += fragment.text;
  }
  return Make(token.range, Literal{kind, std::move(token.text)});
}

Result<TimeUnit> ExpressionParser::ParseTimeUnit() {
  for (const UnitWord& word : kUnits) {
    if (cursor_.AcceptKeyword(word.singular) || cursor_.AcceptKeyword(word.plural)) return word.unit;
  }
  return cursor_.Unexpected("a unit of time: YEAR, QUARTER, MONTH, WEEK, DAY, HOUR, MINUTE or SECOND");
}

Result<ExpressionPtr> ExpressionParser::ParseInterval() {
  SourceRange begin = cursor_.Take().range;
  IntervalLiteral interval;
  interval.negative = cursor_.AcceptSymbol("-");
  if (!interval.negative) cursor_.AcceptSymbol("+");
  if (cursor_.Peek().kind != TokenKind::kString && !cursor_.AtEnd()) {
    return cursor_.NotBuilt("INTERVAL with anything but a string").Hint("write INTERVAL '5' MINUTE");
  }
  ASSIGN_OR_RETURN(Token text, cursor_.ExpectString("a string, as in INTERVAL '5' MINUTE"));
  interval.text = std::move(text.text);
  SourceRange unit_range = cursor_.Peek().range;
  ASSIGN_OR_RETURN(interval.from, ParseTimeUnit());
  if (cursor_.AcceptSymbol("(")) {
    ASSIGN_OR_RETURN(interval.precision, cursor_.ExpectSmallInteger("a precision"));
    if (interval.from == TimeUnit::kSecond && cursor_.AcceptSymbol(",")) {
      ASSIGN_OR_RETURN(interval.fraction, cursor_.ExpectSmallInteger("a precision"));
    }
    RETURN_IF_ERROR(cursor_.ExpectSymbol(")"));
  }
  if (cursor_.AcceptKeyword("TO")) {
    ASSIGN_OR_RETURN(interval.to, ParseTimeUnit());
    if (*interval.to == TimeUnit::kSecond && cursor_.AcceptSymbol("(")) {
      ASSIGN_OR_RETURN(interval.fraction, cursor_.ExpectSmallInteger("a precision"));
      RETURN_IF_ERROR(cursor_.ExpectSymbol(")"));
    }
    bool months = interval.from == TimeUnit::kYear && *interval.to == TimeUnit::kMonth;
    bool days = interval.from >= TimeUnit::kDay && *interval.to > interval.from;
    if (!months && !days) {
      return cursor_
          .Fail(cursor_.RangeFrom(unit_range),
                fmt::format("an interval has no unit '{}'",
                            cursor_.source().Slice(cursor_.RangeFrom(unit_range))))
          .Hint("YEAR TO MONTH, DAY TO HOUR, MINUTE or SECOND, HOUR TO MINUTE or SECOND, MINUTE TO SECOND");
    }
  }
  return Make(begin, std::move(interval));
}

// (expression), or the row (a, b).
Result<ExpressionPtr> ExpressionParser::ParseParenthesized() {
  if (BeginsQuery(cursor_.Peek(1))) return cursor_.NotBuilt("a subquery as an expression");
  SourceRange begin = cursor_.Take().range;
  ASSIGN_OR_RETURN(ExpressionList fields, ParseList());
  if (!cursor_.AcceptSymbol(")")) return cursor_.Unexpected("')'");
  if (fields.size() > 1) return Make(begin, RowConstructor{std::move(fields)});
  fields.front()->range = cursor_.RangeFrom(begin);
  return std::move(fields.front());
}

Result<ExpressionPtr> ExpressionParser::ParseCase() {
  SourceRange begin = cursor_.Take().range;
  Case node;
  if (!cursor_.NextIsKeyword("WHEN")) {
    ASSIGN_OR_RETURN(node.operand, Parse());
  }
  while (cursor_.AcceptKeyword("WHEN")) {
    Case::When when;
    if (node.operand) {
      ASSIGN_OR_RETURN(when.conditions, ParseList());
    } else {
      ASSIGN_OR_RETURN(ExpressionPtr condition, Parse());
      when.conditions.push_back(std::move(condition));
    }
    RETURN_IF_ERROR(cursor_.ExpectKeyword("THEN"));
    ASSIGN_OR_RETURN(when.result, Parse());
    node.whens.push_back(std::move(when));
  }
  if (node.whens.empty()) return cursor_.Unexpected("WHEN");
  if (cursor_.AcceptKeyword("ELSE")) {
    ASSIGN_OR_RETURN(node.otherwise, Parse());
  }
  if (!cursor_.AcceptKeyword("END")) return cursor_.Unexpected(node.otherwise ? "END" : "WHEN, ELSE or END");
  return Make(begin, std::move(node));
}

Result<ExpressionPtr> ExpressionParser::ParseCast() {
  Token word = cursor_.Take();
  Cast cast;
  cast.is_try = word.keyword == "TRY_CAST";
  RETURN_IF_ERROR(cursor_.ExpectSymbol("("));
  ASSIGN_OR_RETURN(cast.operand, Parse());
  RETURN_IF_ERROR(cursor_.ExpectKeyword("AS"));
  ASSIGN_OR_RETURN(cast.type, ParseTypeName(cursor_, /*with_nullability=*/false));
  RETURN_IF_ERROR(cursor_.ExpectSymbol(")"));
  return Make(word.range, std::move(cast));
}

Result<ExpressionPtr> ExpressionParser::ParseIdentifier() {
  Identifier identifier;
  SourceRange begin = cursor_.Peek().range;
  ASSIGN_OR_RETURN(Name first, ParseName(cursor_, "an expression"));
  identifier.parts.push_back(std::move(first));
  while (cursor_.NextIsSymbol(".") && !cursor_.Peek(1).IsSymbol("*")) {
    cursor_.Take();
    ASSIGN_OR_RETURN(Name part, ParseName(cursor_, "a field name"));
    identifier.parts.push_back(std::move(part));
    if (identifier.parts.size() > 50) return cursor_.Fail(begin, "the name has more than 50 parts");
  }
  if (cursor_.NextIsSymbol("(")) {
    if (identifier.parts.size() == 1) {
      // A quoted name can be a function too.
      Token name{TokenKind::kQuotedName, identifier.parts[0].range, identifier.parts[0].text, ""};
      return ParseCall(name);
    }
    return cursor_.NotBuilt(cursor_.RangeFrom(begin), "a function of another database");
  }
  return Make(begin, std::move(identifier));
}

// ROW(…), ARRAY[…], MAP[…].
Result<ExpressionPtr> ExpressionParser::ParseCollection(const Token& word) {
  if (word.keyword == "MULTISET") return cursor_.NotBuilt("the constructor MULTISET[…]");
  cursor_.Take();
  if (word.keyword == "ROW") {
    RETURN_IF_ERROR(cursor_.ExpectSymbol("("));
    ASSIGN_OR_RETURN(ExpressionList fields, ParseUntil(")"));
    return Make(word.range, RowConstructor{std::move(fields)});
  }
  if (cursor_.NextIsSymbol("(")) {
    return cursor_.NotBuilt(fmt::format("{}(subquery)", word.keyword))
        .Hint(fmt::format("write {}[…]", word.keyword));
  }
  cursor_.Take();
  ASSIGN_OR_RETURN(ExpressionList elements, ParseUntil("]"));
  if (word.keyword == "ARRAY") return Make(word.range, ArrayConstructor{std::move(elements)});
  if (elements.size() % 2 != 0) {
    return cursor_.Fail(cursor_.RangeFrom(word.range),
                        "MAP[…] needs keys and values in turn, an even number of them");
  }
  return Make(word.range, MapConstructor{std::move(elements)});
}

// A list, maybe empty, and its closing symbol.
Result<ExpressionList> ExpressionParser::ParseUntil(std::string_view closing) {
  if (cursor_.AcceptSymbol(closing)) return ExpressionList();
  ASSIGN_OR_RETURN(ExpressionList list, ParseList());
  if (!cursor_.AcceptSymbol(closing)) return cursor_.Unexpected(fmt::format("',' or '{}'", closing));
  return list;
}

}  // namespace caudal::sql
