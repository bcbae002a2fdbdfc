#include "sql/parse/type_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sql/parse/name_parser.h"

namespace caudal::sql {
namespace {

constexpr int kMaxTypeNesting = 50;

enum class Parameters { kNone, kLength, kPrecision, kPrecisionAndScale };

struct PlainType {
  std::string_view word, name;
  Parameters parameters;
};

// TIME, TIMESTAMP, CHARACTER, BINARY and DOUBLE have words behind them and rules of their own below.
constexpr PlainType kPlainTypes[] = {
    {"BOOLEAN", "BOOLEAN", Parameters::kNone},
    {"TINYINT", "TINYINT", Parameters::kNone},
    {"SMALLINT", "SMALLINT", Parameters::kNone},
    {"INT", "INT", Parameters::kNone},
    {"INTEGER", "INT", Parameters::kNone},
    {"BIGINT", "BIGINT", Parameters::kNone},
    {"FLOAT", "FLOAT", Parameters::kNone},
    {"STRING", "STRING", Parameters::kNone},
    {"BYTES", "BYTES", Parameters::kNone},
    {"DATE", "DATE", Parameters::kNone},
    {"VARCHAR", "VARCHAR", Parameters::kLength},
    {"VARBINARY", "VARBINARY", Parameters::kLength},
    {"DECIMAL", "DECIMAL", Parameters::kPrecisionAndScale},
    {"DEC", "DECIMAL", Parameters::kPrecisionAndScale},
    {"NUMERIC", "DECIMAL", Parameters::kPrecisionAndScale},
    {"TIMESTAMP_LTZ", "TIMESTAMP_LTZ", Parameters::kPrecision},
};

constexpr std::string_view kUnbuiltTypes[] = {"VARIANT",  "RAW",    "STRUCTURED", "INTERVAL",  "BIT",
                                              "NCHAR",    "BITMAP", "UUID",       "GEOGRAPHY", "REAL",
                                              "DATETIME", "BLOB",   "CLOB",       "NATIONAL"};

class TypeParser {
 public:
  explicit TypeParser(TokenCursor& cursor) : cursor_(cursor) {}

  Result<TypeName> Parse(bool with_nullability) {
    SourceRange begin = cursor_.Peek().range;
    const int outer_nesting = nesting_;
    if (++nesting_ > kMaxTypeNesting) {
      return cursor_.Fail(begin, fmt::format("types are nested more than {} deep", kMaxTypeNesting));
    }
    ASSIGN_OR_RETURN(TypeName type, ParseBase());
    if (with_nullability) RETURN_IF_ERROR(ParseNullability(type));
    // The older way to write collections: INT ARRAY, INT MULTISET.
    while (cursor_.NextIsKeyword("ARRAY") || cursor_.NextIsKeyword("MULTISET")) {
      TypeName collection;
      collection.name = cursor_.Take().keyword;
      collection.children.push_back({{}, std::move(type), std::nullopt});
      type = std::move(collection);
      if (++nesting_ > kMaxTypeNesting) return cursor_.Fail(begin, "too many collections around one type");
      if (with_nullability) RETURN_IF_ERROR(ParseNullability(type));
    }
    type.range = cursor_.RangeFrom(begin);
    nesting_ = outer_nesting;
    return type;
  }

 private:
  Status ParseNullability(TypeName& type) {
    if (cursor_.AcceptKeywords({"NOT", "NULL"})) {
      type.not_null = true;
    } else {
      cursor_.AcceptKeyword("NULL");
    }
    return Status();
  }

  Result<TypeName> ParseBase() {
    const Token word = cursor_.Peek();
    if (word.kind != TokenKind::kWord) return cursor_.Unexpected("a type");
    for (const PlainType& plain : kPlainTypes) {
      if (plain.word != word.keyword) continue;
      cursor_.Take();
      TypeName type;
      type.name = plain.name;
      RETURN_IF_ERROR(ParseParameters(plain.parameters, type));
      return type;
    }
    if (word.keyword == "CHAR" || word.keyword == "CHARACTER") return ParseText("CHAR", "VARCHAR");
    if (word.keyword == "BINARY") return ParseText("BINARY", "VARBINARY");
    if (word.keyword == "DOUBLE") {
      cursor_.Take();
      cursor_.AcceptKeyword("PRECISION");
      return Named("DOUBLE");
    }
    if (word.keyword == "TIME" || word.keyword == "TIMESTAMP") return ParseTime();
    if (word.keyword == "ROW") return ParseRow();
    if (word.keyword == "ARRAY" || word.keyword == "MULTISET" || word.keyword == "MAP")
      return ParseCollection();
    if (std::ranges::find(kUnbuiltTypes, word.keyword) != std::end(kUnbuiltTypes)) {
      return cursor_.NotBuilt(fmt::format("the type {}", word.keyword));
    }
    return cursor_.Fail(word.range, fmt::format("unknown type '{}'", word.text));
  }

