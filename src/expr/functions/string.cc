// String functions whose result is a part or a combination of their arguments; positions count from 1.
#include <algorithm>

#include "expr/functions/families.h"
#include "expr/functions/signature_pattern.h"
#include "expr/functions/string_parts.h"
#include "expr/kernel.h"
#include "expr/string_output.h"
#include "expr/type_rules.h"
#include "expr/utf8.h"

namespace caudal {
namespace {

using TextView = ColumnView<StringView>;

// --- joining
// -------------------------------------------------------------------------------------------------

Result<Signature> ResolveJoin(std::span<const Type> args, std::span<const Value* const>) {
  RETURN_IF_ERROR(ExpectCount(args.size(), 2, -1));
  int64_t length = 0;
  bool fixed = true;
  Signature signature;
  for (size_t i = 0; i < args.size(); ++i) {
    if (!IsText(args[i])) return WrongArgument(i, args[i], "a string").Hint("write a CAST around it");
    const Type type = args[i].id() == TypeId::kNull ? Type::String() : args[i];
    fixed &= type.id() == TypeId::kChar;
    length += type.length();
    signature.args.push_back(type);
  }
  const int32_t whole = static_cast<int32_t>(std::min<int64_t>(length, Type::kMaxLength));
  signature.result = (fixed ? Type::Char(whole) : Type::VarChar(whole)).WithNullable(AnyNullable(args));
  return signature;
}

ColumnPtr JoinKernel(KernelCall& call) {
  StringOutput out(call.physical_rows);
  std::vector<TextView> views;
  for (const ColumnPtr& arg : call.args) views.emplace_back(*arg);
  ForEachRow(call.rows, [&](int32_t row) {
    size_t size = 0;
    for (const TextView& view : views) size += view[row].size();
    char* to = out.Reserve(size);
    for (const TextView& view : views) {
      const StringView& part = view[row];
      std::memcpy(to, part.data(), part.size());
      to += part.size();
    }
    out.Commit(row, size);
  });
  return out.Finish(call.expr.type);
}

// A NULL separator gives NULL; NULL texts are left out.
ColumnPtr JoinWithKernel(KernelCall& call) {
  StringOutput out(call.physical_rows);
  std::vector<TextView> views;
  for (const ColumnPtr& arg : call.args) views.emplace_back(*arg);
  std::string joined;
  ForEachRow(call.rows, [&](int32_t row) {
    if (views[0].IsNull(row)) return out.SetNull(row);
    joined.clear();
    bool first = true;
    for (size_t i = 1; i < views.size(); ++i) {
      if (views[i].IsNull(row)) continue;
      if (!first) joined += views[0][row].view();
      joined += views[i][row].view();
      first = false;
    }
    out.Set(row, joined);
  });
  return out.Finish(call.expr.type);
}

// --- parts
// ---------------------------------------------------------------------------------------------------

ColumnPtr LengthKernel(KernelCall& call) {
  Output<int32_t> out(call.physical_rows);
  const TextView texts(*call.args[0]);
  ForEachRow(call.rows, [&](int32_t row) { out.Set(row, CharacterCount(texts[row].view())); });
  return out.Finish(call.expr.type);
}

ColumnPtr SubstringKernel(KernelCall& call) {
  StringOutput out(call.physical_rows);
  out.KeepAlive(call.args[0]);
  const TextView texts(*call.args[0]);
  const ColumnView<int32_t> starts(*call.args[1]);
  const bool bounded = call.args.size() == 3;
  const ColumnView<int32_t> lengths(*call.args[bounded ? 2 : 1]);
  ForEachRow(call.rows, [&](int32_t row) {
    const int64_t length = bounded ? lengths[row] : Type::kMaxLength;
    if (length < 0) return out.SetNull(row);
    out.Share(row, Substring(texts[row].view(), starts[row], length));
  });
  return out.Finish(call.expr.type);
}

template <bool kRight>
ColumnPtr EndKernel(KernelCall& call) {
  StringOutput out(call.physical_rows);
  out.KeepAlive(call.args[0]);
  const TextView texts(*call.args[0]);
  const ColumnView<int32_t> counts(*call.args[1]);
  ForEachRow(call.rows, [&](int32_t row) {
    const std::string_view text = texts[row].view();
    const int64_t count = std::max(0, counts[row]);
    if (!kRight) return out.Share(row, CharacterPrefix(text, count));
    const int64_t skip = std::max<int64_t>(0, CharacterCount(text) - count);
    out.Share(row, text.substr(CharacterOffset(text, skip)));
  });
  return out.Finish(call.expr.type);
}

// TRIM(side, characters, text); the characters are a set.
Result<Signature> ResolveTrim(std::span<const Type> args, std::span<const Value* const>) {
  RETURN_IF_ERROR(ExpectCount(args.size(), 3, 3));
  ASSIGN_OR_RETURN(Signature signature, MatchSignature("ttt>S", args));
  signature.result = Type::VarChar(signature.args[2].length()).WithNullable(AnyNullable(args));
  return signature;
}

ColumnPtr TrimKernel(KernelCall& call) {
  const std::string_view side = TextView(*call.args[0])[call.rows[0]].view();
  const bool leading = side != "TRAILING";
  const bool trailing = side != "LEADING";
  StringOutput out(call.physical_rows);
  out.KeepAlive(call.args[2]);
  const TextView sets(*call.args[1]);
  const TextView texts(*call.args[2]);
  ForEachRow(call.rows, [&](int32_t row) {
    out.Share(row, TrimCharacters(texts[row].view(), sets[row].view(), leading, trailing));
  });
  return out.Finish(call.expr.type);
}

template <bool kLeading, bool kTrailing>
ColumnPtr SideTrimKernel(KernelCall& call) {
  StringOutput out(call.physical_rows);
  out.KeepAlive(call.args[0]);
  const TextView texts(*call.args[0]);
  const bool given = call.args.size() == 2;
  const TextView sets(*call.args[given ? 1 : 0]);
  ForEachRow(call.rows, [&](int32_t row) {
    out.Share(row, TrimCharacters(texts[row].view(), given ? sets[row].view() : " ", kLeading, kTrailing));
  });
  return out.Finish(call.expr.type);
}

ColumnPtr SplitIndexKernel(KernelCall& call) {
  StringOutput out(call.physical_rows);
  out.KeepAlive(call.args[0]);
  const TextView texts(*call.args[0]);
  const ColumnView<int32_t> indexes(*call.args[2]);
  const bool by_code = !call.args[1]->type().is_string();
  ForEachRow(call.rows, [&](int32_t row) {
    std::string code;
    std::string_view separator;
    if (by_code) {
      AppendCharacter(static_cast<char32_t>(ColumnView<int32_t>(*call.args[1])[row]), &code);
      separator = code;
    } else {
      separator = TextView(*call.args[1])[row].view();
    }
    std::string_view part;
    if (!NthPart(texts[row].view(), separator, indexes[row], &part)) return out.SetNull(row);
    out.Share(row, part);
  });
  return out.Finish(call.expr.type);
}

Result<Signature> ResolveSplitIndex(std::span<const Type> args, std::span<const Value* const>) {
  if (args.size() == 3 && args[1].is_integer()) return MatchSignature("tii>S!", args);
  return MatchSignature("tti>S!", args);
}

// --- searching
// -----------------------------------------------------------------------------------------------

// POSITION(needle IN text), LOCATE(needle, text[, from]): `kNeedle`, `kText` are the arguments' places.
template <int kNeedle, int kText>
ColumnPtr PositionKernel(KernelCall& call) {
  Output<int32_t> out(call.physical_rows);
  const TextView needles(*call.args[kNeedle]);
  const TextView texts(*call.args[kText]);
  const bool from_given = call.args.size() >= 3;
  const bool nth_given = call.args.size() == 4;
  const ColumnView<int32_t> froms(*call.args[from_given ? 2 : 0]);
  const ColumnView<int32_t> nths(*call.args[nth_given ? 3 : 0]);
  ForEachRow(call.rows, [&](int32_t row) {
    const int32_t from = from_given ? froms[row] : 1;
    const int32_t nth = nth_given ? nths[row] : 1;
    out.Set(row, FindCharacters(texts[row].view(), needles[row].view(), from, nth));
  });
  return out.Finish(call.expr.type);
}

template <bool kStart>
ColumnPtr AffixKernel(KernelCall& call) {
  Output<uint8_t> out(call.physical_rows);
  const TextView texts(*call.args[0]);
  const TextView affixes(*call.args[1]);
  ForEachRow(call.rows, [&](int32_t row) {
    const std::string_view text = texts[row].view();
    const std::string_view affix = affixes[row].view();
    out.Set(row, kStart ? text.starts_with(affix) : text.ends_with(affix));
  });
  return out.Finish(call.expr.type);
}

ColumnPtr AsciiKernel(KernelCall& call) {
  Output<int32_t> out(call.physical_rows);
  const TextView texts(*call.args[0]);
  ForEachRow(call.rows, [&](int32_t row) {
    const StringView& text = texts[row];
    out.Set(row, text.empty() ? 0 : static_cast<signed char>(text.data()[0]));
  });
  return out.Finish(call.expr.type);
}

// --- choosing
// ------------------------------------------------------------------------------------------------

Result<Signature> ResolveElt(std::span<const Type> args, std::span<const Value* const>) {
  RETURN_IF_ERROR(ExpectCount(args.size(), 2, -1));
  if (!args[0].is_integer() && args[0].id() != TypeId::kNull) return WrongArgument(0, args[0], "an integer");
  for (size_t i = 1; i < args.size(); ++i) {
    if (!IsText(args[i])) return WrongArgument(i, args[i], "a string");
  }
  ASSIGN_OR_RETURN(Type common, CommonType(args.subspan(1)));
  if (common.id() == TypeId::kNull) common = Type::String();
  Signature signature{common.WithNullable(true), {args.begin(), args.end()}};
  signature.args[0] = Type(TypeId::kBigInt, args[0].nullable());
  for (Type& type : signature.args) {
    if (type.id() == TypeId::kNull) type = Type::String();
  }
  return signature;
}

ColumnPtr EltKernel(KernelCall& call) {
  StringOutput out(call.physical_rows);
  std::vector<TextView> views;
  for (const ColumnPtr& arg : call.args.subspan(1)) {
    views.emplace_back(*arg);
    out.KeepAlive(arg);
  }
  const ColumnView<int64_t> indexes(*call.args[0]);
  ForEachRow(call.rows, [&](int32_t row) {
    const int64_t index = indexes.IsNull(row) ? 0 : indexes[row];
    if (index < 1 || index > static_cast<int64_t>(views.size())) return out.SetNull(row);
    const TextView& chosen = views[static_cast<size_t>(index - 1)];
    if (chosen.IsNull(row)) return out.SetNull(row);
    out.Share(row, chosen[row]);
  });
  return out.Finish(call.expr.type);
}

constexpr std::string_view kFamilyString = "string";

const ScalarFunction kString[] = {
    {"||", kFamilyString, "Both strings, one behind the other.", "'ab' || 'cd'", "abcd", ResolveJoin,
     JoinKernel},
    {"CONCAT", kFamilyString, "All strings, one behind the other.", "CONCAT('a', 'b', 'c')", "abc",
     Pattern<"tt*>S">, JoinKernel},
    {"CONCAT_WS", kFamilyString, "The strings that are not NULL, the first argument between them.",
     "CONCAT_WS(',', 'a', NULL, 'c')", "a,c", Pattern<"tt*>S">, JoinWithKernel, false, true, false},
    {"CHAR_LENGTH", kFamilyString, "The number of characters.", "CHAR_LENGTH('año')", "3", Pattern<"t>I">,
     LengthKernel},
    {"SUBSTRING", kFamilyString,
     "The part from a position on, of a length; a negative position counts from the end.",
     "SUBSTRING('hello', 2, 3)", "ell", Pattern<"ti?i>V!">, SubstringKernel},
    {"LEFT", kFamilyString, "The first characters.", "LEFT('hello', 2)", "he", Pattern<"ti>S">,
     EndKernel<false>},
    {"RIGHT", kFamilyString, "The last characters.", "RIGHT('hello', 2)", "lo", Pattern<"ti>S">,
     EndKernel<true>},
    {"TRIM", kFamilyString, "Without a set of characters at one or both ends.", "TRIM(BOTH 'x' FROM 'xxaxx')",
     "a", ResolveTrim, TrimKernel},
    {"LTRIM", kFamilyString, "Without blanks, or a set of characters, at the start.", "LTRIM('xxa', 'x')",
     "a", Pattern<"t?t>V">, SideTrimKernel<true, false>},
    {"RTRIM", kFamilyString, "Without blanks, or a set of characters, at the end.", "RTRIM('axx', 'x')", "a",
     Pattern<"t?t>V">, SideTrimKernel<false, true>},
    {"BTRIM", kFamilyString, "Without blanks, or a set of characters, at both ends.", "BTRIM('xxaxx', 'x')",
     "a", Pattern<"t?t>S">, SideTrimKernel<true, true>},
    {"SPLIT_INDEX", kFamilyString,
     "The part of that number, from 0, between separators; NULL if there is none.",
     "SPLIT_INDEX('a,b,c', ',', 2)", "c", ResolveSplitIndex, SplitIndexKernel},
    {"POSITION", kFamilyString, "Where the first stands in the second; 0 if it does not.",
     "POSITION('lo' IN 'hello')", "4", Pattern<"tt>I">, PositionKernel<0, 1>},
    {"LOCATE", kFamilyString, "Where the first stands in the second, from a position on.",
     "LOCATE('l', 'hello', 4)", "4", Pattern<"tt?i>I">, PositionKernel<0, 1>},
    {"INSTR", kFamilyString, "Where the second stands in the first, from a position on, for the n-th time.",
     "INSTR('hello', 'l', 1, 2)", "4", Pattern<"tt?ii>I">, PositionKernel<1, 0>},
    {"STARTSWITH", kFamilyString, "Whether the first begins with the second.", "STARTSWITH('hello', 'he')",
     "TRUE", Pattern<"tt>B">, AffixKernel<true>},
    {"ENDSWITH", kFamilyString, "Whether the first ends with the second.", "ENDSWITH('hello', 'x')", "FALSE",
     Pattern<"tt>B">, AffixKernel<false>},
    {"ASCII", kFamilyString, "The first byte as a signed number; 0 of nothing.", "ASCII('abc')", "97",
     Pattern<"t>I">, AsciiKernel},
    {"ELT", kFamilyString, "The string of that number, from 1; NULL if there is none.", "ELT(2, 'a', 'b')",
     "b", ResolveElt, EltKernel, false, true, false},
};

}  // namespace

std::span<const ScalarFunction> StringFunctions() { return kString; }

}  // namespace caudal
