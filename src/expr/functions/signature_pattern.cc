#include "expr/functions/signature_pattern.h"

#include "expr/type_rules.h"

namespace caudal {
namespace {

// The type that an argument of the letter's kind is cast to; empty when it is of another kind.
std::optional<Type> ArgumentType(char letter, const Type& given) {
  const bool null = given.id() == TypeId::kNull;
  const auto as = [&](TypeId id) { return Type(id, given.nullable()); };
  switch (letter) {
    case 't':
      if (null) return Type::String();
      return given.is_string() ? std::optional(given) : std::nullopt;
    case 'x':
      if (null) return Type::Bytes();
      return given.is_binary() ? std::optional(given) : std::nullopt;
    case 'i':
      return null || (given.is_integer() && given.id() != TypeId::kBigInt) ? std::optional(as(TypeId::kInt))
                                                                           : std::nullopt;
    case 'l':
      return null || given.is_integer() ? std::optional(as(TypeId::kBigInt)) : std::nullopt;
    case 'd':
      return null || given.is_numeric() ? std::optional(as(TypeId::kDouble)) : std::nullopt;
    case 'n':
      if (null) return Type(TypeId::kInt);
      return given.is_numeric() ? std::optional(given) : std::nullopt;
    case 'b':
      return null || given.id() == TypeId::kBoolean ? std::optional(as(TypeId::kBoolean)) : std::nullopt;
    default:
      return given;
  }
}

std::string_view KindName(char letter) {
  switch (letter) {
    case 't':
      return "a string";
    case 'x':
      return "bytes";
    case 'i':
      return "an INT";
    case 'l':
      return "an integer";
    case 'b':
      return "a BOOLEAN";
    default:
      return "a number";
  }
}

Type ResultType(char letter, std::span<const Type> args) {
  switch (letter) {
    case 'I':
      return Type(TypeId::kInt);
    case 'L':
      return Type(TypeId::kBigInt);
    case 'D':
      return Type(TypeId::kDouble);
    case 'B':
      return Type(TypeId::kBoolean);
    case 'X':
      return Type::Bytes();
    case '0':
      return args[0];
    case 'V':
      return Type::VarChar(args[0].length());
    default:
      return Type::String();
  }
}

}  // namespace

Result<Signature> MatchSignature(std::string_view pattern, std::span<const Type> args) {
  const size_t arrow = pattern.find('>');
  std::string letters;
  int least = -1;
  bool repeats = false;
  for (const char c : pattern.substr(0, arrow)) {
    if (c == '?') {
      least = static_cast<int>(letters.size());
    } else if (c == '*') {
      repeats = true;
      least = static_cast<int>(letters.size()) - 1;
    } else {
      letters += c;
    }
  }
  if (least < 0) least = static_cast<int>(letters.size());
  RETURN_IF_ERROR(ExpectCount(args.size(), least, repeats ? -1 : static_cast<int>(letters.size())));
  Signature signature;
  for (size_t i = 0; i < args.size(); ++i) {
    const char letter = letters[std::min(i, letters.size() - 1)];
    std::optional<Type> type = ArgumentType(letter, args[i]);
    if (!type) return WrongArgument(i, args[i], KindName(letter));
    signature.args.push_back(*std::move(type));
  }
  const std::string_view result = pattern.substr(arrow + 1);
  const bool nullable = result.back() == '!' || (result.back() != '.' && AnyNullable(args));
  signature.result = ResultType(result[0], signature.args).WithNullable(nullable);
  return signature;
}

}  // namespace caudal