  static TypeName Named(std::string name) {
    TypeName type;
    type.name = std::move(name);
    return type;
  }

  Result<TypeName> ParseText(std::string_view fixed, std::string_view varying) {
    cursor_.Take();
    TypeName type = Named(std::string(cursor_.AcceptKeyword("VARYING") ? varying : fixed));
    RETURN_IF_ERROR(ParseParameters(Parameters::kLength, type));
    return type;
  }

  // TIME(p) [WITHOUT TIME ZONE], TIMESTAMP(p) [WITHOUT TIME ZONE | WITH [LOCAL] TIME ZONE].
  Result<TypeName> ParseTime() {
    Token word = cursor_.Take();
    TypeName type = Named(word.keyword);
    RETURN_IF_ERROR(ParseParameters(Parameters::kPrecision, type));
    if (cursor_.NextAreKeywords({"WITH", "TIME", "ZONE"})) {
      return cursor_.NotBuilt(cursor_.RangeFrom(word.range), fmt::format("{} WITH TIME ZONE", word.keyword));
    }
    if (cursor_.AcceptKeywords({"WITH", "LOCAL", "TIME", "ZONE"})) {
      if (word.keyword == "TIME") {
        return cursor_.NotBuilt(cursor_.RangeFrom(word.range), "TIME WITH LOCAL TIME ZONE");
      }
      type.name = "TIMESTAMP_LTZ";
    } else {
      cursor_.AcceptKeywords({"WITHOUT", "TIME", "ZONE"});
    }
    return type;
  }

  // ROW<a INT 'comment', …> or ROW(a INT, …).
  Result<TypeName> ParseRow() {
    cursor_.Take();
    TypeName type = Named("ROW");
    // ROW<> arrives as the one symbol "<>".
    if (cursor_.AcceptSymbol("<>")) return type;
    bool angle = cursor_.AcceptSymbol("<");
    if (!angle && !cursor_.AcceptSymbol("(")) return cursor_.Unexpected("'<'");
    do {
      TypeField field;
      ASSIGN_OR_RETURN(field.name, ParseName(cursor_, "a field name"));
      ASSIGN_OR_RETURN(field.type, Parse(true));
      if (cursor_.Peek().kind == TokenKind::kString) field.comment = cursor_.Take().text;
      type.children.push_back(std::move(field));
    } while (cursor_.AcceptSymbol(","));
    if (!cursor_.AcceptSymbol(angle ? ">" : ")"))
      return cursor_.Unexpected(angle ? "',' or '>'" : "',' or ')'");
    return type;
  }

  Result<TypeName> ParseCollection() {
    Token word = cursor_.Take();
    TypeName type = Named(word.keyword);
    RETURN_IF_ERROR(cursor_.ExpectSymbol("<"));
    for (int i = 0; i < (word.keyword == "MAP" ? 2 : 1); ++i) {
      if (i > 0) RETURN_IF_ERROR(cursor_.ExpectSymbol(","));
      TypeField child;
      ASSIGN_OR_RETURN(child.type, Parse(true));
      type.children.push_back(std::move(child));
    }
    RETURN_IF_ERROR(cursor_.ExpectSymbol(">"));
    return type;
  }

  // Only their number is checked here; their limits are the binder's.
  Status ParseParameters(Parameters parameters, TypeName& type) {
    if (parameters == Parameters::kNone || !cursor_.AcceptSymbol("(")) return Status();
    ASSIGN_OR_RETURN(type.precision, cursor_.ExpectSmallInteger(
                                         parameters == Parameters::kLength ? "a length" : "a precision"));
    if (parameters == Parameters::kPrecisionAndScale && cursor_.AcceptSymbol(",")) {
      ASSIGN_OR_RETURN(type.scale, cursor_.ExpectSmallInteger("a scale"));
    }
    return cursor_.ExpectSymbol(")");
  }

  TokenCursor& cursor_;
  int nesting_ = 0;
};

}  // namespace

Result<TypeName> ParseTypeName(TokenCursor& cursor, bool with_nullability) {
  return TypeParser(cursor).Parse(with_nullability);
}

}  // namespace caudal::sql
