#include "expr/expr.h"

#include <fmt/format.h>

#include "data/text/number_text.h"
#include "data/text/time_text.h"
#include "expr/scalar_function.h"

namespace caudal {
namespace {

std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') quoted += '\'';
    quoted += c;
  }
  return quoted + "'";
}

std::string HexLiteral(std::string_view bytes) {
  std::string text = "x'";
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text + "'";
}

std::string NestedLiteral(const Type& type, const ValueList& list);

std::string TimeLiteral(const Type& type, int64_t value) {
  char text[kTimestampTextSize];
  const auto quoted = [&](size_t size) { return "'" + std::string(text, size) + "'"; };
  switch (type.id()) {
    case TypeId::kDate:
      return "DATE " + quoted(FormatDate(value, text));
    case TypeId::kTime:
      return "TIME " + quoted(FormatTime(static_cast<int32_t>(value), type.precision(), text));
    case TypeId::kTimestamp:
      return "TIMESTAMP " + quoted(FormatTimestamp(value, type.precision(), text));
    case TypeId::kTimestampLtz:
      return "TIMESTAMP_LTZ " + quoted(FormatTimestamp(value, type.precision(), text));
    case TypeId::kIntervalYearMonth:
      return "INTERVAL " + quoted(FormatYearMonthInterval(static_cast<int32_t>(value), text)) +
             " YEAR TO MONTH";
    case TypeId::kIntervalDayTime:
      return "INTERVAL " + quoted(FormatDayTimeInterval(value, text)) + " DAY TO SECOND";
    default:
      return fmt::format("{}", value);
  }
}

std::string LiteralText(const Type& type, const Value& value) {
  if (value.is_null()) return "NULL";
  char text[kDecimalTextSize + kDoubleTextSize];
  const int64_t* integer = std::get_if<int64_t>(&value.data);
  switch (type.id()) {
    case TypeId::kBoolean:
      return std::get<bool>(value.data) ? "TRUE" : "FALSE";
    case TypeId::kFloat:
      return {text, FormatFloat(static_cast<float>(std::get<double>(value.data)), text)};
    case TypeId::kDouble:
      return {text, FormatDouble(std::get<double>(value.data), text)};
    case TypeId::kDecimal: {
      const int128_t unscaled = integer != nullptr ? *integer : std::get<int128_t>(value.data);
      return {text, FormatDecimal(unscaled, type.scale(), text)};
    }
    case TypeId::kChar:
    case TypeId::kVarChar:
      return Quoted(std::get<std::string>(value.data));
    case TypeId::kBinary:
    case TypeId::kVarBinary:
      return HexLiteral(std::get<std::string>(value.data));
    case TypeId::kArray:
    case TypeId::kMap:
    case TypeId::kRow:
      return NestedLiteral(type, std::get<ValueList>(value.data));
    default:
      return TimeLiteral(type, integer != nullptr ? *integer : 0);
  }
}

std::string NestedLiteral(const Type& type, const ValueList& list) {
  std::string text = type.id() == TypeId::kArray ? "ARRAY[" : type.id() == TypeId::kMap ? "MAP[" : "ROW(";
  for (size_t i = 0; i < list.size(); ++i) {
    const size_t part = type.id() == TypeId::kArray ? 0 : type.id() == TypeId::kMap ? i % 2 : i;
    text += (i == 0 ? "" : ", ") + LiteralText(type.children()[part].type, list[i]);
  }
  return text + (type.id() == TypeId::kRow ? ")" : "]");
}

// A function that is written between its arguments.
bool IsInfix(std::string_view name) {
  static constexpr std::string_view kInfix[] = {"=",
                                                "<>",
                                                "<",
                                                "<=",
                                                ">",
                                                ">=",
                                                "+",
                                                "-",
                                                "*",
                                                "/",
                                                "%",
                                                "||",
                                                "AND",
                                                "OR",
                                                "LIKE",
                                                "SIMILAR TO",
                                                "IS DISTINCT FROM",
                                                "IS NOT DISTINCT FROM"};
  for (const std::string_view infix : kInfix) {
    if (name == infix) return true;
  }
  return false;
}

std::string CaseText(const Expr& expr) {
  std::string text = "CASE";
  size_t i = 0;
  for (; i + 1 < expr.args.size(); i += 2) {
    text += fmt::format(" WHEN {} THEN {}", expr.args[i].ToString(), expr.args[i + 1].ToString());
  }
  if (i < expr.args.size()) text += fmt::format(" ELSE {}", expr.args[i].ToString());
  return text + " END";
}

std::string CallText(const Expr& expr) {
  const std::string_view name = expr.name;
  const std::vector<Expr>& args = expr.args;
  if (name == "CASE") return CaseText(expr);
  if (name == "CAST" || name == "TRY_CAST") {
    return fmt::format("{}({} AS {})", name, args[0].ToString(), expr.type.WithNullable(true).ToString());
  }
  if (args.size() >= 2 && IsInfix(name)) {
    std::string text = "(" + args[0].ToString();
    for (size_t i = 1; i < args.size(); ++i) text += fmt::format(" {} {}", name, args[i].ToString());
    return text + ")";
  }
  if (args.size() == 1 && name.substr(0, 3) == "IS ") return fmt::format("{} {}", args[0].ToString(), name);
  if (args.size() == 1 && name == "-") return fmt::format("-{}", args[0].ToString());
  std::string text;
  for (size_t i = name == "IN" ? 1 : 0; i < args.size(); ++i) {
    text += (text.empty() ? "" : ", ") + args[i].ToString();
  }
  if (name == "IN") return fmt::format("{} IN ({})", args[0].ToString(), text);
  return fmt::format("{}({})", name, text);
}

}  // namespace

Expr Expr::Literal(Type type, Value value) {
  Expr expr;
  expr.kind = Kind::kLiteral;
  expr.type = std::move(type);
  expr.literal = std::move(value);
  return expr;
}

Expr Expr::Column(int column, std::string name, Type type) {
  Expr expr;
  expr.kind = Kind::kColumn;
  expr.type = std::move(type);
  expr.column = column;
  expr.name = std::move(name);
  return expr;
}

std::string Expr::ToString() const {
  switch (kind) {
    case Kind::kLiteral:
      return LiteralText(type, literal);
    case Kind::kColumn:
      return name;
    case Kind::kCall:
      break;
  }
  return CallText(*this);
}

bool Expr::operator==(const Expr& other) const {
  if (kind != other.kind || !(type == other.type)) return false;
  switch (kind) {
    case Kind::kLiteral:
      return literal == other.literal;
    case Kind::kColumn:
      return column == other.column;
    case Kind::kCall:
      break;
  }
  return function == other.function && args == other.args;
}

}  // namespace caudal
